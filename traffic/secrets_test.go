package traffic

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/console/inside"
	"doze/wire"
)

// planted is put wherever a secret may be.
const planted = "hunter2-planted-secret"

func plantedBytes() []byte { return []byte(planted) }

// secretMessages are a request of each API that carries what lets people in, with secrets in it.
func secretMessages() []kmsg.Request {
	handshake := kmsg.NewPtrSASLHandshakeRequest()
	handshake.Mechanism = "PLAIN"
	login := kmsg.NewPtrSASLAuthenticateRequest()
	login.SASLAuthBytes = []byte("\x00alice\x00" + planted)
	alter := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	alter.Upsertions = []kmsg.AlterUserSCRAMCredentialsRequestUpsertion{{Name: "alice", Mechanism: 1, Iterations: 8192, Salt: plantedBytes(), SaltedPassword: plantedBytes()}}
	describe := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
	describe.Users = []kmsg.DescribeUserSCRAMCredentialsRequestUser{{Name: "alice"}}
	create := kmsg.NewPtrCreateDelegationTokenRequest()
	owner := "bob"
	create.OwnerPrincipalName, create.MaxLifetimeMillis = &owner, 86_400_000
	renew := kmsg.NewPtrRenewDelegationTokenRequest()
	renew.HMAC, renew.RenewTimeMillis = plantedBytes(), 3_600_000
	expire := kmsg.NewPtrExpireDelegationTokenRequest()
	expire.HMAC, expire.ExpiryPeriodMillis = plantedBytes(), -1
	tokens := kmsg.NewPtrDescribeDelegationTokenRequest()
	tokens.Owners = []kmsg.DescribeDelegationTokenRequestOwner{{PrincipalType: "User", PrincipalName: "bob"}}
	return []kmsg.Request{handshake, login, alter, describe, create, renew, expire, tokens}
}

// secretAnswer answers with a secret in every field of text or bytes that is not on the list.
func secretAnswer(req kmsg.Request) kmsg.Response {
	text := planted
	switch resp := req.ResponseKind().(type) {
	case *kmsg.SASLAuthenticateResponse:
		resp.SASLAuthBytes, resp.ErrorMessage, resp.SessionLifetimeMillis = plantedBytes(), &text, 5000
		return resp
	case *kmsg.CreateDelegationTokenResponse:
		resp.TokenID, resp.HMAC, resp.PrincipalType, resp.PrincipalName = planted, plantedBytes(), "User", "bob"
		return resp
	case *kmsg.DescribeDelegationTokenResponse:
		resp.TokenDetails = []kmsg.DescribeDelegationTokenResponseTokenDetail{{PrincipalType: "User", PrincipalName: "bob", TokenID: planted, HMAC: plantedBytes(), MaxTimestamp: 12345}}
		return resp
	case *kmsg.AlterUserSCRAMCredentialsResponse:
		resp.Results = []kmsg.AlterUserSCRAMCredentialsResponseResult{{User: "alice", ErrorCode: 91, ErrorMessage: &text}}
		return resp
	default:
		return resp
	}
}

// serveSecrets is a table that answers those APIs.
type serveSecrets struct{}

func (serveSecrets) Versions(key int16) (int16, int16, bool) {
	return 0, kmsg.RequestForKey(key).MaxVersion(), true
}

func (serveSecrets) Lookup(key, _ int16) (wire.Handle, bool) {
	return func(_ context.Context, r *wire.Request) (wire.Reply, error) {
		if r.Correlation == failsAt {
			return nil, errors.New("refused: " + planted)
		}
		return secretAnswer(r.Body), nil
	}, true
}

const failsAt = 666

