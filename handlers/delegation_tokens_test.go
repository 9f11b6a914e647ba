package handlers

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/disk"
	"doze/journal"
	"doze/projections"
	"doze/sasl"
	"doze/wire"
)

var tokenProps = map[string]string{
	"delegation.token.secret.key": "master-key", "delegation.token.max.lifetime.ms": "7200000", "delegation.token.expiry.time.ms": "3600000",
	"delegation.token.expiry.check.interval.ms": "3600000",
}

// connectByLogin connects to a listener that takes PLAIN logins of anybody whose password is his name, and tokens.
func (b *testBroker) connectByLogin() *testConn {
	b.t.Helper()
	users := map[string]string{"alice": "alice", "bob": "bob", "carol": "carol"}
	tokens := func(id string) (sasl.Credential, bool) { return b.broker.TokenUser(sasl.SHA256, id) }
	gate := NewGate(Logins{
		Mechanisms: []sasl.Mechanism{sasl.NewPlain(users), &sasl.SCRAM{Hash: sasl.SHA256, Tokens: tokens}},
		MaxReauth:  func(string) time.Duration { return b.reauth },
	})
	l, err := b.server.ListenOn(&deafListener{closed: make(chan struct{})}, wire.ListenOptions{Name: "SASL", Advertise: "broker:9093", Gate: gate})
	if err != nil {
		b.t.Fatal(err)
	}
	plain := b.at
	b.at = l
	defer func() { b.at = plain }()
	return b.connect()
}

func (c *testConn) saslStep(message string) *kmsg.SASLAuthenticateResponse {
	req := kmsg.NewPtrSASLAuthenticateRequest()
	req.SASLAuthBytes = []byte(message)
	return request[*kmsg.SASLAuthenticateResponse](c, req, 2)
}

func (c *testConn) saslHandshake(mechanism string) {
	req := kmsg.NewPtrSASLHandshakeRequest()
	req.Mechanism = mechanism
	if resp := request[*kmsg.SASLHandshakeResponse](c, req, 1); resp.ErrorCode != none {
		c.t.Fatalf("mechanism %s: code %d", mechanism, resp.ErrorCode)
	}
}

func (b *testBroker) connectAs(user string) *testConn {
	b.t.Helper()
	c := b.connectByLogin()
	c.saslHandshake("PLAIN")
	if resp := c.saslStep("\x00" + user + "\x00" + user); resp.ErrorCode != none {
		b.t.Fatalf("log in as %s: code %d", user, resp.ErrorCode)
	}
	return c
}

// connectByToken gives the code of the login and the connection.
func (b *testBroker) connectByToken(id string, hmac []byte) (*testConn, *kmsg.SASLAuthenticateResponse) {
	b.t.Helper()
	c := b.connectByLogin()
	c.saslHandshake("SCRAM-SHA-256")
	bare := "n=" + id + ",r=once,tokenauth=true"
	first := c.saslStep("n,," + bare)
	final, err := sasl.SHA256.ClientProof(base64.StdEncoding.EncodeToString(hmac), bare, string(first.SASLAuthBytes))
	if err != nil {
		b.t.Fatal(err)
	}
	return c, c.saslStep(final)
}

func (c *testConn) createToken(life int64, renewers ...string) *kmsg.CreateDelegationTokenResponse {
	req := kmsg.NewPtrCreateDelegationTokenRequest()
	req.MaxLifetimeMillis = life
	for _, name := range renewers {
		req.Renewers = append(req.Renewers, kmsg.CreateDelegationTokenRequestRenewer{PrincipalType: "User", PrincipalName: name})
	}
	return request[*kmsg.CreateDelegationTokenResponse](c, req, 3)
}

func (c *testConn) renewToken(hmac []byte, period int64) *kmsg.RenewDelegationTokenResponse {
	req := kmsg.NewPtrRenewDelegationTokenRequest()
	req.HMAC, req.RenewTimeMillis = hmac, period
	return request[*kmsg.RenewDelegationTokenResponse](c, req, 2)
}

func (c *testConn) expireToken(hmac []byte, period int64) *kmsg.ExpireDelegationTokenResponse {
	req := kmsg.NewPtrExpireDelegationTokenRequest()
	req.HMAC, req.ExpiryPeriodMillis = hmac, period
	return request[*kmsg.ExpireDelegationTokenResponse](c, req, 2)
}

