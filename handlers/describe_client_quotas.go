package handlers

import (
	"context"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// DescribeClientQuotas (key 48), v0-v1: the quotas of the entities that a filter lets through (KIP-546). v1 is flexible.
//
// A filter's parts each name a type and match a name, the default, or any; an entity passes that has all of them, and no others
// when the filter is strict. Entities come in the order of user, client id and address, where Kafka walks a hash map.
//
// Operation DESCRIBE_CONFIGS on the cluster.
//
//fuzz:parser class=body FuzzClientQuotas
func (b *Broker) describeClientQuotas(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DescribeClientQuotasRequest)
	resp := respond[*kmsg.DescribeClientQuotasResponse](r)
	filter, no := quotaFilterOf(req)
	if no != nil {
		resp.ErrorCode, resp.ErrorMessage = no.code, no.message
		return resp, nil // the entries are null
	}
	resp.ErrorMessage = text("") // where others send null
	resp.Entries = []kmsg.DescribeClientQuotasResponseEntry{}
	state, _ := b.view()
	var last projections.QuotaEntity
	state.Quotas.Each(func(q projections.ClientQuota) bool {
		if !filter.passes(q.QuotaEntity) {
			return true
		}
		if len(resp.Entries) == 0 || last != q.QuotaEntity {
			last = q.QuotaEntity
			resp.Entries = append(resp.Entries, describedQuotaEntity(q.QuotaEntity))
		}
		entry := &resp.Entries[len(resp.Entries)-1]
		value := kmsg.NewDescribeClientQuotasResponseEntryValue()
		value.Key, value.Value = q.Key, quotaNumber(q.Value)
		entry.Values = append(entry.Values, value)
		return true
	})
	return resp, nil
}

// quotaNumber is the number of a quota, which was one when it was set.
func quotaNumber(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64)
	return n
}

func describedQuotaEntity(e projections.QuotaEntity) kmsg.DescribeClientQuotasResponseEntry {
	entry := kmsg.NewDescribeClientQuotasResponseEntry()
	for _, p := range projections.QuotaParts(e) {
		part := kmsg.NewDescribeClientQuotasResponseEntryEntity()
		part.Type = p.Type
		if !p.Default {
			part.Name = text(p.Name)
		}
		entry.Entity = append(entry.Entity, part)
	}
	return entry
}

// quotaFilter holds what each part must be; one of kind absent may be any that is there.
type quotaFilter struct {
	parts  map[string]projections.QuotaName
	strict bool
}

// Kinds of match.
const (
	matchExact   = 0
	matchDefault = 1
	matchAny     = 2
)

// quotaFilterOf reads a filter, or says what is wrong with it.
func quotaFilterOf(req *kmsg.DescribeClientQuotasRequest) (quotaFilter, *refusal) {
	f := quotaFilter{parts: map[string]projections.QuotaName{}, strict: req.Strict}
	for _, c := range req.Components {
		_, again := f.parts[c.EntityType]
		switch {
		case c.EntityType == "":
			return f, refuse(invalidRequest, "Invalid empty entity type.")
		case again:
			return f, refuse(invalidRequest, "Entity type "+c.EntityType+" cannot appear more than once in the filter.")
		case new(projections.QuotaEntity).Part(c.EntityType) == nil:
			return f, refuse(unsupportedVersion, "Unsupported entity type "+c.EntityType)
		}
		wanted, no := quotaMatch(int8(c.MatchType), c.Match)
		if no != nil {
			return f, no
		}
		f.parts[c.EntityType] = wanted
	}
	if _, ip := f.parts[projections.QuotaIP]; ip && len(f.parts) > 1 {
		return f, refuse(invalidRequest, "Invalid entity filter component combination. IP filter component should not be used with user or clientId filter component.")
	}
	return f, nil
}

func quotaMatch(how int8, name *string) (projections.QuotaName, *refusal) {
	switch {
	case how == matchExact && name == nil:
		return projections.QuotaName{}, refuse(invalidRequest, "Request specified MATCH_TYPE_EXACT, but set match string to null.")
	case how == matchExact:
		return projections.QuotaName{Kind: projections.QuotaNamed, Name: *name}, nil
	case how == matchDefault && name != nil:
		return projections.QuotaName{}, refuse(invalidRequest, "Request specified MATCH_TYPE_DEFAULT, but also specified a match string.")
	case how == matchDefault:
		return projections.QuotaName{Kind: projections.QuotaDefault}, nil
	case how == matchAny && name != nil:
		return projections.QuotaName{}, refuse(invalidRequest, "Request specified MATCH_TYPE_SPECIFIED, but also specified a match string.")
	case how == matchAny:
		return projections.QuotaName{}, nil
	}
	return projections.QuotaName{}, refuse(invalidRequest, fmt.Sprintf("Unknown match type %d", how))
}

func (f quotaFilter) passes(e projections.QuotaEntity) bool {
	for _, kind := range projections.QuotaTypes {
		is := *e.Part(kind)
		wanted, asked := f.parts[kind]
		there := is.Kind != projections.QuotaAbsent
		switch {
		case asked && !there, !asked && there && f.strict:
			return false
		case asked && wanted.Kind != projections.QuotaAbsent && is != wanted:
			return false
		}
	}
	return true
}
