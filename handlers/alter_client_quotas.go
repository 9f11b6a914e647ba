package handlers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
	"doze/quotas"
	"doze/wire"
)

// AlterClientQuotas (key 49), v0-v1: sets and removes what clients may use (KIP-546, KIP-612). v1 is flexible.
//
// An entity is an address, or a user, a client id or both, each by name or the default (a null name). Entities succeed and fail
// one by one; what succeeds is one entry of the journal. As in Kafka an entity that stands twice is refused though its first
// mention is carried out, and one whose key stands twice is refused with the same text.
//
// Operation ALTER_CONFIGS on the cluster.
//
//fuzz:parser class=body FuzzClientQuotas
func (b *Broker) alterClientQuotas(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.AlterClientQuotasRequest)
	alterations := quotaAlterations(req)
	var whole *refusal
	err := b.decide(ctx, r, req.ValidateOnly, func(tx *tx) {
		if whole = decideAlterQuotas(tx, alterations); whole != nil {
			tx.Drop()
		}
	})
	resp := respond[*kmsg.AlterClientQuotasResponse](r)
	resp.Entries = []kmsg.AlterClientQuotasResponseEntry{}
	for _, a := range alterations {
		switch {
		case whole != nil:
			a.no = whole
		case err != nil && a.no == nil:
			a.no = storageRefusal(err)
		}
		resp.Entries = append(resp.Entries, a.answer())
	}
	return resp, nil
}

// quotaAlteration is what a request does to one entity; no says why nothing is done, or that it stood twice.
type quotaAlteration struct {
	parts   []quotaPart
	entity  projections.QuotaEntity
	set     []journal.QuotaValue
	removed []string
	no      *refusal
}

// quotaPart is a part of an entity as a client sent it; no name stands for the default.
type quotaPart struct {
	kind string
	name *string
}

func (a *quotaAlteration) answer() kmsg.AlterClientQuotasResponseEntry {
	e := kmsg.NewAlterClientQuotasResponseEntry()
	if a.no != nil {
		e.ErrorCode, e.ErrorMessage = a.no.code, a.no.message
	}
	for _, p := range a.parts {
		part := kmsg.NewAlterClientQuotasResponseEntryEntity()
		part.Type, part.Name = p.kind, p.name
		e.Entity = append(e.Entity, part)
	}
	return e
}

// quotaAlterations reads a request: each entity once, checked as far as that needs no state.
func quotaAlterations(req *kmsg.AlterClientQuotasRequest) (list []*quotaAlteration) {
	known := map[string]*quotaAlteration{}
	for _, entry := range req.Entries {
		parts := quotaParts(entry.Entity)
		name := quotaEntityText(parts)
		a, again := known[name]
		if !again {
			a = &quotaAlteration{parts: parts}
			known[name], list = a, append(list, a)
		}
		if again || repeatsKey(entry.Ops) {
			a.no = refuse(invalidRequest, "Ignoring duplicate entity "+name)
			continue
		}
		if a.no = checkQuotaEntity(a); a.no == nil {
			a.no = a.read(entry.Ops)
		}
	}
	return list
}

// quotaParts are the parts of an entity by type; of one that stands twice the last counts. A request may name as many types as it
// likes, so they are sorted once.
func quotaParts(entity []kmsg.AlterClientQuotasRequestEntryEntity) (parts []quotaPart) {
	sorted := slices.Clone(entity)
	slices.SortStableFunc(sorted, func(a, b kmsg.AlterClientQuotasRequestEntryEntity) int { return strings.Compare(a.Type, b.Type) })
	for i, e := range sorted {
		if i == len(sorted)-1 || sorted[i+1].Type != e.Type {
			parts = append(parts, quotaPart{kind: e.Type, name: e.Name})
		}
	}
	return parts
}

// quotaEntityText is an entity in Kafka's messages.
func quotaEntityText(parts []quotaPart) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.kind + "=null"
		if p.name != nil {
			texts[i] = p.kind + "=" + *p.name
		}
	}
	return "ClientQuotaEntity(entries={" + strings.Join(texts, ", ") + "})"
}

func repeatsKey(ops []kmsg.AlterClientQuotasRequestEntryOp) bool {
	seen := map[string]bool{}
	for _, op := range ops {
		if seen[op.Key] {
			return true
		}
		seen[op.Key] = true
	}
	return false
}

