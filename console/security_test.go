package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"doze"
	"doze/console"
)

func TestQuotas(t *testing.T) {
	w := start(t)
	w.get("/security/quotas").has(t, "There are no quotas")
	w.get("/security/quotas/edit").has(t, "client-id", "every other (default)")
	w.changes("/security/quotas/edit", "user-is", "named", "user", "<b>alice", "client-id-is", "default", "key", "producer_byte_rate", "value", "1048576", "do", "set").
		has(t, "Set producer_byte_rate of user &lt;b&gt;alice, client-id every other (default)", "1.0 MiB")
	w.changes("/security/quotas/edit", "user-is", "default", "key", "request_percentage", "value", "12.5", "do", "set").has(t, "12.5", "2 quotas")
	hasLacks(t, w.get("/security/quotas?q=alice"), []string{"producer_byte_rate", "/security/quotas/edit?client-id-is=default"}, "<b>")
	w.get("/security/quotas/edit?user-is=default&key=request_percentage&value=12.5").has(t, "Remove")
	hasLacks(t, w.changes("/security/quotas/edit", "user-is", "default", "key", "request_percentage", "do", "remove"), []string{"Removed request_percentage", "1 quota"}, "12.5")
	for _, pairs := range [][]string{
		{"key", "producer_byte_rate", "value", "1"},
		{"user-is", "default", "key", "<script>", "value", "1"},
		{"user-is", "default", "key", "producer_byte_rate", "value", "NaN"},
		{"user-is", "default", "key", "producer_byte_rate", "value", "-1"},
		{"user-is", "default", "ip-is", "default", "key", "producer_byte_rate", "value", "1"},
	} {
		got := w.post("/security/quotas/edit", pairs...)
		if got.Status != http.StatusUnprocessableEntity {
			t.Errorf("%q: %d", pairs, got.Status)
		}
		got.lacks(t, "<script>")
	}
}

// TestSecurityForms: forms are filled from the address and refuse what is none of their choices, whatever the broker serves.
func TestSecurityForms(t *testing.T) {
	w := start(t)
	w.get("/security/acls/edit").has(t, "Make the ACL", "User:bob")
	w.get("/security/acls/edit?type=3&name=billing&pattern=4&principal=User:bob&host=*&operation=3&permission=2").has(t, "Replace the ACL", `name="old-principal" value="User:bob"`)
	w.get("/security/acls/delete?type=2&name=%3Cb%3E&pattern=3&principal=User:bob&host=*&operation=3&permission=3").has(t, "ALLOW User:bob READ on topic &lt;b&gt; from *")
	w.get("/security/users/edit?user=bob").has(t, `value="bob"`, `type="password"`)
	w.get("/security/users/delete?user=bob&mechanism=1").has(t, "SCRAM-SHA-256")
	w.get("/security/tokens/new").has(t, "Longest life")
	w.get("/security/tokens/abc/renew").has(t, "For how many hours")
	w.get("/security/tokens/abc/expire").has(t, "In how many hours")
	for _, at := range []string{"/security/acls/edit?type=99", "/security/acls/edit?operation=x", "/security/acls/delete?permission=1", "/security/allowed?pattern=" + url.QueryEscape("<b>")} {
		got := w.do("GET", at, "", nil)
		if got.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", at, got.Status)
		}
		got.lacks(t, "<b>")
	}
	if got := w.do("GET", "/security/tokens/abc/steal", "", nil); got.Status != http.StatusNotFound {
		t.Errorf("no such change of a token: %d", got.Status)
	}
	secret := w.post("/security/users/edit", "user", "bob", "password", "hunter2hunter2", "mechanism", "7", "iterations", "4096")
	if secret.Status != http.StatusUnprocessableEntity {
		t.Errorf("a mechanism that is none: %d", secret.Status)
	}
	secret.lacks(t, "hunter2")
}

