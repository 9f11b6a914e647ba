package conformance

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// quotaScenarios show how quotas are set and described; scenarios_throttle.go shows what they do.
func quotaScenarios() []Scenario {
	list := []Scenario{
		{
			Name:  "client-quotas-entities",
			Claim: "Quotas are set for each of the ten kinds of entity: a user, a client id, both, a default in place of either, an address and the default address; those of one are described together; the same value again and the removal of what is not set are no errors.",
			Run:   runClientQuotasEntities,
		},
		{
			Name:  "client-quotas-filters",
			Claim: "DescribeClientQuotas takes parts that match a name, the default or any; strict asks for entities of just these parts; no part describes all, or with strict none.",
			Run:   runClientQuotasFilters,
		},
		{
			Name:  "client-quotas-filter-refusals",
			Claim: "A filter with an empty or repeated type is INVALID_REQUEST, with an unknown one UNSUPPORTED_VERSION, with a match that does not go with its kind INVALID_REQUEST, and so is an address beside a user or a client id.",
			Run:   runClientQuotasFilterRefusals,
		},
		{
			Name:  "client-quotas-refusals",
			Claim: "AlterClientQuotas refuses, entity by entity and with a text: no part, an unknown type, an empty name, an address beside a user, what is no address, a key that the entity does not have, what is not above 0, fractions and too large values of whole numbers. What is right beside it is changed.",
			Run:   runClientQuotasRefusals,
		},
		{
			Name:  "client-quotas-duplicates",
			Claim: "A key that stands twice refuses its entity; an entity that stands twice is INVALID_REQUEST though its first mention is carried out; of a part that stands twice the last counts.",
			Run:   runClientQuotasDuplicates,
		},
		{
			Name:  "client-quotas-validate-only",
			Claim: "AlterClientQuotas that only validates answers as the change would be, and changes nothing.",
			Run:   runClientQuotasValidateOnly,
		},
		{
			Name:  "client-quotas-values",
			Claim: "request_percentage and controller_mutation_rate take fractions, infinity and even not-a-number; byte rates take whole numbers up to 2^63; all come back as they were.",
			Run:   runClientQuotasValues,
		},
		{
			Name:  "client-quotas-restart",
			Claim: "Quotas survive a restart and a kill.",
			Run:   runClientQuotasRestart,
		},
	}
	for i := range list {
		list[i].Fresh, list[i].Part = true, 3
	}
	return list
}

// defaultName stands for the default in an entity of a script: the null name.
const defaultName = "<default>"

// quotaEntity is type, name, type, name.
func quotaEntity(parts ...string) (entity []kmsg.AlterClientQuotasRequestEntryEntity) {
	for i := 0; i+1 < len(parts); i += 2 {
		part := kmsg.NewAlterClientQuotasRequestEntryEntity()
		part.Type = parts[i]
		if parts[i+1] != defaultName {
			part.Name = kmsg.StringPtr(parts[i+1])
		}
		entity = append(entity, part)
	}
	return entity
}

func setQuota(key string, value float64) kmsg.AlterClientQuotasRequestEntryOp {
	return kmsg.AlterClientQuotasRequestEntryOp{Key: key, Value: value}
}

func removeQuota(key string) kmsg.AlterClientQuotasRequestEntryOp {
	return kmsg.AlterClientQuotasRequestEntryOp{Key: key, Remove: true}
}

func quotaEntry(entity []kmsg.AlterClientQuotasRequestEntryEntity, ops ...kmsg.AlterClientQuotasRequestEntryOp) kmsg.AlterClientQuotasRequestEntry {
	e := kmsg.NewAlterClientQuotasRequestEntry()
	e.Entity, e.Ops = entity, ops
	return e
}

func alterQuotas(entries ...kmsg.AlterClientQuotasRequestEntry) *kmsg.AlterClientQuotasRequest {
	req := kmsg.NewPtrAlterClientQuotasRequest()
	req.Entries = entries
	return req
}