// checkQuotaEntity finds the entity, or says why it is none.
func checkQuotaEntity(a *quotaAlteration) *refusal {
	for _, p := range a.parts {
		at := a.entity.Part(p.kind)
		switch {
		case at == nil:
			return refuse(invalidRequest, "Unhandled client quota entity type: "+p.kind)
		case p.name == nil:
			at.Kind = projections.QuotaDefault
		case *p.name == "":
			return refuse(invalidRequest, "Empty "+p.kind+" not supported")
		case len(*p.name) > maxName:
			return refuse(invalidRequest, "The name of the "+p.kind+" is longer than 4096 bytes.")
		default:
			*at = projections.QuotaName{Kind: projections.QuotaNamed, Name: *p.name}
		}
	}
	ip := a.entity.IP
	switch {
	case len(a.parts) == 0:
		return refuse(invalidRequest, "Invalid empty client quota entity")
	case ip.Kind != projections.QuotaAbsent && len(a.parts) > 1:
		return refuse(invalidRequest, "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId")
	case ip.Kind == projections.QuotaNamed && len(quotas.AddressesOf(ip.Name)) == 0:
		return refuse(invalidRequest, ip.Name+" is not a valid IP or resolvable host.")
	}
	return nil
}

// quotaType is what values a quota takes: any number above 0, or a whole one up to most, in a type that messages name.
type quotaType struct {
	name string // "" for any number
	most float64
}

var (
	userQuotas = map[string]quotaType{
		producerByteRate: {"a LONG", math.MaxInt64}, consumerByteRate: {"a LONG", math.MaxInt64}, requestPercentage: {}, controllerMutationRate: {},
	}
	addressQuotas = map[string]quotaType{connectionCreationRate: {"an INT", math.MaxInt32}}
)

// read takes what is to be done, or says what is wrong with it.
func (a *quotaAlteration) read(ops []kmsg.AlterClientQuotasRequestEntryOp) *refusal {
	keys := userQuotas
	if a.entity.IP.Kind != projections.QuotaAbsent {
		keys = addressQuotas
	}
	for _, op := range ops {
		if op.Remove {
			a.removed = append(a.removed, op.Key)
			continue
		}
		if no := checkQuotaValue(keys, op.Key, op.Value); no != nil {
			a.set, a.removed = nil, nil
			return no
		}
		a.set = append(a.set, journal.QuotaValue{Key: op.Key, Value: strconv.FormatFloat(op.Value, 'g', -1, 64)})
	}
	slices.SortFunc(a.set, func(x, y journal.QuotaValue) int { return strings.Compare(x.Key, y.Key) })
	slices.Sort(a.removed)
	return nil
}

// checkQuotaValue is Kafka's check. What is no number passes it.
func checkQuotaValue(keys map[string]quotaType, key string, value float64) *refusal {
	of, known := keys[key]
	switch {
	case !known:
		return refuse(invalidRequest, "Invalid configuration key "+key)
	case value <= 0:
		return refuse(invalidRequest, "Quota "+key+" must be greater than 0")
	case of.name == "":
		return nil
	case value > of.most:
		return refuse(invalidRequest, "Proposed value for "+key+" is too large for "+of.name+".")
	case math.Abs(math.Mod(value, 1)) > 1e-6:
		return refuse(invalidRequest, key+" cannot be a fractional value.")
	}
	return nil
}

const (
	// maxQuotaBytes bounds all quotas, as the state reckons them.
	maxQuotaBytes = 16 << 20
	// maxQuotaChanges is how many values one request changes, as in Kafka, where each is a record of its metadata log.
	maxQuotaChanges = 10_000
)

// decideAlterQuotas makes the changes that change something, or says why none of them is made.
func decideAlterQuotas(tx *tx, alterations []*quotaAlteration) *refusal {
	changes := 0
	for _, a := range alterations {
		e := &journal.ClientQuotasAltered{Entity: projections.QuotaParts(a.entity)}
		for _, v := range a.set {
			if is, had := tx.State.Quotas.Get(a.entity, v.Key); !had || is != v.Value {
				e.Set = append(e.Set, v)
			}
		}
		for _, key := range a.removed {
			if _, had := tx.State.Quotas.Get(a.entity, key); had {
				e.Removed = append(e.Removed, key)
			}
		}
		if changes += len(e.Set) + len(e.Removed); changes > maxQuotaChanges {
			return refuse(policyViolation, "Request parameters do not satisfy the configured policy.")
		}
		switch {
		case len(e.Set) == 0 && len(e.Removed) == 0:
		case len(e.Set) > 0 && tx.State.Quotas.Bytes() > maxQuotaBytes:
			a.no = refuse(policyViolation, fmt.Sprintf("This broker holds %d bytes of quotas and takes at most %d. Remove some first.",
				tx.State.Quotas.Bytes(), int64(maxQuotaBytes)))
		default:
			tx.Emit(e)
		}
	}
	return nil
}
