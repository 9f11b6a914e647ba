package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// aclsPage is the dot of the list of ACLs.
type aclsPage struct {
	securityHead
	Table table
	Rules []string // what decides beside them, in words
}

func showACLs(r *request) (answer, error) {
	head, err := r.securityHead("ACLs", kmsg.DescribeACLs)
	if err != nil {
		return nil, err
	}
	view := aclsPage{securityHead: head}
	if view.Note == "" {
		acls, err := r.acls()
		if err := view.explained(err); err != nil {
			return nil, err
		}
		rules, err := r.aclRules()
		if err != nil {
			return nil, err
		}
		view.Rules = rules.words()
		view.Table = securityACLSheet.show(r, acls)
	}
	return securityPage("acls", "ACLs", view), nil
}

// acls are all ACLs, in order.
func (r *request) acls() ([]kadm.DescribedACL, error) {
	req := kmsg.NewPtrDescribeACLsRequest()
	req.ResourceType, req.ResourcePatternType = kmsg.ACLResourceTypeAny, kmsg.ACLResourcePatternTypeAny
	req.Operation, req.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
	resp, err := req.RequestWith(r.Context(), r.c.kafka.client)
	if err != nil {
		return nil, fmt.Errorf("describe ACLs: %w", err)
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	var out []kadm.DescribedACL
	for _, res := range resp.Resources {
		for _, a := range res.ACLs {
			out = append(out, kadm.DescribedACL{
				Principal: a.Principal, Host: a.Host, Type: res.ResourceType, Name: res.ResourceName, Pattern: res.ResourcePatternType,
				Operation: a.Operation, Permission: a.PermissionType,
			})
		}
	}
	slices.SortFunc(out, compareACLs)
	return out, nil
}

func compareACLs(a, b kadm.DescribedACL) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Pattern, b.Pattern), cmp.Compare(a.Principal, b.Principal),
		cmp.Compare(a.Host, b.Host), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Permission, b.Permission))
}

// aclRules is what decides beside the ACLs: from the broker's configs, and from doze where Kafka describes nothing.
func (r *request) aclRules() (aclRules, error) {
	described, err := r.c.kafka.brokers(r.Context())
	if err != nil {
		return aclRules{}, err
	}
	var rules aclRules
	if len(described.Brokers) > 0 {
		configs, err := r.brokerConfigs(described.Brokers[0].NodeID)
		if err != nil {
			return rules, err
		}
		for _, c := range configs {
			switch c.Key {
			case "authorizer.class.name":
				rules.Authorizer = c.Value
			case "super.users":
				rules.SuperUsers = strings.Split(c.Value, ";")
			case "allow.everyone.if.no.acl.found":
				rules.AllowIfNoACL = c.Value
			}
		}
	}
	if a := r.c.opt.Access; a != nil {
		super, open := a.Rules()
		rules.SuperUsers, rules.AllowIfNoACL = super, strconv.FormatBool(open)
	}
	return rules, nil
}

func (rules aclRules) words() []string {
	if rules.Authorizer == "" {
		return []string{"The broker has no authorizer: everybody may do everything, whatever ACLs say."}
	}
	var out []string
	if len(rules.SuperUsers) > 0 {
		out = append(out, "Super users may do everything: "+strings.Join(rules.SuperUsers, ", ")+".")
	}
	switch rules.AllowIfNoACL {
	case "true":
		out = append(out, "Everybody may use a resource that no ACL names.")
	case "false":
		out = append(out, "Nobody but super users may use a resource that no ACL names.")
	default:
		out = append(out, "Whether everybody may use a resource that no ACL names is not told by this broker (allow.everyone.if.no.acl.found; Kafka's default is no).")
	}
	return out
}

