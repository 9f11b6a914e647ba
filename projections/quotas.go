package projections

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"doze/journal"
)

// Quotas holds what clients may use (KIP-13, KIP-546, KIP-612), by who it is for and key. What is done with them is not here.
type Quotas struct {
	tree  tree[ClientQuota]
	bytes int64
	// revision is another one after each change, as that of Configs.
	revision *Revision
}

// ClientQuota is one quota of one entity.
type ClientQuota struct {
	QuotaEntity
	Key   string
	Value string // the shortest decimal text of the number
}

// QuotaEntity is who a quota is for: an address; or a user, a client id, or both.
type QuotaEntity struct{ ClientID, IP, User QuotaName }

// QuotaName is one part of an entity; the zero value is one that the entity does not have.
type QuotaName struct {
	Kind QuotaKind
	Name string // of a named one
}

// QuotaKind says what a part of an entity names.
type QuotaKind int8

// What a part of an entity names.
const (
	QuotaAbsent QuotaKind = iota
	QuotaDefault
	QuotaNamed
)

// Types of the parts of an entity, in the order in which they are told.
const (
	QuotaClientID = "client-id"
	QuotaIP       = "ip"
	QuotaUser     = "user"
)

// QuotaTypes lists them.
var QuotaTypes = []string{QuotaClientID, QuotaIP, QuotaUser}

// Part gives the part of a type; nil for an unknown type.
func (e *QuotaEntity) Part(kind string) *QuotaName {
	switch kind {
	case QuotaClientID:
		return &e.ClientID
	case QuotaIP:
		return &e.IP
	case QuotaUser:
		return &e.User
	}
	return nil
}

func (n QuotaName) compare(o QuotaName) int {
	return cmp.Or(cmp.Compare(n.Kind, o.Kind), strings.Compare(n.Name, o.Name))
}

func (e QuotaEntity) compare(o QuotaEntity) int {
	return cmp.Or(e.User.compare(o.User), e.ClientID.compare(o.ClientID), e.IP.compare(o.IP))
}

func newQuotas() Quotas {
	return Quotas{revision: new(Revision), tree: newTree(func(a, b ClientQuota) bool {
		return cmp.Or(a.compare(b.QuotaEntity), strings.Compare(a.Key, b.Key)) < 0
	})}
}

func (q *Quotas) clone() Quotas { return Quotas{q.tree.clone(), q.bytes, q.revision} }

// Revision differs between two states of one process whose quotas differ.
func (q Quotas) Revision() *Revision { return q.revision }

// Len is how many quotas there are.
func (q Quotas) Len() int { return q.tree.Len() }

// Bytes is what all quotas are reckoned to take.
func (q Quotas) Bytes() int64 { return q.bytes }

// Get is the value of one quota.
func (q Quotas) Get(entity QuotaEntity, key string) (value string, set bool) {
	row, set := q.tree.Get(ClientQuota{QuotaEntity: entity, Key: key})
	return row.Value, set
}

// Each yields all quotas; those of one entity come together.
func (q Quotas) Each(yield func(ClientQuota) bool) { q.tree.Ascend(yield) }

// Bytes is what the quota is reckoned to take.
func (c ClientQuota) Bytes() int64 {
	return quotaBytes + int64(len(c.ClientID.Name)+len(c.IP.Name)+len(c.User.Name)+len(c.Key)+len(c.Value))
}

const quotaBytes = 192

func (q *Quotas) put(row ClientQuota) {
	if old, had := q.tree.ReplaceOrInsert(row); had {
		q.bytes -= old.Bytes()
	}
	q.bytes += row.Bytes()
	q.revision = new(Revision)
}

func (q *Quotas) remove(entity QuotaEntity, key string) {
	if old, had := q.tree.Delete(ClientQuota{QuotaEntity: entity, Key: key}); had {
		q.bytes -= old.Bytes()
	}
	q.revision = new(Revision)
}

// QuotaParts are the parts of an entity as an event has them.
func QuotaParts(e QuotaEntity) (parts []journal.QuotaPart) {
	for _, kind := range QuotaTypes {
		if p := e.Part(kind); p.Kind != QuotaAbsent {
			parts = append(parts, journal.QuotaPart{Type: kind, Name: p.Name, Default: p.Kind == QuotaDefault})
		}
	}
	return parts
}