// Kinds of match in a filter.
const (
	matchExact   = 0
	matchDefault = 1
	matchAny     = 2
)

func quotaPart(kind string, match int8, name ...string) kmsg.DescribeClientQuotasRequestComponent {
	c := kmsg.NewDescribeClientQuotasRequestComponent()
	c.EntityType, c.MatchType = kind, kmsg.QuotasMatchType(match)
	if len(name) > 0 {
		c.Match = kmsg.StringPtr(name[0])
	}
	return c
}

func describeQuotas(strict bool, parts ...kmsg.DescribeClientQuotasRequestComponent) *kmsg.DescribeClientQuotasRequest {
	req := kmsg.NewPtrDescribeClientQuotasRequest()
	req.Strict, req.Components = strict, parts
	return req
}

// awaitQuotas waits until as many entities are described, and a moment longer for the broker's parts that act on quotas.
func (n *Conn) awaitQuotas(step string, entities int) {
	AskUntil(n, step, 1, describeQuotas(false), func(r *kmsg.DescribeClientQuotasResponse) bool { return len(r.Entries) == entities })
	time.Sleep(300 * time.Millisecond)
}

var tenEntities = [][]string{
	{"user", "alice"}, {"user", defaultName}, {"client-id", "app"}, {"client-id", defaultName},
	{"user", "alice", "client-id", "app"}, {"user", "alice", "client-id", defaultName},
	{"user", defaultName, "client-id", "app"}, {"client-id", defaultName, "user", defaultName},
	{"ip", "127.0.0.9"}, {"ip", defaultName},
}

func keyOf(entity []string) string {
	if entity[0] == "ip" {
		return "connection_creation_rate"
	}
	return "producer_byte_rate"
}

// setAllQuotas sets one quota on each kind of entity.
func (n *Conn) setAllQuotas(version int16) {
	for i, e := range tenEntities {
		n.Do("set "+strings.Join(e, " "), version, alterQuotas(quotaEntry(quotaEntity(e...), setQuota(keyOf(e), float64(1000+i)))))
	}
	n.awaitQuotas("all", len(tenEntities))
}

func runClientQuotasEntities(c *C) {
	a := c.Conn("a")
	a.Do("none at first", 0, describeQuotas(false))
	a.setAllQuotas(0)
	a.Do("all, v0", 0, describeQuotas(false))
	alice := quotaEntity("user", "alice")
	a.Do("more of alice, v1", 1, alterQuotas(quotaEntry(alice, setQuota("consumer_byte_rate", 5), setQuota("request_percentage", 12.5),
		setQuota("controller_mutation_rate", 0.25))))
	AskUntil(a, "alice", 1, describeQuotas(true, quotaPart("user", matchExact, "alice")), func(r *kmsg.DescribeClientQuotasResponse) bool {
		return len(r.Entries) == 1 && len(r.Entries[0].Values) == 4
	})
	a.Do("the same again", 1, alterQuotas(quotaEntry(alice, setQuota("consumer_byte_rate", 5))))
	a.Do("remove one and change one", 1, alterQuotas(quotaEntry(alice, removeQuota("consumer_byte_rate"), setQuota("request_percentage", 13))))
	a.Do("remove it again", 1, alterQuotas(quotaEntry(alice, removeQuota("consumer_byte_rate"))))
	a.Do("remove what the entity cannot have", 1, alterQuotas(quotaEntry(alice, removeQuota("nonsense"))))
	a.Do("remove of one that is not there", 1, alterQuotas(quotaEntry(quotaEntity("user", "nobody"), removeQuota("producer_byte_rate"))))
	a.Do("no change", 1, alterQuotas(quotaEntry(alice)))
	a.Do("no entity", 1, alterQuotas())
	AskUntil(a, "alice then", 1, describeQuotas(true, quotaPart("user", matchExact, "alice")), func(r *kmsg.DescribeClientQuotasResponse) bool {
		return len(r.Entries) == 1 && len(r.Entries[0].Values) == 3
	})
	var entries []kmsg.AlterClientQuotasRequestEntry
	for _, e := range tenEntities {
		entries = append(entries, quotaEntry(quotaEntity(e...), removeQuota(keyOf(e))))
	}
	a.Do("remove all", 1, alterQuotas(entries...))
	a.awaitQuotas("what alice has left", 1)
}

