package console

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const evil = `<script>alert(1)</script>"'`

// rendered is a page as it is sent, made of any data.
func rendered(t *testing.T, address string, make func(*request) answer) string {
	t.Helper()
	c, err := New(Options{Bootstrap: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w := httptest.NewRecorder()
	r, err := c.newRequest(w, httptest.NewRequest(http.MethodGet, address, nil))
	if err != nil {
		t.Fatal(err)
	}
	make(r).send(r, w)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", address, w.Code, w.Body)
	}
	body := w.Body.String()
	if strings.Contains(body, "<script>alert") || strings.Contains(body, `"'"`) {
		t.Errorf("%s shows a hostile text as markup:\n%s", address, body)
	}
	return body
}

func holds(t *testing.T, body string, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if !strings.Contains(body, s) {
			t.Errorf("the page lacks %q:\n%s", s, body)
		}
	}
}

// TestSecurityPages: the pages with hostile names in every field, whatever broker they came from.
func TestSecurityPages(t *testing.T) {
	acl := kadm.DescribedACL{
		Principal: "User:" + evil, Host: evil, Type: kmsg.ACLResourceTypeTopic, Name: evil, Pattern: kmsg.ACLResourcePatternTypePrefixed,
		Operation: aclTwoPhaseCommit, Permission: kmsg.ACLPermissionTypeDeny,
	}
	holds(t, rendered(t, "/security", func(r *request) answer {
		return securityPage("acls", "ACLs", aclsPage{Table: securityACLSheet.show(r, []kadm.DescribedACL{acl}), Rules: []string{evil}})
	}), "TWO_PHASE_COMMIT", "DENY", "prefix", "&lt;script&gt;")
	holds(t, rendered(t, "/security/allowed", func(r *request) answer {
		sheet := securityACLSheet
		sheet.Find = nil
		v := verdictPage{aclView: newACLView(acl), Asked: true, Verdict: aclVerdict{Why: evil, By: []kadm.DescribedACL{acl}}, By: sheet.show(r, []kadm.DescribedACL{acl})}
		return securityPage("acl-verdict", "Allowed?", v)
	}), "<strong>No.</strong>", "Decided by")
	holds(t, rendered(t, "/security/users", func(r *request) answer {
		users := []kadm.DescribedUserSCRAM{{User: evil, CredInfos: []kadm.CredInfo{{Mechanism: kadm.ScramSha256, Iterations: 4096}}}}
		return securityPage("users", "Users", usersPage{Table: userSheet.show(r, users)})
	}), "SCRAM-SHA-256", "4,096")
	token := kadm.DelegationToken{
		Owner: kadm.Principal{Name: evil}, TokenRequesterPrincipal: kadm.Principal{Type: evil, Name: evil}, TokenID: evil, HMAC: []byte("hmac-secret"),
		Renewers: []kadm.Principal{{Name: evil}}, IssueTimestamp: time.UnixMilli(1), ExpiryTimestamp: time.UnixMilli(2), MaxTimestamp: time.UnixMilli(3),
	}
	page := rendered(t, "/security/tokens", func(r *request) answer {
		return securityPage("tokens", "Tokens", tokensPage{Table: tokenSheet.show(r, kadm.DelegationTokens{token})})
	})
	holds(t, page, "1970-01-01 00:00:00.002 UTC", "Renew")
	if strings.Contains(page, "aG1hYy") || strings.Contains(page, "hmac-secret") {
		t.Error("the list of tokens tells their secrets")
	}
	holds(t, rendered(t, "/security/tokens/new", func(*request) answer {
		return securityDialog("token-made", "The token", tokenView{ID: evil, Secret: "c2VjcmV0", Expires: token.ExpiryTimestamp}, 0)
	}), "c2VjcmV0", "shown this once")
}

// TestSecurityNotes: what a broker refuses because it is switched off is said on the page; what is wrong stays an error.
func TestSecurityNotes(t *testing.T) {
	for _, c := range []struct {
		err  error
		note string
	}{
		{kerr.SecurityDisabled, "no authorizer"}, {kerr.DelegationTokenAuthDisabled, "switched off"},
		{kerr.DelegationTokenRequestNotAllowed, "logged in"}, {kerr.ClusterAuthorizationFailed, "may not"},
	} {
		var head securityHead
		if err := head.explained(c.err); err != nil || !strings.Contains(head.Note, c.note) {
			t.Errorf("%v: %v, %q", c.err, err, head.Note)
		}
		holds(t, rendered(t, "/security", func(*request) answer { return securityPage("acls", "ACLs", aclsPage{securityHead: head}) }), c.note)
	}
	var head securityHead
	if err := head.explained(kerr.UnknownServerError); err == nil || head.Note != "" {
		t.Errorf("%v, %q", err, head.Note)
	}
	if err := head.explained(errors.New("gone")); err == nil {
		t.Error("an error of the network is no note")
	}
	if err := head.explained(nil); err != nil {
		t.Error(err)
	}
}