func quotaEntityOf(parts []journal.QuotaPart) (e QuotaEntity, err error) {
	for _, p := range parts {
		at := e.Part(p.Type)
		if at == nil || at.Kind != QuotaAbsent {
			return e, fmt.Errorf("a quota of %v", parts)
		}
		*at = QuotaName{QuotaNamed, p.Name}
		if p.Default {
			at.Kind = QuotaDefault
		}
	}
	return e, e.check()
}

// check says whether there is such an entity.
func (e QuotaEntity) check() error {
	for _, p := range []QuotaName{e.User, e.ClientID, e.IP} {
		if p.Kind < QuotaAbsent || p.Kind > QuotaNamed || (p.Kind == QuotaNamed) != (p.Name != "") {
			return fmt.Errorf("quota of an entity with a part %d:%q", p.Kind, p.Name)
		}
	}
	alone := e.IP.Kind != QuotaAbsent
	if both := e.User.Kind != QuotaAbsent || e.ClientID.Kind != QuotaAbsent; alone == both {
		return fmt.Errorf("quota of user %v, client id %v and ip %v", e.User, e.ClientID, e.IP)
	}
	return nil
}

func (s *State) applyClientQuotasAltered(e *journal.ClientQuotasAltered) error {
	entity, err := quotaEntityOf(e.Entity)
	if err != nil {
		return err
	}
	for _, key := range e.Removed {
		s.Quotas.remove(entity, key)
	}
	for _, v := range e.Set {
		s.Quotas.put(ClientQuota{entity, v.Key, v.Value})
	}
	return nil
}

func (n QuotaName) encode(w *rowWriter) {
	w.uint(uint64(n.Kind))
	if n.Kind == QuotaNamed {
		w.string(n.Name)
	}
}

func (r *rowReader) quotaName() (n QuotaName) {
	n.Kind = QuotaKind(r.int8OfSmall())
	if n.Kind == QuotaNamed {
		n.Name = r.string()
	}
	return n
}

// int8OfSmall reads an unsigned number that fits an int8.
func (r *rowReader) int8OfSmall() int8 {
	v := r.small()
	if v > 127 {
		r.fail(errRowForm)
	}
	return int8(v)
}

func (c ClientQuota) encode(w *rowWriter) {
	c.User.encode(w)
	c.ClientID.encode(w)
	c.IP.encode(w)
	w.string(c.Key)
	w.string(c.Value)
}

// Fields shows the entity as "user=alice", "client-id=<default>".
func (c ClientQuota) Fields() []Field {
	return []Field{{"entity", c.QuotaEntity.Texts()}, {"quota", c.Key}, {"value", c.Value}}
}

// Texts shows the parts of an entity, by type.
func (e QuotaEntity) Texts() (parts []string) {
	for _, kind := range QuotaTypes {
		switch p := e.Part(kind); p.Kind {
		case QuotaDefault:
			parts = append(parts, kind+"=<default>")
		case QuotaNamed:
			parts = append(parts, kind+"="+p.Name)
		}
	}
	return parts
}

func eachClientQuota(s *State, yield func(row) bool) {
	s.Quotas.Each(func(c ClientQuota) bool { return yield(c) })
}

func loadClientQuota(s *State, r *rowReader) {
	c := ClientQuota{Key: ""}
	c.User, c.ClientID, c.IP = r.quotaName(), r.quotaName(), r.quotaName()
	c.Key, c.Value = r.string(), r.string()
	if err := c.QuotaEntity.check(); err != nil {
		r.fail(err)
		return
	}
	s.Quotas.put(c)
}

// quotaKeys are those of users and client ids, and of addresses.
var quotaKeys = [2][]string{
	{"consumer_byte_rate", "controller_mutation_rate", "producer_byte_rate", "request_percentage"}, {"connection_creation_rate"},
}

func (s *State) checkQuotas() (err error) {
	bytes := int64(0)
	s.Quotas.Each(func(c ClientQuota) bool {
		bytes += c.Bytes()
		keys := quotaKeys[0]
		if c.IP.Kind != QuotaAbsent {
			keys = quotaKeys[1]
		}
		switch {
		case !slices.Contains(keys, c.Key) || c.Value == "" || c.Value[0] == '-':
			err = fmt.Errorf("quota %s=%q of %v", c.Key, c.Value, c.QuotaEntity.Texts())
		default:
			err = c.QuotaEntity.check()
		}
		return err == nil
	})
	if err == nil && bytes != s.Quotas.bytes {
		err = fmt.Errorf("quotas take %d bytes, counted %d", bytes, s.Quotas.bytes)
	}
	return err
}