func runClientQuotasFilters(c *C) {
	a := c.Conn("a")
	a.setAllQuotas(1)
	for _, strict := range []bool{false, true} {
		ask := func(step string, parts ...kmsg.DescribeClientQuotasRequestComponent) {
			a.Do(fmt.Sprintf("strict %t: %s", strict, step), 1, describeQuotas(strict, parts...))
		}
		ask("nothing")
		for _, kind := range []string{"user", "client-id", "ip"} {
			ask(kind+" any", quotaPart(kind, matchAny))
			ask(kind+" default", quotaPart(kind, matchDefault))
		}
		ask("user alice", quotaPart("user", matchExact, "alice"))
		ask("user bob", quotaPart("user", matchExact, "bob"))
		ask("user of an empty name", quotaPart("user", matchExact, ""))
		ask("client-id app", quotaPart("client-id", matchExact, "app"))
		ask("ip 127.0.0.9", quotaPart("ip", matchExact, "127.0.0.9"))
		ask("user and client-id any", quotaPart("user", matchAny), quotaPart("client-id", matchAny))
		ask("user alice, client-id any", quotaPart("user", matchExact, "alice"), quotaPart("client-id", matchAny))
		ask("user alice, client-id default", quotaPart("user", matchExact, "alice"), quotaPart("client-id", matchDefault))
		ask("user any, client-id app", quotaPart("client-id", matchExact, "app"), quotaPart("user", matchAny))
	}
	a.Do("v0", 0, describeQuotas(true, quotaPart("client-id", matchAny)))
}

func runClientQuotasFilterRefusals(c *C) {
	a := c.Conn("a")
	for v := int16(0); v <= 1; v++ {
		ask := func(step string, parts ...kmsg.DescribeClientQuotasRequestComponent) {
			a.Do(vn(v)+": "+step, v, describeQuotas(false, parts...))
		}
		ask("an empty type", quotaPart("", matchAny))
		ask("an unknown type", quotaPart("group", matchAny))
		ask("a type in other case", quotaPart("User", matchAny))
		ask("a type twice", quotaPart("user", matchAny), quotaPart("user", matchDefault))
		ask("an unknown type twice", quotaPart("group", matchAny), quotaPart("group", matchAny))
		ask("exact without a name", quotaPart("user", matchExact))
		ask("default with a name", quotaPart("user", matchDefault, "alice"))
		ask("any with a name", quotaPart("user", matchAny, "alice"))
		ask("an unknown match", quotaPart("user", 3))
		ask("a negative match", quotaPart("user", -1, "alice"))
		ask("ip and user", quotaPart("ip", matchAny), quotaPart("user", matchAny))
		ask("client-id and ip", quotaPart("client-id", matchAny), quotaPart("ip", matchDefault))
		ask("ip, user and an unknown type", quotaPart("ip", matchAny), quotaPart("user", matchAny), quotaPart("group", matchAny))
	}
}