func TestVerdicts(t *testing.T) {
	const topic, group = kmsg.ACLResourceTypeTopic, kmsg.ACLResourceTypeGroup
	const literal, prefixed = kmsg.ACLResourcePatternTypeLiteral, kmsg.ACLResourcePatternTypePrefixed
	const allow, deny = kmsg.ACLPermissionTypeAllow, kmsg.ACLPermissionTypeDeny
	acls := []kadm.DescribedACL{
		{Principal: "User:bob", Host: "*", Type: topic, Name: "orders", Pattern: literal, Operation: kmsg.ACLOperationRead, Permission: allow},
		{Principal: "User:bob", Host: "10.0.0.1", Type: topic, Name: "logs-", Pattern: prefixed, Operation: kmsg.ACLOperationAll, Permission: allow},
		{Principal: "User:*", Host: "*", Type: topic, Name: "logs-secret", Pattern: literal, Operation: kmsg.ACLOperationRead, Permission: deny},
		{Principal: "User:eve", Host: "*", Type: topic, Name: "*", Pattern: literal, Operation: kmsg.ACLOperationAlterConfigs, Permission: allow},
		{Principal: "User:mal", Host: "*", Type: topic, Name: "orders", Pattern: literal, Operation: kmsg.ACLOperationWrite, Permission: deny},
	}
	rules := aclRules{Authorizer: "x", SuperUsers: []string{"User:admin"}, AllowIfNoACL: "true"}
	closed := rules
	closed.AllowIfNoACL = "false"
	untold := rules
	untold.AllowIfNoACL = ""
	for _, c := range []struct {
		who, host string
		op        kmsg.ACLOperation
		kind      kmsg.ACLResourceType
		name      string
		rules     aclRules
		want      string
	}{
		{"User:bob", "1.2.3.4", kmsg.ACLOperationRead, topic, "orders", rules, "yes"},
		{"User:bob", "1.2.3.4", kmsg.ACLOperationDescribe, topic, "orders", rules, "yes"},
		{"User:bob", "1.2.3.4", kmsg.ACLOperationWrite, topic, "orders", rules, "no"},
		{"User:ann", "1.2.3.4", kmsg.ACLOperationRead, topic, "orders", rules, "no"},
		{"User:admin", "1.2.3.4", kmsg.ACLOperationWrite, topic, "orders", rules, "yes"},
		{"User:bob", "10.0.0.1", kmsg.ACLOperationWrite, topic, "logs-web", rules, "yes"},
		{"User:bob", "10.0.0.2", kmsg.ACLOperationWrite, topic, "logs-web", rules, "no"},
		{"User:bob", "10.0.0.1", kmsg.ACLOperationRead, topic, "logs-secret", rules, "no"},
		{"User:bob", "10.0.0.1", kmsg.ACLOperationDescribe, topic, "logs-secret", rules, "yes"},
		{"User:eve", "x", kmsg.ACLOperationDescribeConfigs, topic, "anything", rules, "yes"},
		{"User:eve", "x", kmsg.ACLOperationDescribe, topic, "anything", rules, "no"},
		{"User:mal", "x", kmsg.ACLOperationDescribe, topic, "orders", rules, "no"},
		{"User:ann", "x", kmsg.ACLOperationRead, group, "orders", rules, "yes"},
		{"User:ann", "x", kmsg.ACLOperationRead, group, "orders", closed, "no"},
		{"User:ann", "x", kmsg.ACLOperationRead, group, "orders", untold, "?"},
		{"User:ann", "x", kmsg.ACLOperationRead, group, "orders", aclRules{}, "yes"},
	} {
		v := judge(aclQuestion{Principal: c.who, Host: c.host, Operation: c.op, Type: c.kind, Name: c.name}, c.rules, acls)
		got := map[bool]string{true: "yes", false: "no"}[v.Allowed]
		if v.Unsure {
			got = "?"
		}
		if got != c.want || v.Why == "" {
			t.Errorf("%s from %s %s on %s %s: %s (%s), want %s", c.who, c.host, c.op, c.kind, c.name, got, v.Why, c.want)
		}
	}
}

func FuzzPrincipal(f *testing.F) {
	f.Add("User:bob")
	f.Add(":")
	f.Fuzz(func(t *testing.T, text string) {
		if p := parsePrincipal(text); p.Type == "" || !strings.Contains(text, p.Name) {
			t.Fatalf("%q is %+v", text, p)
		}
	})
}