var securityACLSheet = sheet[kadm.DescribedACL]{
	ID: "t", Noun: "ACL", Sort: "resource", Size: 100, Empty: "There are no ACLs. Make one here, or with Kafka's tool:",
	Command: "kafka-acls.sh --bootstrap-server HOST:PORT --add --allow-principal User:bob --consumer --topic orders --group billing",
	Find: func(a kadm.DescribedACL) string {
		return strings.Join([]string{a.Principal, a.Host, a.Name, aclTypeName(a.Type), aclOperationName(a.Operation), a.Permission.String()}, " ")
	},
	Columns: []column[kadm.DescribedACL]{
		{Key: "resource", Title: "Resource", Order: compareACLs, Cell: func(a kadm.DescribedACL) cell {
			c := textCell(aclTypeName(a.Type) + " " + shownName(a.Name))
			if a.Pattern == kmsg.ACLResourcePatternTypePrefixed {
				return c.with(badge{"prefix", "info", "All names that begin with it"})
			}
			return c
		}},
		{Key: "principal", Title: "Principal", Order: by(func(a kadm.DescribedACL) string { return a.Principal }), Cell: func(a kadm.DescribedACL) cell { return textCell(a.Principal) }},
		{Title: "Host", Cell: func(a kadm.DescribedACL) cell { return textCell(a.Host) }},
		{Key: "operation", Title: "Operation", Order: by(func(a kadm.DescribedACL) string { return aclOperationName(a.Operation) }), Cell: func(a kadm.DescribedACL) cell { return textCell(aclOperationName(a.Operation)) }},
		{Key: "permission", Title: "Permission", Order: by(func(a kadm.DescribedACL) string { return a.Permission.String() }), Cell: func(a kadm.DescribedACL) cell {
			return badgeCell(badge{a.Permission.String(), map[bool]string{true: "good", false: "bad"}[a.Permission == kmsg.ACLPermissionTypeAllow], ""})
		}},
		{Title: "", Cell: func(a kadm.DescribedACL) cell {
			return actCell(act{"Change", aclHref("edit", a), "Make another ACL in its place"}, act{"Delete", aclHref("delete", a), ""})
		}},
	},
}

func aclTypeName(t kmsg.ACLResourceType) string { return strings.ToLower(t.String()) }

func aclOperationName(o kmsg.ACLOperation) string {
	if o == aclTwoPhaseCommit {
		return "TWO_PHASE_COMMIT"
	}
	return o.String()
}

// aclHref is a page about one ACL, which has no name but all that it says.
func aclHref(page string, a kadm.DescribedACL) string {
	return withQuery("/security/acls/"+page, "type", strconv.Itoa(int(a.Type)), "name", a.Name, "pattern", strconv.Itoa(int(a.Pattern)),
		"principal", a.Principal, "host", a.Host, "operation", strconv.Itoa(int(a.Operation)), "permission", strconv.Itoa(int(a.Permission)))
}

// aclValues reads an ACL from values of an address or a form. What is missing is as in most ACLs.
func aclValues(get func(string) string) (kadm.DescribedACL, error) {
	a := kadm.DescribedACL{Principal: get("principal"), Host: cmp.Or(get("host"), "*"), Name: get("name")}
	for _, n := range []struct {
		name        string
		set         func(int8)
		byDefault   int8
		least, most int8
	}{
		{"type", func(n int8) { a.Type = kmsg.ACLResourceType(n) }, int8(kmsg.ACLResourceTypeTopic), 2, 7},
		{"pattern", func(n int8) { a.Pattern = kmsg.ACLResourcePatternType(n) }, int8(kmsg.ACLResourcePatternTypeLiteral), 3, 4},
		{"operation", func(n int8) { a.Operation = kmsg.ACLOperation(n) }, int8(kmsg.ACLOperationRead), 2, int8(aclTwoPhaseCommit)},
		{"permission", func(n int8) { a.Permission = kmsg.ACLPermissionType(n) }, int8(kmsg.ACLPermissionTypeAllow), 2, 3},
	} {
		text := get(n.name)
		if text == "" {
			n.set(n.byDefault)
			continue
		}
		v, err := strconv.ParseInt(text, 10, 8)
		if err != nil || int8(v) < n.least || int8(v) > n.most {
			return a, badRequest("The ACL's %s is %q: choose one of those that the form has", n.name, clip(text, 40))
		}
		n.set(int8(v))
	}
	if a.Type == kmsg.ACLResourceTypeCluster {
		a.Name = "kafka-cluster"
	}
	return a, nil
}