func (c *testConn) describeTokens(owners ...string) []kmsg.DescribeDelegationTokenResponseTokenDetail {
	req := kmsg.NewPtrDescribeDelegationTokenRequest()
	for _, name := range owners {
		req.Owners = append(req.Owners, kmsg.DescribeDelegationTokenRequestOwner{PrincipalType: "User", PrincipalName: name})
	}
	resp := request[*kmsg.DescribeDelegationTokenResponse](c, req, 3)
	if resp.ErrorCode != none {
		c.t.Fatalf("describe tokens: code %d", resp.ErrorCode)
	}
	return resp.TokenDetails
}

// A token logs in as its owner, before and after a restart, and such a login makes no other token.
func TestATokenLogsInAsItsOwner(t *testing.T) {
	b := startTestBroker(t, tokenProps)
	b.clock.now.Store(time.Now().UnixMilli())
	made := b.connectAs("alice").createToken(-1)
	for range 2 {
		c, resp := b.connectByToken(made.TokenID, made.HMAC)
		if left := resp.SessionLifetimeMillis; resp.ErrorCode != none || left <= 0 || left > 3_600_000 {
			t.Fatalf("login by token: code %d, %d ms", resp.ErrorCode, left)
		}
		if again := c.createToken(-1); again.ErrorCode != delegationTokenRequestNotAllowed || again.PrincipalName != "alice" {
			t.Errorf("a token makes another: %+v", again)
		}
		if _, resp := b.connectByToken(made.TokenID, []byte("another")); resp.ErrorCode != saslAuthenticationFailed {
			t.Errorf("a wrong secret: code %d", resp.ErrorCode)
		}
		b.restart()
	}
}

// With another key, or without one, the old token is worth nothing.
func TestTokensGoWithTheirKey(t *testing.T) {
	b := startTestBroker(t, tokenProps)
	made := b.connectAs("alice").createToken(-1)
	b.stop()
	b.props = map[string]string{"delegation.token.secret.key": "another key"}
	b.start()
	if _, resp := b.connectByToken(made.TokenID, made.HMAC); resp.ErrorCode != saslAuthenticationFailed {
		t.Errorf("with another key: code %d", resp.ErrorCode)
	}
	if resp := b.connectAs("alice").renewToken(made.HMAC, -1); resp.ErrorCode != delegationTokenNotFound {
		t.Errorf("renewed with another key: code %d", resp.ErrorCode)
	}
	b.stop()
	b.props = nil
	b.start()
	if _, known := b.broker.TokenUser(sasl.SHA256, made.TokenID); known {
		t.Error("a token logs in without a key")
	}
	if resp := b.connectAs("alice").createToken(-1); resp.ErrorCode != delegationTokenAuthDisabled {
		t.Errorf("created without a key: code %d", resp.ErrorCode)
	}
}

// An expired token lets nobody in to anything, is seen until it is swept, and is gone then.
func TestExpiredTokensAreSwept(t *testing.T) {
	b := startTestBroker(t, tokenProps)
	c := b.connectAs("alice")
	short, long := c.createToken(1000), c.createToken(-1)
	b.clock.now.Add(2000)
	late, resp := b.connectByToken(short.TokenID, short.HMAC) // as in Kafka it logs in, into a session that is over
	if resp.ErrorCode != none || resp.SessionLifetimeMillis != 0 {
		t.Errorf("the expired token: code %d, %d ms", resp.ErrorCode, resp.SessionLifetimeMillis)
	}
	late.send(kmsg.NewPtrMetadataRequest())
	if _, err := late.frame(); err == nil {
		t.Error("the expired token lets in")
	}
	if n := len(c.describeTokens("alice")); n != 2 {
		t.Errorf("%d tokens are seen before the sweep", n)
	}
	if err := b.broker.removeExpiredTokens(); err != nil {
		t.Fatal(err)
	}
	if left := c.describeTokens("alice"); len(left) != 1 || left[0].TokenID != long.TokenID {
		t.Errorf("after the sweep: %+v", left)
	}
}