func runClientQuotasRefusals(c *C) {
	a := c.Conn("a")
	rate := setQuota("producer_byte_rate", 1000)
	alice := quotaEntity("user", "alice")
	for v := int16(0); v <= 1; v++ {
		ask := func(step string, entries ...kmsg.AlterClientQuotasRequestEntry) {
			a.Do(vn(v)+": "+step, v, alterQuotas(entries...))
		}
		ask("no part", quotaEntry(nil, rate))
		ask("an unknown type", quotaEntry(quotaEntity("group", "g"), rate))
		ask("an empty type", quotaEntry(quotaEntity("", "g"), rate))
		ask("an empty user", quotaEntry(quotaEntity("user", ""), rate))
		ask("an empty client-id", quotaEntry(quotaEntity("client-id", ""), rate))
		ask("an empty ip", quotaEntry(quotaEntity("ip", ""), setQuota("connection_creation_rate", 5)))
		ask("ip and user", quotaEntry(quotaEntity("ip", "127.0.0.9", "user", "alice"), rate))
		ask("ip and client-id", quotaEntry(quotaEntity("ip", defaultName, "client-id", "app"), rate))
		ask("no address", quotaEntry(quotaEntity("ip", "1.2.3.4.5"), setQuota("connection_creation_rate", 5)))
		ask("an unknown key", quotaEntry(alice, setQuota("nonsense", 5)))
		ask("an empty key", quotaEntry(alice, setQuota("", 5)))
		ask("a user's key of an ip", quotaEntry(quotaEntity("ip", "127.0.0.9"), rate))
		ask("an ip's key of a user", quotaEntry(alice, setQuota("connection_creation_rate", 5)))
		ask("a scram key", quotaEntry(alice, setQuota("SCRAM-SHA-256", 5)))
		ask("zero", quotaEntry(alice, setQuota("producer_byte_rate", 0)))
		ask("negative", quotaEntry(alice, setQuota("consumer_byte_rate", -1)))
		ask("negative infinity", quotaEntry(alice, setQuota("request_percentage", math.Inf(-1))))
		ask("a negative address rate", quotaEntry(quotaEntity("ip", "127.0.0.9"), setQuota("connection_creation_rate", -1)))
		ask("a fraction of a byte", quotaEntry(alice, setQuota("producer_byte_rate", 1.5)))
		ask("a tiny fraction of a byte", quotaEntry(alice, setQuota("producer_byte_rate", 0.0000001)))
		ask("a fraction of a connection", quotaEntry(quotaEntity("ip", "127.0.0.9"), setQuota("connection_creation_rate", 0.5)))
		ask("too large for a byte rate", quotaEntry(alice, setQuota("producer_byte_rate", 1e19)))
		ask("an infinite byte rate", quotaEntry(alice, setQuota("consumer_byte_rate", math.Inf(1))))
		ask("too large for a connection rate", quotaEntry(quotaEntity("ip", "127.0.0.9"), setQuota("connection_creation_rate", 2147483648)))
		ask("a good and a bad key", quotaEntry(quotaEntity("user", "half"), rate, setQuota("nonsense", 5)))
		ask("a good and a bad entity", quotaEntry(quotaEntity("user", "good"+vn(v)), rate), quotaEntry(quotaEntity("user", "bad"), setQuota("nonsense", 5)))
	}
	a.awaitQuotas("what there is", 3) // two good ones, and alice's tiny fraction
}

func runClientQuotasDuplicates(c *C) {
	a := c.Conn("a")
	alice, app := quotaEntity("user", "alice"), quotaEntity("client-id", "app")
	a.Do("a key twice", 1, alterQuotas(quotaEntry(alice, setQuota("producer_byte_rate", 1), setQuota("producer_byte_rate", 2))))
	a.Do("a key set and removed", 1, alterQuotas(quotaEntry(alice, setQuota("producer_byte_rate", 1), removeQuota("producer_byte_rate"))))
	a.Do("a key three times, beside a good entity", 1, alterQuotas(
		quotaEntry(alice, removeQuota("x"), removeQuota("x"), removeQuota("x")), quotaEntry(app, setQuota("producer_byte_rate", 7))))
	a.awaitQuotas("the good one", 1)
	a.Do("an entity twice", 1, alterQuotas(quotaEntry(alice, setQuota("producer_byte_rate", 3)), quotaEntry(alice, setQuota("consumer_byte_rate", 4))))
	a.awaitQuotas("the first counts", 2)
	a.Do("an entity three times, the first bad", 1, alterQuotas(quotaEntry(app, setQuota("nonsense", 3)),
		quotaEntry(app, setQuota("consumer_byte_rate", 4)), quotaEntry(app, setQuota("consumer_byte_rate", 5))))
	a.Do("parts in another order", 1, alterQuotas(
		quotaEntry(quotaEntity("user", "u", "client-id", "c"), setQuota("producer_byte_rate", 8)),
		quotaEntry(quotaEntity("client-id", "c", "user", "u"), setQuota("consumer_byte_rate", 9))))
	a.awaitQuotas("one more", 3)
	a.Do("a type twice", 1, alterQuotas(quotaEntry(quotaEntity("user", "first", "user", "last"), setQuota("producer_byte_rate", 10))))
	a.Do("a type twice, the last the default", 1, alterQuotas(quotaEntry(quotaEntity("user", "first", "user", defaultName), setQuota("producer_byte_rate", 11))))
	a.awaitQuotas("two more", 5)
}