// aclView is the dot of the form of an ACL.
type aclView struct {
	ACL                                      kadm.DescribedACL
	Types, Patterns, Operations, Permissions []choice
	Type, Pattern, Operation, Permission     string
	Old                                      []hidden // the ACL whose place it takes
	Wrong                                    string
}

func newACLView(a kadm.DescribedACL) aclView {
	return aclView{
		ACL: a, Types: aclTypeChoices(), Operations: aclOperationChoices(), Patterns: []choice{{"3", "this name, or * for all"}, {"4", "names that begin so"}},
		Permissions: []choice{{"3", "allow"}, {"2", "deny"}},
		Type:        strconv.Itoa(int(a.Type)), Pattern: strconv.Itoa(int(a.Pattern)), Operation: strconv.Itoa(int(a.Operation)), Permission: strconv.Itoa(int(a.Permission)),
	}
}

func aclTypeChoices() []choice {
	var out []choice
	for t := kmsg.ACLResourceTypeTopic; t <= kmsg.ACLResourceTypeUser; t++ {
		out = append(out, choice{strconv.Itoa(int(t)), aclTypeName(t)})
	}
	return out
}

func aclOperationChoices() []choice {
	var out []choice
	for o := kmsg.ACLOperationAll; o <= aclTwoPhaseCommit; o++ {
		out = append(out, choice{strconv.Itoa(int(o)), aclOperationName(o)})
	}
	return out
}

// askACL shows the form: empty, filled from the address, or for an ACL that is there.
func askACL(r *request) (answer, error) {
	a, err := aclValues(r.query)
	if err != nil {
		return nil, err
	}
	view := newACLView(a)
	title := "New ACL"
	if r.query("permission") != "" && r.query("again") == "" {
		title = "Change an ACL"
		for _, name := range aclFields {
			view.Old = append(view.Old, hidden{"old-" + name, r.query(name)})
		}
	}
	return securityDialog("acl-edit", title, view, 0), nil
}

// aclFields are the values that make an ACL.
var aclFields = []string{"type", "name", "pattern", "principal", "host", "operation", "permission"}

// setACL makes an ACL, and takes away the one whose place it takes.
func setACL(r *request) (answer, error) {
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	a, err := aclValues(f.trimmed)
	if err != nil {
		return nil, err
	}
	old, replaces, err := oldACL(f)
	if err != nil {
		return nil, err
	}
	if err := r.createACL(r.Context(), a); err != nil {
		view := newACLView(a)
		view.Wrong = asProblem(err).Message
		for _, name := range aclFields {
			if replaces {
				view.Old = append(view.Old, hidden{"old-" + name, f.text("old-" + name)})
			}
		}
		return securityDialog("acl-edit", "ACL", view, wrongForm), nil
	}
	if replaces && old != a {
		if err := r.removeACL(r.Context(), old); err != nil {
			return nil, err
		}
	}
	return done{To: "/security", Toast: "Made: " + aclWords(a)}, nil
}

// oldACL is the ACL whose place a form's takes, if any.
func oldACL(f form) (kadm.DescribedACL, bool, error) {
	if f.text("old-permission") == "" {
		return kadm.DescribedACL{}, false, nil
	}
	a, err := aclValues(func(name string) string { return f.text("old-" + name) })
	return a, true, err
}

// aclWords says an ACL in a sentence.
func aclWords(a kadm.DescribedACL) string {
	pattern := ""
	if a.Pattern == kmsg.ACLResourcePatternTypePrefixed {
		pattern = "all that begin with "
	}
	return clip(fmt.Sprintf("%s %s %s on %s %s%s from %s", a.Permission, a.Principal, aclOperationName(a.Operation), aclTypeName(a.Type), pattern, a.Name, a.Host), 400)
}