// One sweep removes all that have expired, and lets go of what it remembered of them.
func TestASweepRemovesAllThatExpired(t *testing.T) {
	b := startTestBroker(t, tokenProps)
	err := b.store.Update(t.Context(), journal.Timed("test"), func(tx *tx) {
		for i := range 2*maxTokensSwept + 10 {
			tx.Emit(&journal.DelegationTokenCreated{ID: fmt.Sprint(i), Owner: "User:a", Requester: "User:a", Issued: 1, Max: 2, Expiry: 2})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.broker.tokenOf([]byte("nothing"))
	if err := b.broker.removeExpiredTokens(); err != nil {
		t.Fatal(err)
	}
	state, _ := b.store.View()
	if n := state.DelegationTokens.Len(); n != 0 || state.DelegationTokens.Bytes() != 0 {
		t.Errorf("%d tokens are left, of %d bytes", n, state.DelegationTokens.Bytes())
	}
	if n := len(b.broker.tokens.known); n != 0 {
		t.Errorf("%d secrets are remembered", n)
	}
}

func TestTokensAreBounded(t *testing.T) {
	b := startTestBroker(t, tokenProps)
	c := b.connectAs("alice")
	if resp := c.createToken(-1, strings.Repeat("x", maxName+1)); resp.ErrorCode != policyViolation {
		t.Errorf("a long name: code %d", resp.ErrorCode)
	}
	if resp := c.createToken(-1, slices.Repeat([]string{strings.Repeat("x", maxName)}, maxOneTokenBytes/maxName)...); resp.ErrorCode != policyViolation {
		t.Errorf("many renewers: code %d", resp.ErrorCode)
	}
	err := b.store.Update(t.Context(), journal.Timed("test"), func(tx *tx) {
		for i := range maxDelegationTokens {
			tx.Emit(&journal.DelegationTokenCreated{ID: fmt.Sprint(i), Owner: "User:a", Requester: "User:a", Issued: 1, Max: 2, Expiry: 2})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if resp := c.createToken(-1); resp.ErrorCode != policyViolation {
		t.Errorf("one more than %d: code %d", maxDelegationTokens, resp.ErrorCode)
	}
}

// TestTokensSurviveACrashAnywhere stops the disk at every operation of creating a token, renewing it and removing it, crashes,
// and starts again. What was acknowledged holds; what was not holds as a whole or not at all; and a token that is there logs in.
func TestTokensSurviveACrashAnywhere(t *testing.T) {
	crashAnywhere(t, 5, crashTokensAt)
}

func crashTokensAt(t *testing.T, n int, where string, how disk.Loss) (fired bool) {
	b := &testBroker{t: t, fs: disk.NewMem(), clock: &manualClock{}, boot: "boot", props: tokenProps}
	b.clock.now.Store(day)
	b.start()
	c := b.connectAs("alice")
	stop := &disk.Fault{After: n, Err: disk.EIO, Persistent: true}
	b.fs.Inject(stop)
	made := c.createToken(-1)
	renewed := c.renewToken(made.HMAC, 1_800_000)
	removed := c.expireToken(made.HMAC, -1)
	fired = b.fs.Fired(stop) > 0
	again := b.crashed(how)
	again.start()
	defer again.abandon()
	state, _ := again.store.View()
	var left []*projections.DelegationToken
	state.DelegationTokens.Each(func(t *projections.DelegationToken) bool { left = append(left, t); return true })
	switch {
	case removed.ErrorCode == none && len(left) > 0:
		t.Errorf("%s: removed, and there", where)
	case len(left) > 1:
		t.Errorf("%s: %d tokens", where, len(left))
	case len(left) == 0:
		if made.ErrorCode == none && !fired {
			t.Logf("%s: made and removed", where)
		}
		if made.ErrorCode == none && removed.ErrorCode != none && how == disk.PowerLoss() {
			t.Errorf("%s: acknowledged, and gone", where)
		}
	case made.ErrorCode == none && left[0].ID != made.TokenID:
		t.Errorf("%s: the token is %s, told was %s", where, left[0].ID, made.TokenID)
	case renewed.ErrorCode == none && left[0].Expiry != renewed.ExpiryTimestamp:
		t.Errorf("%s: expires at %d, told was %d", where, left[0].Expiry, renewed.ExpiryTimestamp)
	default:
		if _, known := again.broker.TokenUser(sasl.SHA256, left[0].ID); !known {
			t.Errorf("%s: the token does not let in", where)
		}
	}
	return fired
}

// TestNobodyIsSomebodyElseByDefault: where everybody may do what no ACL is about, nobody gets a token of another, or sees one.
func TestNobodyIsSomebodyElseByDefault(t *testing.T) {
	props := guardedProps("super.users", "User:ANONYMOUS;User:alice", "allow.everyone.if.no.acl.found", "true")
	for name, value := range tokenProps {
		props[name] = value
	}
	b := startTestBroker(t, props)
	admin, alice, bob := b.connect(), b.connectAs("alice"), b.connectAs("bob")
	if token := alice.createToken(-1); token.ErrorCode != none {
		t.Fatal(token.ErrorCode)
	}
	forAlice := kmsg.NewPtrCreateDelegationTokenRequest()
	forAlice.OwnerPrincipalType, forAlice.OwnerPrincipalName, forAlice.MaxLifetimeMillis = kmsg.StringPtr("User"), kmsg.StringPtr("alice"), -1
	ask := func() int16 { return request[*kmsg.CreateDelegationTokenResponse](bob, forAlice, 3).ErrorCode }
	if code := ask(); code != none {
		t.Errorf("without any ACL: code %d", code)
	}
	shut := aclFor("User:alice")
	shut.ResourceType, shut.ResourceName, shut.Operation = 4, "kafka-cluster", 2
	admin.createACLs(shut)
	if code := ask(); code != delegationTokenAuthorizationFailed {
		t.Errorf("bob makes a token of alice's: code %d", code)
	}
	*forAlice.OwnerPrincipalType = "Other"
	all := aclFor("User:bob")
	all.ResourceType, all.ResourceName, all.Operation = 7, "Other:alice", 13
	admin.createACLs(all)
	if code := ask(); code != delegationTokenAuthorizationFailed {
		t.Errorf("bob makes a token that lets in alice, by a permission for another type: code %d", code)
	}
	*forAlice.OwnerPrincipalType = "User"
	if seen := bob.describeTokens("alice"); len(seen) != 1 || seen[0].TokenRequesterPrincipalName != "bob" {
		t.Errorf("bob sees alice's token: %v", seen)
	}
	create, see := aclFor("User:bob"), aclFor("User:bob")
	create.ResourceType, create.ResourceName, create.Operation = 7, "User:alice", 13
	see.ResourceType, see.ResourceName, see.Operation = 7, "User:alice", 14
	admin.createACLs(create, see)
	if code, seen := ask(), bob.describeTokens("alice"); code != none || len(seen) != 3 {
		t.Errorf("by an ACL: code %d, %d tokens", code, len(seen))
	}
}

// TestTokensUnderAttack: many at a time make, renew, end, see and use tokens, each other's too. Whose token was removed is let in by it no
// more from the answer on; nobody but owner and renewer changes one; near misses of a secret find nothing.
func TestTokensUnderAttack(t *testing.T) {
	b := startTestBroker(t, tokenProps)
	shared := b.connectAs("alice").createToken(-1, "bob")
	var one sync.Mutex // the listener is made for each connection
	logIn := func(token *kmsg.CreateDelegationTokenResponse) (*testConn, *kmsg.SASLAuthenticateResponse) {
		one.Lock()
		defer one.Unlock()
		return b.connectByToken(token.TokenID, token.HMAC)
	}
	var all sync.WaitGroup
	for _, user := range []string{"alice", "bob", "carol"} {
		c, noise := b.connectAs(user), b.connectAs(user)
		all.Go(func() {
			for range 30 {
				code := noise.renewToken(shared.HMAC, 1000).ErrorCode
				if want := map[string]int16{"carol": delegationTokenOwnerMismatch}[user]; code != want {
					t.Errorf("%s renews: code %d, not %d", user, code, want)
				}
				noise.describeTokens()
			}
		})
		all.Go(func() {
			for range 20 {
				mine := c.createToken(-1)
				for _, near := range [][]byte{nil, mine.HMAC[:63], append(slices.Clone(mine.HMAC), 0), flipped(mine.HMAC), []byte(base64.StdEncoding.EncodeToString(mine.HMAC))} {
					if code := c.expireToken(near, -1).ErrorCode; code != delegationTokenNotFound {
						t.Errorf("a secret that is not quite the token's: code %d", code)
					}
				}
				if _, in := logIn(mine); in.ErrorCode != none {
					t.Errorf("%s by the token: code %d", user, in.ErrorCode)
				}
				if code := c.expireToken(mine.HMAC, -1).ErrorCode; code != none {
					t.Errorf("%s ends its own: code %d", user, code)
				}
				if code := c.renewToken(mine.HMAC, 1).ErrorCode; code != delegationTokenNotFound {
					t.Errorf("a token that is gone is renewed: code %d", code)
				}
				if _, known := b.broker.TokenUser(sasl.SHA256, mine.TokenID); known {
					t.Error("a token that is gone lets in")
				}
			}
		})
	}
	all.Wait()
	if _, known := b.broker.TokenUser(sasl.SHA256, shared.TokenID); !known {
		t.Error("the token that nobody ended is gone")
	}
	b.connectAs("bob").expireToken(shared.HMAC, -1)
	if _, known := b.broker.TokenUser(sasl.SHA256, shared.TokenID); known || len(b.connectAs("alice").describeTokens()) != 0 {
		t.Error("a token that was ended lets in")
	}
}

func flipped(b []byte) []byte {
	b = slices.Clone(b)
	b[len(b)-1] ^= 1
	return b
}
