package handlers

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// Any AlterClientQuotas is answered entity by entity; what it sets is described again, and makes a state that holds; any filter is
// answered.
func FuzzClientQuotas(f *testing.F) {
	alter := kmsg.NewPtrAlterClientQuotasRequest()
	alter.Version = 1
	name := "alice"
	alter.Entries = []kmsg.AlterClientQuotasRequestEntry{{
		Entity: []kmsg.AlterClientQuotasRequestEntryEntity{{Type: "user", Name: &name}, {Type: "client-id"}},
		Ops:    []kmsg.AlterClientQuotasRequestEntryOp{{Key: producerByteRate, Value: 5}, {Key: requestPercentage, Remove: true}},
	}}
	describe := kmsg.NewPtrDescribeClientQuotasRequest()
	describe.Version = 1
	describe.Components = []kmsg.DescribeClientQuotasRequestComponent{{EntityType: "user", Match: &name}}
	f.Add(alter.AppendTo(nil), describe.AppendTo(nil))
	f.Add([]byte{0, 0, 0}, []byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, alteration, filter []byte) {
		state := projections.New()
		req := kmsg.NewPtrAlterClientQuotasRequest()
		req.Version = 1
		if req.ReadFrom(alteration) == nil && len(req.Entries) < 100 {
			for _, a := range quotaAlterations(req) {
				e := &journal.ClientQuotasAltered{Entity: projections.QuotaParts(a.entity), Set: a.set}
				if len(a.set) > 0 {
					if err := state.Apply(1, 0, e); err != nil {
						t.Fatal(err)
					}
				}
				a.answer()
			}
			if err := state.Check(); err != nil {
				t.Fatal(err)
			}
		}
		ask := kmsg.NewPtrDescribeClientQuotasRequest()
		ask.Version = 1
		if ask.ReadFrom(filter) != nil {
			return
		}
		if passing, no := quotaFilterOf(ask); no == nil {
			state.Quotas.Each(func(c projections.ClientQuota) bool {
				passing.passes(c.QuotaEntity)
				return true
			})
		}
	})
}
