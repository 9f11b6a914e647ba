package console

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// quotasPage is the dot of the list of quotas.
type quotasPage struct {
	securityHead
	Table table
}

// quotaRow is one quota of one entity.
type quotaRow struct {
	Entity kadm.ClientQuotaEntity
	Key    string
	Value  float64
}

func showQuotas(r *request) (answer, error) {
	head, err := r.securityHead("Quotas", kmsg.DescribeClientQuotas)
	if err != nil {
		return nil, err
	}
	view := quotasPage{securityHead: head}
	if view.Note == "" {
		described, err := r.c.kafka.admin.DescribeClientQuotas(r.Context(), false, nil)
		if err := view.explained(err); err != nil {
			return nil, err
		}
		var rows []quotaRow
		for _, q := range described {
			for _, v := range q.Values {
				rows = append(rows, quotaRow{q.Entity, v.Key, v.Value})
			}
		}
		view.Table = quotaSheet.show(r, rows)
	}
	return securityPage("quotas", "Quotas", view), nil
}

// quotaKeys are the quotas that Kafka has, with their units.
var quotaKeys = []choice{
	{"producer_byte_rate", "producer_byte_rate: bytes a second that are produced"},
	{"consumer_byte_rate", "consumer_byte_rate: bytes a second that are fetched"},
	{"request_percentage", "request_percentage: time worked at requests, percent of one core"},
	{"controller_mutation_rate", "controller_mutation_rate: partitions made and deleted a second"},
	{"connection_creation_rate", "connection_creation_rate: connections a second, of an address"},
}

// quotaEntities are the kinds of things that a quota is of.
var quotaEntities = []string{"user", "client-id", "ip"}

var quotaSheet = sheet[quotaRow]{
	ID: "t", Noun: "quota", Sort: "entity", Empty: "There are no quotas. Set one here, or with Kafka's tool:",
	Command: "kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type clients --entity-name app --add-config producer_byte_rate=1048576",
	Find:    func(q quotaRow) string { return quotaOf(q.Entity) + " " + q.Key },
	Columns: []column[quotaRow]{
		{Key: "entity", Title: "Of", Order: by(func(q quotaRow) string { return quotaOf(q.Entity) + q.Key }), Cell: func(q quotaRow) cell { return textCell(quotaOf(q.Entity)) }},
		{Key: "key", Title: "Quota", Order: by(func(q quotaRow) string { return q.Key }), Cell: func(q quotaRow) cell { return textCell(q.Key).hover(inWords(quotaKeys, q.Key)) }},
		{Key: "value", Title: "Value", Num: true, Order: by(func(q quotaRow) float64 { return q.Value }), Cell: func(q quotaRow) cell { return quotaCell(q) }},
		{Title: "", Cell: func(q quotaRow) cell { return actCell(act{"Change", quotaHref(q), ""}) }},
	},
}

// quotaOf is an entity in words: "user alice, client-id every other".
func quotaOf(e kadm.ClientQuotaEntity) string {
	parts := make([]string, 0, len(e))
	for _, kind := range quotaEntities {
		for _, c := range e {
			if c.Type == kind {
				parts = append(parts, kind+" "+quotaName(c.Name))
			}
		}
	}
	return strings.Join(parts, ", ")
}

func quotaName(name *string) string {
	if name == nil {
		return "every other (default)"
	}
	return shownName(*name)
}

func quotaCell(q quotaRow) cell {
	if strings.HasSuffix(q.Key, "byte_rate") && q.Value >= 0 && q.Value < 1<<62 {
		return sizeCell(int64(q.Value)).with(badge{"/s", "", strconv.FormatFloat(q.Value, 'f', -1, 64) + " bytes a second"})
	}
	return textCell(strconv.FormatFloat(q.Value, 'f', -1, 64))
}

// quotaHref is the form of one quota.
func quotaHref(q quotaRow) string {
	pairs := []string{"key", q.Key, "value", strconv.FormatFloat(q.Value, 'f', -1, 64)}
	for _, c := range q.Entity {
		if c.Name == nil {
			pairs = append(pairs, c.Type+"-is", "default")
		} else {
			pairs = append(pairs, c.Type+"-is", "named", c.Type, *c.Name)
		}
	}
	return withQuery("/security/quotas/edit", pairs...)
}

// quotaView is the dot of the form of a quota.
type quotaView struct {
	Parts      []quotaPart
	Keys       []choice
	Key, Value string
	There      bool // it is set: it can be taken away
	Wrong      string
}

// quotaPart is one kind of entity in the form.
type quotaPart struct{ Kind, Is, Name string }

func newQuotaView(get func(string) string) quotaView {
	view := quotaView{Keys: quotaKeys, Key: get("key"), Value: get("value")}
	for _, kind := range quotaEntities {
		view.Parts = append(view.Parts, quotaPart{kind, get(kind + "-is"), clip(get(kind), maxText)})
	}
	return view
}

func askQuota(r *request) (answer, error) {
	view := newQuotaView(r.query)
	view.There = view.Value != ""
	return securityDialog("quota-edit", "Set a quota", view, 0), nil
}

func setQuota(r *request) (answer, error) {
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	view := newQuotaView(f.text)
	entry, err := view.entry(f.text("do") == "remove")
	if err == nil {
		err = r.alterQuota(entry)
	}
	if err != nil {
		view.Wrong, view.There = asProblem(err).Message, true
		return securityDialog("quota-edit", "Set a quota", view, wrongForm), nil
	}
	did := "Set "
	if entry.Ops[0].Remove {
		did = "Removed "
	}
	return done{To: "/security/quotas", Toast: clip(did+view.Key+" of "+quotaOf(entry.Entity), 400)}, nil
}

// entry is what the form says to Kafka.
func (v quotaView) entry(remove bool) (kadm.AlterClientQuotaEntry, error) {
	var entry kadm.AlterClientQuotaEntry
	for _, p := range v.Parts {
		switch p.Is {
		case "named":
			entry.Entity = append(entry.Entity, kadm.ClientQuotaEntityComponent{Type: p.Kind, Name: &p.Name})
		case "default":
			entry.Entity = append(entry.Entity, kadm.ClientQuotaEntityComponent{Type: p.Kind})
		}
	}
	if len(entry.Entity) == 0 {
		return entry, badRequest("Say of whom the quota is: a user, a client id, both, or an address")
	}
	if !slices.ContainsFunc(quotaKeys, func(c choice) bool { return c.Value == v.Key }) {
		return entry, badRequest("There is no quota %s", clip(v.Key, 40))
	}
	op := kadm.AlterClientQuotaOp{Key: v.Key, Remove: remove}
	if !remove {
		n, err := strconv.ParseFloat(strings.TrimSpace(v.Value), 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n <= 0 {
			return entry, badRequest("The value is %q: give a number above 0", clip(v.Value, 40))
		}
		op.Value = n
	}
	entry.Ops = append(entry.Ops, op)
	return entry, nil
}

func (r *request) alterQuota(entry kadm.AlterClientQuotaEntry) error {
	answered, err := r.c.kafka.admin.AlterClientQuotas(r.Context(), []kadm.AlterClientQuotaEntry{entry})
	if err != nil {
		return fmt.Errorf("alter quotas: %w", err)
	}
	for _, a := range answered {
		if a.Err != nil {
			return withWords(a.Err, a.ErrMessage)
		}
	}
	return nil
}