func (r *request) createACL(ctx context.Context, a kadm.DescribedACL) error {
	req := kmsg.NewPtrCreateACLsRequest()
	one := kmsg.NewCreateACLsRequestCreation()
	one.ResourceType, one.ResourceName, one.ResourcePatternType = a.Type, a.Name, a.Pattern
	one.Principal, one.Host, one.Operation, one.PermissionType = a.Principal, a.Host, a.Operation, a.Permission
	req.Creations = append(req.Creations, one)
	resp, err := req.RequestWith(ctx, r.c.kafka.client)
	if err != nil {
		return fmt.Errorf("create ACL: %w", err)
	}
	for _, res := range resp.Results {
		if err := kafkaError(res.ErrorCode, res.ErrorMessage); err != nil {
			return err
		}
	}
	return nil
}

// removeACL deletes just this ACL.
func (r *request) removeACL(ctx context.Context, a kadm.DescribedACL) error {
	req := kmsg.NewPtrDeleteACLsRequest()
	one := kmsg.NewDeleteACLsRequestFilter()
	one.ResourceType, one.ResourceName, one.ResourcePatternType = a.Type, &a.Name, a.Pattern
	one.Principal, one.Host, one.Operation, one.PermissionType = &a.Principal, &a.Host, a.Operation, a.Permission
	req.Filters = append(req.Filters, one)
	resp, err := req.RequestWith(ctx, r.c.kafka.client)
	if err != nil {
		return fmt.Errorf("delete ACL: %w", err)
	}
	for _, res := range resp.Results {
		if err := kafkaError(res.ErrorCode, res.ErrorMessage); err != nil {
			return err
		}
		if len(res.MatchingACLs) == 0 {
			return notFound("There is no such ACL any more")
		}
	}
	return nil
}

func askDeleteACL(r *request) (answer, error) {
	a, err := aclValues(r.query)
	if err != nil {
		return nil, err
	}
	view := deleteView{What: "ACL", Action: "/security/acls/delete", Means: []string{aclWords(a)}, Button: "Delete the ACL"}
	for _, name := range aclFields {
		view.Hidden = append(view.Hidden, hidden{name, r.query(name)})
	}
	return securityDialog("really-delete", "Delete an ACL", view, 0), nil
}

func deleteACL(r *request) (answer, error) {
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	a, err := aclValues(f.text)
	if err != nil {
		return nil, err
	}
	if err := r.removeACL(r.Context(), a); err != nil {
		return nil, err
	}
	return done{To: "/security", Toast: "Deleted: " + aclWords(a), Undo: aclHref("edit", a) + "&again=1"}, nil
}

// verdictPage is the dot of the question whether somebody may do something.
type verdictPage struct {
	securityHead
	aclView
	Asked   bool
	Verdict aclVerdict
	By      table
}

func showVerdict(r *request) (answer, error) {
	head, err := r.securityHead("Allowed?", kmsg.DescribeACLs)
	if err != nil {
		return nil, err
	}
	a, err := aclValues(func(name string) string { return strings.TrimSpace(r.query(name)) })
	if err != nil {
		return nil, err
	}
	view := verdictPage{securityHead: head, aclView: newACLView(a), Asked: a.Principal != "" && head.Note == ""}
	if !view.Asked {
		return securityPage("acl-verdict", "Allowed?", view), nil
	}
	acls, err := r.acls()
	if err := view.explained(err); err != nil {
		return nil, err
	}
	rules, err := r.aclRules()
	if err != nil {
		return nil, err
	}
	view.Note, view.Hint = "", ""
	view.Verdict = judge(aclQuestion{Principal: a.Principal, Host: a.Host, Operation: a.Operation, Type: a.Type, Name: a.Name}, rules, acls)
	deciding := securityACLSheet
	deciding.Find, deciding.ID = nil, "by"
	view.By = deciding.show(r, view.Verdict.By)
	return securityPage("acl-verdict", "Allowed?", view), nil
}
