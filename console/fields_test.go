package console

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"html/template"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template/parse"
	"time"

	"doze/conformance/hostile"
)

// Every place of the templates that shows a text is watched in the tests of this package. A place is named by its template and the
// expression in it; one that reads "." by what it is of, too. Of each the data that it was first executed with is kept, and when all
// tests have passed it is executed again with hostile texts where its own was: so no field that is shown goes without them, whoever
// made its text and whether or not a client of some Kafka can choose it.
//
// testdata/fields.txt is the table of the places:
//
//	text     it was shown a hostile text of each kind, by TestMain
//	address  it leads somewhere: what it is made of is escaped by path or withQuery, and the pages that tests look through (harmless)
//	         are looked at for addresses that leave the console
//	client   beside that, most kinds came through a client, a broker and the page
type field struct {
	name    string
	address bool
	kinds   kindSet // that came through clients, by themselves or in a longer text
	shown   kindSet // that TestMain showed
	rounds  map[int]bool
	kept    kept
}

// kept is an execution of a template.
type kept struct {
	template string
	dot      any
}

// kindSet has a bit for each kind of hostile texts.
type kindSet uint64

var fields = struct {
	sync.Mutex
	places    map[string]*field
	addresses map[string]bool
	poison    func(*field) string // the text in place of a place's own; nil: none
}{places: map[string]*field{}, addresses: map[string]bool{}}

// show makes every place of a template's text say what it shows.
func show(text string) string {
	funcs := map[string]any{}
	for name := range templateFuncs(time.UTC, time.Now) {
		funcs[name] = name
	}
	for _, name := range []string{"and", "or", "not", "eq", "ne", "gt", "ge", "lt", "le", "len", "index", "printf", "print", "visited", "shown"} {
		funcs[name] = name
	}
	trees, err := parse.Parse("", text, "", "", funcs)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		if name != "" {
			placer{name}.list(trees[name].Root, ".")
			fmt.Fprintf(&b, "{{define %q}}{{visited %q}}%s{{end}}", name, name, trees[name].Root)
		}
	}
	return b.String()
}

// placer finds the places of a template.
type placer struct{ template string }

var leads = regexp.MustCompile(`(?i)(?:href|action|formaction|src|hx-get|hx-post|data-href)="[^"]*$`)

func (p placer) list(l *parse.ListNode, dot string) {
	if l == nil {
		return
	}
	address := false
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			address = leads.Match(n.Text)
		case *parse.ActionNode:
			p.watch(n.Pipe, dot, address)
		case *parse.IfNode:
			p.branches(&n.BranchNode, dot, dot)
		case *parse.WithNode:
			p.branches(&n.BranchNode, n.Pipe.String(), dot)
		case *parse.RangeNode:
			p.branches(&n.BranchNode, n.Pipe.String(), dot)
		}
	}
}

func (p placer) branches(b *parse.BranchNode, dot, otherwise string) {
	p.list(b.List, dot)
	p.list(b.ElseList, otherwise)
}

// words are functions whose results are numbers, times and words of the console's own.
var words = []string{"num", "bytes", "bytesOf", "plural", "when", "iso", "ago", "asset", "tableName", "visited", "len"}

// watch has the value of a place pass through a function that sees it.
func (p placer) watch(pipe *parse.PipeNode, dot string, address bool) {
	if len(pipe.Decl) > 0 || len(pipe.Cmds) == 0 {
		return
	}
	if f, ok := pipe.Cmds[0].Args[0].(*parse.IdentifierNode); ok && slices.Contains(words, f.Ident) {
		return
	}
	name := p.template + " " + pipe.String()
	if pipe.String() == "." || strings.HasPrefix(pipe.String(), "$") && !strings.Contains(pipe.String(), ".") {
		name = p.template + " " + dot + " → " + pipe.String()
	}
	if address {
		fields.addresses[name] = true
	}
	pipe.Cmds = append(pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Args: []parse.Node{
		parse.NewIdentifier("shown"), &parse.StringNode{NodeType: parse.NodeString, Quoted: fmt.Sprintf("%q", p.template)},
		&parse.StringNode{NodeType: parse.NodeString, Quoted: fmt.Sprintf("%q", name)}, &parse.VariableNode{NodeType: parse.NodeVariable, Ident: []string{"$"}},
	}})
}