func runClientQuotasValidateOnly(c *C) {
	a := c.Conn("a")
	alice := quotaEntity("user", "alice")
	a.Do("set", 1, alterQuotas(quotaEntry(alice, setQuota("producer_byte_rate", 1000))))
	a.awaitQuotas("set", 1)
	for v := int16(0); v <= 1; v++ {
		req := alterQuotas(quotaEntry(alice, setQuota("producer_byte_rate", 2000)), quotaEntry(quotaEntity("user", "bob"), setQuota("nonsense", 1)),
			quotaEntry(quotaEntity("client-id", "app"), setQuota("producer_byte_rate", 5)))
		req.ValidateOnly = true
		a.Do(vn(v)+": validate", v, req)
		gone := alterQuotas(quotaEntry(alice, removeQuota("producer_byte_rate")))
		gone.ValidateOnly = true
		a.Do(vn(v)+": validate a removal", v, gone)
	}
	a.awaitQuotas("as before", 1)
}

func runClientQuotasValues(c *C) {
	a := c.Conn("a")
	set := func(user, key string, value float64) {
		a.Do(user, 1, alterQuotas(quotaEntry(quotaEntity("user", user), setQuota(key, value))))
	}
	set("percentage-fraction", "request_percentage", 0.1)
	set("percentage-tiny", "request_percentage", 5e-324)
	set("percentage-huge", "request_percentage", 1e308)
	set("percentage-infinite", "request_percentage", math.Inf(1))
	set("mutation-fraction", "controller_mutation_rate", 1.0/3)
	set("bytes-most", "producer_byte_rate", 9223372036854775807)
	set("bytes-almost-whole", "producer_byte_rate", 7.0000001)
	set("bytes-2-to-53", "consumer_byte_rate", 9007199254740992)
	a.Do("connections-most", 1, alterQuotas(quotaEntry(quotaEntity("ip", "10.0.0.1"), setQuota("connection_creation_rate", 2147483647))))
	a.Do("address v6", 1, alterQuotas(quotaEntry(quotaEntity("ip", "::1"), setQuota("connection_creation_rate", 7))))
	a.Do("name long", 1, alterQuotas(quotaEntry(quotaEntity("user", strings.Repeat("u", 200)), setQuota("request_percentage", 1))))
	a.Do("name odd", 1, alterQuotas(quotaEntry(quotaEntity("user", "<default>x &%/ü", "client-id", " "), setQuota("request_percentage", 1))))
	a.awaitQuotas("all", 12)
}

func runClientQuotasRestart(c *C) {
	c.Conn("a").setAllQuotas(1)
	c.Restart()
	c.Conn("a").awaitQuotas("after a restart", len(tenEntities))
	e := tenEntities[0]
	c.Conn("a").Do("remove one", 1, alterQuotas(quotaEntry(quotaEntity(e...), removeQuota(keyOf(e)))))
	c.Conn("a").awaitQuotas("one less", len(tenEntities)-1)
	c.Kill()
	c.Conn("a").awaitQuotas("after a kill", len(tenEntities)-1)
}