// startGuarded is a walk with a broker that has an authorizer; the console, which does not log in, is a super user.
func startGuarded(t *testing.T) *walk {
	t.Helper()
	broker := runBroker(t, doze.Options{
		DataDir: t.TempDir(), Listeners: []doze.Listener{{Address: "127.0.0.1:0"}},
		Properties: map[string]string{"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users": "User:ANONYMOUS", "allow.everyone.if.no.acl.found": "false"},
	})
	c, err := console.New(console.Options{Bootstrap: []string{broker.Addr()}, Access: closedAccess{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &walk{t: t, broker: broker, console: c}
}

type closedAccess struct{}

func (closedAccess) Rules() ([]string, bool) { return []string{"User:ANONYMOUS"}, false }

func TestACLs(t *testing.T) {
	w := startGuarded(t)
	w.get("/security").has(t, "There are no ACLs", "Super users may do everything: User:ANONYMOUS", "Nobody but super users")
	allowed := func(who, operation, name string) reply {
		return w.get("/security/allowed?type=2&principal=" + who + "&operation=" + operation + "&name=" + name)
	}
	allowed("User:bob", "3", "orders").has(t, "<strong>No.</strong>", "allow.everyone.if.no.acl.found is false")
	allowed("User:ANONYMOUS", "3", "orders").has(t, "<strong>Yes.</strong>", "super user")

	made := w.changes("/security/acls/edit", "principal", "User:bob", "host", "*", "type", "2", "name", "ord", "pattern", "4", "operation", "3", "permission", "3")
	made.has(t, "Made: ALLOW User:bob READ on topic all that begin with ord from *", "User:bob", "prefix")
	allowed("User:bob", "3", "orders").has(t, "<strong>Yes.</strong>", "Decided by")
	allowed("User:bob", "4", "orders").has(t, "<strong>No.</strong>", "1 of the ACLs name this resource")

	edit := html.UnescapeString(regexp.MustCompile(`href="(/security/acls/edit\?[^"]+)"`).FindStringSubmatch(made.Body)[1])
	fields := []string{"principal", "User:bob", "host", "*", "type", "2", "name", "ord", "pattern", "4", "operation", "4", "permission", "3"}
	for _, m := range regexp.MustCompile(`name="(old-[a-z]+)" value="([^"]*)"`).FindAllStringSubmatch(w.get(edit).Body, -1) {
		fields = append(fields, m[1], html.UnescapeString(m[2]))
	}
	changed := w.changes("/security/acls/edit", fields...)
	hasLacks(t, changed, []string{"1 ACL", "WRITE"}, "<td>READ")

	refused := w.post("/security/acls/edit", "principal", "bob", "type", "2", "name", "orders")
	if refused.Status != http.StatusUnprocessableEntity {
		t.Errorf("a principal without its type: %d %s", refused.Status, refused.Body)
	}
	refused.has(t, `value="bob"`)

	remove := html.UnescapeString(regexp.MustCompile(`href="(/security/acls/delete\?[^"]+)"`).FindStringSubmatch(changed.Body)[1])
	var again []string
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)"`).FindAllStringSubmatch(w.get(remove).Body, -1) {
		again = append(again, m[1], html.UnescapeString(m[2]))
	}
	gone := w.changes("/security/acls/delete", again...)
	gone.has(t, "Deleted: ALLOW User:bob WRITE", "There are no ACLs", ">Undo</a>")
	undo := html.UnescapeString(regexp.MustCompile(`href="([^"]*)" hx-get="[^"]*">Undo`).FindStringSubmatch(gone.Body)[1])
	w.get(undo).has(t, "Make the ACL", `value="User:bob"`)
	if got := w.post("/security/acls/delete", again...); got.Status != http.StatusNotFound {
		t.Errorf("an ACL that is gone: %d", got.Status)
	}
}

func TestUsers(t *testing.T) {
	w := startGuarded(t)
	w.get("/security/users").has(t, "No user has SCRAM credentials")
	made := w.changes("/security/users/edit", "user", "<b>bob", "password", "hunter2hunter2", "mechanism", "1", "iterations", "4096")
	hasLacks(t, made, []string{"Set the password of &lt;b&gt;bob", "SCRAM-SHA-256", "4,096"}, "hunter2", "<b>bob")
	few := w.post("/security/users/edit", "user", "bob", "password", "hunter2hunter2", "mechanism", "1", "iterations", "1")
	if few.Status != http.StatusUnprocessableEntity {
		t.Errorf("one iteration: %d", few.Status)
	}
	few.lacks(t, "hunter2")
	w.changes("/security/users/delete", "user", "<b>bob", "mechanism", "1").has(t, "Deleted SCRAM-SHA-256 of &lt;b&gt;bob")
	if got := w.post("/security/users/delete", "user", "<b>bob", "mechanism", "1"); got.Status != http.StatusNotFound {
		t.Errorf("a credential that is gone: %d", got.Status)
	}
	w.get("/security/tokens").has(t, "<h1>Security</h1>")
}
