package console

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (c *Console) securityRoutes() []route {
	return []route{
		{pattern: "GET /security", do: showACLs},
		{pattern: "GET /security/acls/edit", do: askACL},
		{pattern: "POST /security/acls/edit", do: setACL},
		{pattern: "GET /security/acls/delete", do: askDeleteACL},
		{pattern: "POST /security/acls/delete", do: deleteACL},
		{pattern: "GET /security/allowed", do: showVerdict},
		{pattern: "GET /security/users", do: showUsers},
		{pattern: "GET /security/users/edit", do: askUser},
		{pattern: "POST /security/users/edit", do: setUser},
		{pattern: "GET /security/users/delete", do: askDeleteUser},
		{pattern: "POST /security/users/delete", do: deleteUser},
		{pattern: "GET /security/quotas", do: showQuotas},
		{pattern: "GET /security/quotas/edit", do: askQuota},
		{pattern: "POST /security/quotas/edit", do: setQuota},
		{pattern: "GET /security/tokens", do: showTokens},
		{pattern: "GET /security/tokens/new", do: askToken},
		{pattern: "POST /security/tokens/new", do: makeToken},
		{pattern: "GET /security/tokens/{id}/{do}", do: askTokenChange},
		{pattern: "POST /security/tokens/{id}/{do}", do: changeToken},
	}
}

// Access is what decides beside ACLs and no client can ask for: Kafka describes neither of the two.
type Access interface {
	// Rules are the principals that may do everything, and whether everybody may use a resource that no ACL names.
	Rules() (superUsers []string, allowIfNoACL bool)
}

// securityHead is the top of each page of security.
type securityHead struct {
	Tabs []tab
	Note string // why there is nothing to see or to do; "" when there is
	Hint string
}

var securityTabs = []struct{ text, path string }{
	{"ACLs", "/security"}, {"Allowed?", "/security/allowed"}, {"Users", "/security/users"}, {"Quotas", "/security/quotas"}, {"Tokens", "/security/tokens"},
}

// securityHead has the tabs, and a note when the broker does not serve the API that the page is made of.
func (r *request) securityHead(lit string, key kmsg.Key) (securityHead, error) {
	var head securityHead
	for _, t := range securityTabs {
		head.Tabs = append(head.Tabs, tab{Text: t.text, Href: t.path, Lit: t.text == lit})
	}
	served, err := r.serves(key)
	if err == nil && !served {
		head.Note, head.Hint = fmt.Sprintf("This broker does not serve %s", key.Name()), "It does not advertise the API, so there is nothing to show or change here."
	}
	return head, err
}

// serves says whether all brokers advertise an API.
func (r *request) serves(key kmsg.Key) (bool, error) {
	all, err := r.c.kafka.admin.ApiVersions(r.Context())
	if err != nil {
		return false, err
	}
	for _, v := range all {
		if _, _, ok := v.KeyVersions(key.Int16()); v.Err == nil && !ok {
			return false, nil
		}
	}
	return len(all) > 0, nil
}

// explained turns refusals that say "this is switched off" or "not for you" into the note of the page; other errors stay.
func (h *securityHead) explained(err error) error {
	var ke *kerr.Error
	if !errors.As(err, &ke) {
		return err
	}
	switch ke {
	case kerr.SecurityDisabled:
		h.Note, h.Hint = "The broker has no authorizer: everybody may do everything", "ACLs need one: doze serve --authorizer; of Kafka the property authorizer.class.name."
	case kerr.DelegationTokenAuthDisabled:
		h.Note, h.Hint = "Delegation tokens are switched off", "They need a secret: Kafka's property delegation.token.secret.key."
	case kerr.DelegationTokenRequestNotAllowed:
		h.Note, h.Hint = "The broker tells tokens only to clients that have logged in", "The console is connected without a login, or with a token itself."
	case kerr.ClusterAuthorizationFailed, kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.DelegationTokenAuthorizationFailed:
		h.Note, h.Hint = "The console may not do this", "Its principal lacks the permission. Kafka answered "+ke.Message+"."
	default:
		return err
	}
	return nil
}

func securityPage(name, title string, data any) page {
	return page{Title: title, Nav: "security", Crumbs: []crumb{{Text: "Security"}}, Name: name, Data: data}
}

func securityDialog(name, title string, data any, status int) dialog {
	return dialog{Title: title, Nav: "security", Crumbs: []crumb{{Text: "Security", Href: "/security"}, {Text: title}}, Name: name, Data: data, Status: status}
}

// wrongForm is the status of a form that is shown again.
const wrongForm = http.StatusUnprocessableEntity
