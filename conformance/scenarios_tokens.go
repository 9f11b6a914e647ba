package conformance

import (
	"encoding/base64"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func tokenScenarios() []Scenario {
	key := map[string]string{"delegation.token.secret.key": "a-master-key", "delegation.token.max.lifetime.ms": "7200000", "delegation.token.expiry.time.ms": "3600000"}
	of := func(name, claim string, run func(c *C), set map[string]string) Scenario {
		return Scenario{Name: "tokens-" + name, Claim: claim, Part: 4, Logins: true, Fresh: true, Run: run, Set: set}
	}
	swept := map[string]string{"delegation.token.secret.key": "a-master-key", "delegation.token.expiry.check.interval.ms": "300"}
	guarded := aclSet("super.users", "User:ANONYMOUS;User:admin", "delegation.token.secret.key", "a-master-key")
	return []Scenario{
		of("off", "Without a secret key every request about delegation tokens is refused with error 61, after who may not ask at all.", runTokensOff, nil),
		of("life", "A token is created, renewed, described and expired; times are bounded by the broker's and the token's.", runTokenLife, key),
		of("others", "Owner and renewers renew and expire a token, its requester does not; who asks for owners gets what they own, request or renew.", runTokenOthers, key),
		of("login", "A token's id and HMAC log in by SCRAM as its owner until it expires; such a login may not ask about tokens.", runTokenLogin, key),
		of("acls", "A token for somebody else takes CREATE_TOKENS on that user; tokens of others are shown with DESCRIBE on the token or DESCRIBE_TOKENS on their owner.", runTokenACLs, guarded),
		of("swept", "Expired tokens are removed after a while.", runTokensSwept, swept),
	}
}

func createToken(life int64, renewers ...string) *kmsg.CreateDelegationTokenRequest {
	r := kmsg.NewPtrCreateDelegationTokenRequest()
	r.MaxLifetimeMillis = life
	for _, name := range renewers {
		w := kmsg.NewCreateDelegationTokenRequestRenewer()
		w.PrincipalType, w.PrincipalName = "User", name
		r.Renewers = append(r.Renewers, w)
	}
	return r
}

func createTokenFor(owner string, life int64) *kmsg.CreateDelegationTokenRequest {
	r := createToken(life)
	r.OwnerPrincipalType, r.OwnerPrincipalName = kmsg.StringPtr("User"), kmsg.StringPtr(owner)
	return r
}

func renewToken(hmac []byte, period int64) *kmsg.RenewDelegationTokenRequest {
	r := kmsg.NewPtrRenewDelegationTokenRequest()
	r.HMAC, r.RenewTimeMillis = hmac, period
	return r
}

func expireToken(hmac []byte, period int64) *kmsg.ExpireDelegationTokenRequest {
	r := kmsg.NewPtrExpireDelegationTokenRequest()
	r.HMAC, r.ExpiryPeriodMillis = hmac, period
	return r
}

// describeTokens asks for tokens of owners; of none at all when there are none, of everybody when owners are nil.
func describeTokens(owners []string) *kmsg.DescribeDelegationTokenRequest {
	r := kmsg.NewPtrDescribeDelegationTokenRequest()
	if owners != nil {
		r.Owners = []kmsg.DescribeDelegationTokenRequestOwner{}
	}
	for _, name := range owners {
		o := kmsg.NewDescribeDelegationTokenRequestOwner()
		o.PrincipalType, o.PrincipalName = "User", name
		r.Owners = append(r.Owners, o)
	}
	return r
}

// heard waits until every part of the broker has heard of what was answered about a token: ok is asked about the
// token as it is described, nil when it is not. What is asked meanwhile is no step of the recording.
func heard(c *C, id string, ok func(*kmsg.DescribeDelegationTokenResponseTokenDetail) bool) {
	conn, before, mark := c.As("admin"), len(c.steps), c.scrub.mark()
	AskUntil(conn, "describe "+id, 3, describeTokens(nil), func(r *kmsg.DescribeDelegationTokenResponse) bool {
		for i := range r.TokenDetails {
			if r.TokenDetails[i].TokenID == id {
				return ok(&r.TokenDetails[i])
			}
		}
		return ok(nil)
	})
	c.steps = c.steps[:before]
	c.scrub.reset(mark)
}

// made creates a token.
func made(c *C, conn *Conn, step string, req *kmsg.CreateDelegationTokenRequest) *kmsg.CreateDelegationTokenResponse {
	resp, _ := conn.Do(step, 3, req).(*kmsg.CreateDelegationTokenResponse)
	if resp == nil || resp.ErrorCode != 0 {
		c.Fatalf("%s: %v", step, resp)
	}
	heard(c, resp.TokenID, func(d *kmsg.DescribeDelegationTokenResponseTokenDetail) bool { return d != nil })
	return resp
}

// renew and expire ask for it about a token.
func renew(c *C, conn *Conn, step string, t *kmsg.CreateDelegationTokenResponse, period int64) {
	if resp, _ := conn.Do(step, 2, renewToken(t.HMAC, period)).(*kmsg.RenewDelegationTokenResponse); resp != nil && resp.ErrorCode == 0 {
		heard(c, t.TokenID, func(d *kmsg.DescribeDelegationTokenResponseTokenDetail) bool {
			return d != nil && d.ExpiryTimestamp == resp.ExpiryTimestamp
		})
	}
}

func expire(c *C, conn *Conn, step string, t *kmsg.CreateDelegationTokenResponse, period int64) {
	if resp, _ := conn.Do(step, 2, expireToken(t.HMAC, period)).(*kmsg.ExpireDelegationTokenResponse); resp != nil && resp.ErrorCode == 0 {
		heard(c, t.TokenID, func(d *kmsg.DescribeDelegationTokenResponseTokenDetail) bool {
			return d == nil && period < 0 || d != nil && d.ExpiryTimestamp == resp.ExpiryTimestamp
		})
	}
}

func everyTokenRequest(conn *Conn) {
	hmac := []byte("no token has this")
	for _, v := range []int16{1, 2, 3} {
		conn.Do("create", v, createToken(-1))
		conn.Do("describe", v, describeTokens(nil))
	}
	for _, v := range []int16{1, 2} {
		conn.Do("renew", v, renewToken(hmac, -1))
		conn.Do("expire", v, expireToken(hmac, -1))
	}
	bad := createToken(-1, "x")
	bad.Renewers[0].PrincipalType = "Group"
	conn.Do("create with a renewer that is no user", 3, bad)
	conn.Do("create for another", 3, createTokenFor("carol", -1))
	conn.Do("describe nobody's", 3, describeTokens([]string{}))
}

func runTokensOff(c *C) {
	everyTokenRequest(c.Conn("plain listener"))
	everyTokenRequest(c.As("alice"))
	untyped, unnamed := createTokenFor("carol", -1), createTokenFor("", -1)
	untyped.OwnerPrincipalType, unnamed.OwnerPrincipalType = nil, nil
	for _, conn := range []*Conn{c.Conn("plain listener"), c.As("alice")} {
		conn.Do("create for a name without a type", 3, untyped)
		conn.Do("create for neither", 3, unnamed)
	}
}

func runTokenLife(c *C) {
	everyTokenRequest(c.Conn("plain listener"))
	a := c.As("alice")
	bad := createToken(-1, "x")
	bad.Renewers[0].PrincipalType = "Group"
	a.Do("create with a renewer that is no user", 3, bad)
	a.Do("renew what is not there", 2, renewToken([]byte("no token has this"), -1))
	a.Do("renew nothing", 2, renewToken([]byte{}, -1))
	a.Do("expire what is not there", 2, expireToken([]byte("no token has this"), -1))
	a.Do("describe before", 3, describeTokens(nil))
	t := made(c, a, "create", createToken(-1))
	a.Do("describe", 3, describeTokens(nil))
	a.Do("describe v1", 1, describeTokens(nil))
	a.Do("describe nobody's", 3, describeTokens([]string{}))
	for _, period := range []int64{-1, 0, 1_200_000, 3_600_000, 999_999_999_999} {
		renew(c, a, "renew", t, period)
	}
	for _, period := range []int64{1_200_000, 999_999_999_999, 1<<63 - 1} {
		expire(c, a, "expire", t, period)
	}
	a.Do("describe after", 3, describeTokens(nil))
	expire(c, a, "expire at once", t, -1)
	expire(c, a, "expire again", t, -1)
	renew(c, a, "renew what is gone", t, -1)
	a.Do("describe what is gone", 3, describeTokens(nil))
	for _, life := range []int64{0, 1_200_000, 999_999_999_999, 1<<63 - 1, -5} {
		u := made(c, a, "create of a lifetime", createToken(life, "bob", "bob"))
		renew(c, a, "renew it", u, -1)
		expire(c, a, "remove it", u, -1)
	}
	u := made(c, a, "create of a moment", createToken(200))
	time.Sleep(300 * time.Millisecond)
	renew(c, a, "renew the expired", u, -1)
	expire(c, a, "expire the expired", u, 1000)
	a.Do("describe the expired", 3, describeTokens(nil))
	expire(c, a, "remove the expired", u, -1)
	z := made(c, a, "create again", createToken(-1))
	expire(c, a, "expire in no time", z, 0)
	time.Sleep(50 * time.Millisecond)
	renew(c, a, "renew what expired in no time", z, -1)
	expire(c, a, "remove it at last", z, -1)
}

func runTokenOthers(c *C) {
	alice, bob, admin := c.As("alice"), c.As("bob"), c.As("admin")
	t := made(c, alice, "create with a renewer", createToken(-1, "bob"))
	o := made(c, alice, "create for carol", createTokenFor("carol", -1))
	made(c, alice, "create for an empty name", createTokenFor("", -1))
	other := createTokenFor("carol", -1)
	other.OwnerPrincipalType = kmsg.StringPtr("Group")
	g := made(c, alice, "create for a group", other)
	for _, conn := range []*Conn{bob, admin, alice} {
		renew(c, conn, "renew alice's", t, -1)
		renew(c, conn, "renew carol's", o, -1)
		expire(c, conn, "expire alice's", t, 1_800_000)
		expire(c, conn, "expire carol's", o, -1)
		expire(c, conn, "expire the group's", g, -1)
		for _, owners := range [][]string{{"alice"}, {"bob"}, {"carol"}, {"dave"}, {"dave", "bob"}} {
			conn.Do("describe of "+owners[0], 3, describeTokens(owners))
		}
	}
	expire(c, bob, "remove alice's", t, -1)
	alice.Do("describe", 3, describeTokens([]string{"alice", "bob"}))
}

// tokenLogin logs a connection in with a token.
func tokenLogin(conn *Conn, h scramHash, t *kmsg.CreateDelegationTokenResponse, password string) {
	bare := "n=" + t.TokenID + ",r=once-,tokenauth=true"
	first := h.start(conn, bare)
	conn.Send("final message", 2, token(h.final(password, bare, first))).Await()
}

func runTokenLogin(c *C) {
	alice := c.As("alice")
	t := made(c, alice, "create", createToken(-1, "bob"))
	password := base64.StdEncoding.EncodeToString(t.HMAC)
	for _, h := range []scramHash{scram256, scram512} {
		conn := c.LoginConn("by token " + h.name)
		tokenLogin(conn, h, t, password)
		everyTokenRequest(conn)
		wrong := c.LoginConn("wrong " + h.name)
		tokenLogin(wrong, h, t, "x")
		noToken := c.LoginConn("not said to be one " + h.name)
		noToken.Do("handshake", 1, handshake(h.name))
		noToken.Do("first message without tokenauth", 2, token("n,,n="+t.TokenID+",r=once-"))
	}
	o := made(c, alice, "create for carol", createTokenFor("carol", -1))
	carol := c.LoginConn("carol")
	tokenLogin(carol, scram256, o, base64.StdEncoding.EncodeToString(o.HMAC))
	carol.Do("metadata", 12, metadataFor("tokens-none"))
	expire(c, alice, "remove it", t, -1)
	gone := c.LoginConn("gone")
	gone.Do("handshake", 1, handshake(scram256.name))
	gone.Do("first message of what is gone", 2, token("n,,n="+t.TokenID+",r=once-,tokenauth=true"))
	short := made(c, alice, "create of a moment", createToken(200))
	time.Sleep(300 * time.Millisecond)
	late := c.LoginConn("expired")
	tokenLogin(late, scram256, short, base64.StdEncoding.EncodeToString(short.HMAC))
	late.Do("metadata with what has expired", 12, metadataFor("tokens-none"))
	c.Restart()
	again := c.LoginConn("after a restart")
	tokenLogin(again, scram256, o, base64.StdEncoding.EncodeToString(o.HMAC))
	again.Do("metadata", 12, metadataFor("tokens-none"))
}

func runTokensSwept(c *C) {
	a := c.As("alice")
	a.Do("create of a moment", 3, createToken(600))
	kept := made(c, a, "create", createToken(-1))
	AskUntil(a, "describe", 3, describeTokens(nil), func(r *kmsg.DescribeDelegationTokenResponse) bool { return len(r.TokenDetails) == 1 })
	expire(c, a, "remove it", kept, -1)
}

func runTokenACLs(c *C) {
	const tokenResource, userResource = 6, 7
	alice, bob := c.As("alice"), c.As("bob")
	ask := func(step string) {
		bad := createTokenFor("carol", -1)
		bad.Renewers = []kmsg.CreateDelegationTokenRequestRenewer{{PrincipalType: "Group", PrincipalName: "x"}}
		c.Conn("plain listener").Do("not logged in, "+step, 3, createTokenFor("carol", -1))
		bob.Do("create for carol, "+step, 3, createTokenFor("carol", -1))
		bob.Do("create for carol with a renewer that is no user, "+step, 3, bad)
		bob.Do("create for bob, "+step, 3, createTokenFor("bob", -1))
	}
	see := func(step string) {
		bob.Do("describe all, "+step, 3, describeTokens(nil))
		bob.Do("describe alice's, "+step, 3, describeTokens([]string{"alice"}))
	}
	c.SetACLs()
	t := made(c, alice, "create", createToken(-1))
	o := made(c, alice, "create another", createToken(-1, "bob"))
	see("nothing allowed")
	bob.Do("renew as who may renew", 2, renewToken(o.HMAC, -1))
	bob.Do("renew as who may not", 2, renewToken(t.HMAC, -1))
	c.SetACLs(allow(tokenResource, t.TokenID, "describe"))
	see("DESCRIBE on a token")
	c.SetACLs(allow(userResource, "User:alice", "describe-tokens"))
	see("DESCRIBE_TOKENS on alice")
	c.SetACLs(allow(userResource, "alice", "describe-tokens"), allow(userResource, "User:alice", "create-tokens"))
	see("DESCRIBE_TOKENS on a name without a type")
	c.SetACLs(allow(userResource, "*", "describe-tokens"), deny(tokenResource, "*", "describe"))
	see("DESCRIBE_TOKENS on all, DESCRIBE on tokens denied")
	c.SetACLs()
	ask("nothing allowed")
	c.SetACLs(allow(userResource, "carol", "create-tokens"), allow(userResource, "User:carol", "describe-tokens"))
	ask("other names and operations")
	c.SetACLs(elsewhereOnly(allow(userResource, "User:carol", "create-tokens")))
	ask("another host")
	c.SetACLs(allow(userResource, "User:carol", "create-tokens"))
	ask("CREATE_TOKENS on carol")
	c.SetACLs(allow(userResource, "User:carol", "all"), deny(userResource, "User:carol", "create-tokens"))
	ask("denied")
	c.SetACLs(prefixed(allow(userResource, "User:ca", "create-tokens")))
	ask("CREATE_TOKENS on a prefix")
}
