package projections

import (
	"slices"
	"strings"
	"testing"

	"doze/journal"
)

var quotaEvents = []journal.Event{
	&journal.ClientQuotasAltered{
		Entity: []journal.QuotaPart{{Type: "user", Name: "alice"}},
		Set:    []journal.QuotaValue{{Key: "consumer_byte_rate", Value: "7"}, {Key: "producer_byte_rate", Value: "1e+06"}},
	},
	&journal.ClientQuotasAltered{
		Entity: []journal.QuotaPart{{Type: "client-id", Default: true}, {Type: "user", Name: "alice"}},
		Set:    []journal.QuotaValue{{Key: "request_percentage", Value: "12.5"}},
	},
	&journal.ClientQuotasAltered{
		Entity: []journal.QuotaPart{{Type: "ip", Default: true}}, Set: []journal.QuotaValue{{Key: "connection_creation_rate", Value: "5"}},
	},
	&journal.ClientQuotasAltered{
		Entity: []journal.QuotaPart{{Type: "user", Name: "alice"}}, Removed: []string{"consumer_byte_rate"},
		Set: []journal.QuotaValue{{Key: "producer_byte_rate", Value: "2e+06"}},
	},
}

func TestQuotasAreFolded(t *testing.T) {
	s := New()
	apply(t, s, quotaEvents...)
	var rows []string
	s.Dump("quotas", func(fields []Field) bool {
		rows = append(rows, strings.Join(fields[0].Value.([]string), " ")+": "+fields[1].Value.(string)+"="+fields[2].Value.(string))
		return true
	})
	want := []string{
		"ip=<default>: connection_creation_rate=5", "user=alice: producer_byte_rate=2e+06", "client-id=<default> user=alice: request_percentage=12.5",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("rows are %q, want %q", rows, want)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestQuotasOfNobodyAreRefused(t *testing.T) {
	for _, parts := range [][]journal.QuotaPart{
		nil, {{Type: "group", Name: "g"}}, {{Type: "user"}}, {{Type: "user", Name: "a", Default: true}},
		{{Type: "ip", Default: true}, {Type: "user", Default: true}}, {{Type: "user", Name: "a"}, {Type: "user", Name: "b"}},
	} {
		e := &journal.ClientQuotasAltered{Entity: parts, Set: []journal.QuotaValue{{Key: "producer_byte_rate", Value: "1"}}}
		if err := New().Apply(1, 0, e); err == nil {
			t.Errorf("%v is taken", parts)
		}
	}
}

func TestBadQuotasAreFound(t *testing.T) {
	named := QuotaName{QuotaNamed, "a"}
	for name, c := range map[string]ClientQuota{
		"an unknown key":          {QuotaEntity{User: named}, "x", "1"},
		"a user's key of an ip":   {QuotaEntity{IP: named}, "producer_byte_rate", "1"},
		"no value":                {QuotaEntity{User: named}, "producer_byte_rate", ""},
		"a negative value":        {QuotaEntity{User: named}, "producer_byte_rate", "-1"},
		"an address beside":       {QuotaEntity{User: named, IP: named}, "connection_creation_rate", "1"},
		"a name without a letter": {QuotaEntity{User: QuotaName{Kind: QuotaNamed}}, "producer_byte_rate", "1"},
	} {
		s := New()
		s.Quotas.put(c)
		if s.Check() == nil {
			t.Errorf("%s is not found", name)
		}
	}
	s := furnished(t)
	s.Quotas.bytes++
	if s.Check() == nil {
		t.Error("a wrong count of bytes is not found")
	}
}