// showField sees what a place shows, and gives what it is to show.
func showField(template, name string, dot, v any) any {
	text, is := textIn(v)
	if !is {
		return v
	}
	fields.Lock()
	defer fields.Unlock()
	p := fields.places[name]
	if p == nil {
		p = &field{name: name, address: fields.addresses[name], rounds: map[int]bool{}, kept: kept{template, dot}}
		fields.places[name] = p
	}
	if fields.poison != nil {
		if p.address {
			return v
		}
		return fields.poison(p)
	}
	p.kinds |= kindsIn(text)
	return v
}

// textIn is the text of a value; markup that a template made is none.
func textIn(v any) (string, bool) {
	switch v := v.(type) {
	case nil, template.HTML, time.Time:
		return "", false
	case fmt.Stringer:
		return v.String(), true
	case error:
		return v.Error(), true
	}
	r := reflect.ValueOf(v)
	return r.String(), r.Kind() == reflect.String
}

// The kinds of hostile texts, and the texts of each.
var (
	kindNames []string
	texts     [][]string
	known     = map[string]kindSet{}
)

func init() {
	for _, t := range hostile.Texts() {
		kind := slices.Index(kindNames, t.Kind)
		if kind < 0 {
			kind = len(kindNames)
			kindNames, texts = append(kindNames, t.Kind), append(texts, nil)
		}
		texts[kind] = append(texts[kind], t.Text)
	}
}

// kindsIn finds hostile texts in a text, also in one of an address, or clipped. The caller holds the lock.
func kindsIn(text string) kindSet {
	if found, ok := known[text]; ok || len(text) < 2 {
		return found
	}
	readings := []string{text}
	if s, err := url.QueryUnescape(text); err == nil && s != text {
		readings = append(readings, s)
	}
	var found kindSet
	for _, s := range readings {
		cut, clipped := strings.CutSuffix(s, "…")
		for kind, all := range texts {
			if slices.ContainsFunc(all, func(t string) bool {
				return s == t || len(t) > 7 && strings.Contains(s, t) || clipped && len(cut) > 7 && strings.HasPrefix(t, cut)
			}) {
				found |= 1 << kind
			}
		}
	}
	known[text] = found
	return found
}

// ShowHostileTexts executes what was kept with hostile texts in every place: with one of each kind, or with every one. It gives each
// page to a check.
func ShowHostileTexts(every bool, check func(what, body string)) error {
	set, err := newTemplateSets(time.Now).in(time.UTC)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(fields.places)) {
		p := fields.places[name]
		if p.address || len(p.rounds) == rounds(every) { // in an execution of another place
			continue
		}
		for round := range rounds(every) {
			fields.poison = func(at *field) string { return at.text(round, every) }
			var b bytes.Buffer
			err := set.ExecuteTemplate(&b, p.kept.template, p.kept.dot)
			fields.poison = nil
			if err != nil {
				return fmt.Errorf("execute %s with hostile texts: %w", p.kept.template, err)
			}
			check(fmt.Sprintf("%s with a hostile text (%d)", name, round), b.String())
		}
	}
	return nil
}

func rounds(every bool) int {
	if every {
		return len(hostile.Texts())
	}
	return len(kindNames)
}

// text is the place's text of a round: places have different ones at a time, each of a place's is of another kind.
func (p *field) text(round int, every bool) string {
	p.rounds[round] = true
	h := fnv.New32a()
	h.Write([]byte(p.name)) //nolint:errcheck // it has no error
	turn := int(h.Sum32() % 1000)
	if every {
		all := hostile.Texts()
		t := all[(round+turn)%len(all)]
		p.shown |= 1 << slices.Index(kindNames, t.Kind)
		return t.Text
	}
	kind := (round + turn) % len(kindNames)
	p.shown |= 1 << kind
	return texts[kind][turn%len(texts[kind])]
}

// most is how many kinds have come through clients to be called most: some fields take no control characters or broken UTF-8.
const most = 12

// FieldTable is the table of all places, and those that were not shown a text of each kind.
func FieldTable() (table string, missed []string) {
	var b strings.Builder
	b.WriteString("# Made by go test ./console -fields; see fields_test.go.\n")
	for _, name := range slices.Sorted(maps.Keys(fields.places)) {
		p := fields.places[name]
		kind, through := "text   ", ""
		if p.address {
			kind = "address"
		} else if p.shown != 1<<len(kindNames)-1 {
			missed = append(missed, name)
		}
		n := 0
		for i := range kindNames {
			n += int(p.kinds >> i & 1)
		}
		if n >= most {
			through = "client"
		}
		fmt.Fprintf(&b, "%s  %-6s  %s\n", kind, through, name)
	}
	return b.String(), missed
}