func TestNothingThatLetsPeopleInIsKept(t *testing.T) {
	ring := New(nil, nil)
	c := serveRing(t, ring, serveSecrets{})
	for i, m := range secretMessages() {
		for version := int16(0); version <= m.MaxVersion(); version++ {
			m.SetVersion(version)
			c.ask(int32(100*i)+int32(version), m)
		}
	}
	c.send(failsAt, secretMessages()[1])
	c.waitClosed()
	waitFor(t, func() bool { return ring.Find(1, failsAt, keySASLAuthenticate, time.Now().UnixMilli()) > 0 })
	page := ring.Requests(inside.RequestFilter{Limit: maxPage})
	seen := map[string]bool{}
	for _, row := range page.Requests {
		opened, ok := ring.Open(row.ID)
		if !ok {
			t.Fatalf("request %d is gone", row.ID)
		}
		refuseSecrets(t, fmt.Sprintf("%+v %+v", row, opened))
		seen[row.API] = true
		if row.Key == keySASLAuthenticate && row.In != 0 {
			t.Errorf("a SaslAuthenticate reads %d B in", row.In)
		}
		for _, l := range append(opened.AskedFields, opened.GotFields...) {
			if strings.Contains(l.Value, " B") {
				t.Errorf("%s of %s tells a length: %s", l.Name, row.API, l.Value)
			}
		}
	}
	if len(seen) != len(secretMessages()) {
		t.Errorf("only %v were kept", seen)
	}
	for _, x := range ring.kept {
		if x != nil && (x.ask != nil || x.got != nil) {
			t.Errorf("a message of %s is kept as it came", kmsg.NameForKey(x.key))
		}
	}
}

// refuseSecrets fails when a text holds the secret, in any of the forms that a console would show bytes in.
func refuseSecrets(t *testing.T, text string) {
	t.Helper()
	for _, form := range []string{planted, hex.EncodeToString(plantedBytes()), base64.StdEncoding.EncodeToString(plantedBytes())[:12], fmt.Sprint(plantedBytes())} {
		if strings.Contains(text, form) {
			t.Errorf("the secret is in %s", text)
		}
	}
}

func TestHiddenFieldsReadTheSameSetOrNot(t *testing.T) {
	for _, m := range secretMessages() {
		m.SetVersion(m.MaxVersion())
		empty := kmsg.RequestForKey(m.Key())
		empty.SetVersion(m.MaxVersion())
		for _, message := range []any{m, empty, secretAnswer(m), m.ResponseKind()} {
			lines, _ := openFields(m.Key(), message, nil, nil)
			for _, l := range lines {
				switch l.Name {
				case "saslAuthBytes", "salt", "saltedPassword", "hmac", "tokenID", "tokenId", "errorMessage":
					if l.Value != inside.Hidden {
						t.Errorf("%s of %T reads %q", l.Name, message, l.Value)
					}
				}
			}
		}
	}
}

func TestWhatMayBeShownIsShown(t *testing.T) {
	want := map[int16]string{
		keySASLHandshake: "mechanism=PLAIN", keyAlterSCRAM: "set user=alice mechanism=SCRAM-SHA-256 iterations=8192",
		keyRenewToken: "for 3600000ms", keyDescribeToken: "owner=User:bob", keySASLAuthenticate: "",
	}
	for _, m := range secretMessages() {
		if line, listed := want[m.Key()]; listed && Asked(m, nil) != line {
			t.Errorf("%T asks %q, want %q", m, Asked(m, nil), line)
		}
	}
	lines, _ := openFields(keyAlterSCRAM, secretMessages()[2], nil, nil)
	if text := fmt.Sprint(lines); !strings.Contains(text, "alice") || !strings.Contains(text, "8192") {
		t.Errorf("user and iterations are not shown: %s", text)
	}
}

func TestConfigsThatLetPeopleInAreHidden(t *testing.T) {
	text := planted
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: 4, ResourceName: "1", Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{
		{Name: "ssl.keystore.password", Value: &text}, {Name: "listener.name.x.plain.sasl.jaas.config", Value: &text}, {Name: "ssl.keystore.key", Value: &text},
		{Name: "log.retention.ms", Value: &[]string{"777"}[0]},
	}}}
	lines, _ := openFields(44, req, nil, nil)
	all := fmt.Sprint(lines) + Asked(req, nil)
	refuseSecrets(t, all)
	if !strings.Contains(all, "777") {
		t.Errorf("a plain value is not shown: %s", all)
	}
}
