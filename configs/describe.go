package configs

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Entry is one key of a resource as DescribeConfigs answers it; a nil Value is null, as is every sensitive one.
type Entry struct {
	Name      string
	Value     *string
	Source    Source
	Type      Type
	ReadOnly  bool
	Sensitive bool
	Synonyms  []Synonym // where the value may come from, the one that counts first
	Doc       string    // "" for none
}

// Synonym is one layer's value of a key.
type Synonym struct {
	Name   string
	Value  *string
	Source Source
}

// DescribeTopic answers the keys of a topic with these overrides, in name order.
func (b *Broker) DescribeTopic(overrides map[string]string) []Entry {
	var entries []Entry
	for i := range TopicKeys.defs {
		d := &TopicKeys.defs[i]
		own, set := overrides[d.Name]
		if d.Internal && !set {
			continue
		}
		value, known := b.topicDefault(d)
		if set {
			value, known = normal(d, own), true
		}
		e := TopicKeys.entry(d, value, known)
		if broker, ok := TopicSynonyms[d.Name]; ok {
			e.Synonyms = b.synonyms(broker, false)
		}
		entries = append(entries, e.overridden(set, DynamicTopic))
	}
	return entries
}

// EffectiveTopic answers the keys of a topic that is being made with these overrides, in name order, as CreateTopics does:
// values are as they were written, and one in another unit has the source of that unit's key (DescribeTopic calls it a
// default).
func (b *Broker) EffectiveTopic(overrides map[string]string) []Entry {
	var entries []Entry
	for i := range TopicKeys.defs {
		d := &TopicKeys.defs[i]
		if d.Internal {
			continue
		}
		value, source := b.effective(d, overrides)
		e := TopicKeys.entry(d, value, true)
		e.Source = source
		entries = append(entries, e)
	}
	return entries
}

func (b *Broker) effective(d *Def, overrides map[string]string) (string, Source) {
	if v, set := overrides[d.Name]; set {
		return v, DynamicTopic
	}
	broker, inherits := TopicSynonyms[d.Name]
	if !inherits {
		return d.Default, Default
	}
	for _, l := range []struct {
		values map[string]string
		source Source
	}{{b.own, DynamicBroker}, {b.cluster, DynamicDefaultBroker}, {b.static, StaticBroker}} {
		for _, name := range BrokerSynonyms(broker) {
			if v, set := l.values[name]; set {
				return inMillis(name, v), l.source
			}
		}
	}
	return d.Default, Default
}

// inMillis turns the value of a key in minutes or hours into milliseconds; others stay as they are.
func inMillis(name, value string) string {
	var factor int64
	switch {
	case strings.HasSuffix(name, ".hours"):
		factor = hour
	case strings.HasSuffix(name, ".minutes"):
		factor = minute
	default:
		return value
	}
	n, err := strconv.ParseInt(javaTrim(value), 10, 32)
	if err != nil {
		return value
	}
	return strconv.FormatInt(n*factor, 10)
}

// DescribeGroup answers the keys of a group with these overrides, in name order.
func (b *Broker) DescribeGroup(overrides map[string]string) []Entry {
	var entries []Entry
	for i := range GroupKeys.defs {
		d := &GroupKeys.defs[i]
		own, set := overrides[d.Name]
		broker, inherits := groupSynonym(d.Name)
		value := d.Default
		if inherits {
			value = Format(b.value(broker))
		}
		if set {
			value = normal(d, own)
		}
		e := GroupKeys.entry(d, value, true)
		if inherits {
			e.Synonyms = b.synonyms(broker, false)
		} else {
			e.Synonyms = []Synonym{{d.Name, &d.Default, Default}}
		}
		entries = append(entries, e.overridden(set, DynamicGroup))
	}
	return entries
}

// DescribeClientMetrics answers the keys of a client-metrics subscription with these overrides, in name order.
func DescribeClientMetrics(overrides map[string]string) []Entry {
	var entries []Entry
	for i := range ClientMetricsKeys.defs {
		d := &ClientMetricsKeys.defs[i]
		value := d.Default
		own, set := overrides[d.Name]
		if set {
			value = normal(d, own)
		}
		entries = append(entries, ClientMetricsKeys.entry(d, value, true).overridden(set, DynamicClientMetrics))
	}
	return entries
}

// DescribeBroker answers the keys of the broker, and the keys set on it that Kafka does not define, in name order.
func (b *Broker) DescribeBroker() []Entry {
	var entries []Entry
	for i := range BrokerKeys.defs {
		d := &BrokerKeys.defs[i]
		if _, set := b.merged[d.Name]; d.Internal && !set {
			continue
		}
		v := b.value(d.Name)
		entries = append(entries, b.brokerEntry(d.Name, Format(v), v != nil))
	}
	for name, value := range b.merged {
		if _, known := BrokerKeys.Lookup(name); !known {
			entries = append(entries, b.brokerEntry(name, value, true))
		}
	}
	slices.SortFunc(entries, byName)
	return entries
}

// DescribeCluster answers what is set for all brokers, in name order: the resource of a broker without a name.
func (b *Broker) DescribeCluster() []Entry {
	var entries []Entry
	for _, name := range slices.Sorted(maps.Keys(b.cluster)) {
		e := b.brokerEntry(name, b.cluster[name], true)
		e.Synonyms = slices.DeleteFunc(e.Synonyms, func(s Synonym) bool { return s.Source != DynamicDefaultBroker })
		entries = append(entries, e.overridden(false, 0))
	}
	return entries
}

func (b *Broker) brokerEntry(name, value string, set bool) Entry {
	d, known := BrokerKeys.Lookup(name)
	if !known {
		d = &Def{Name: name} // Kafka hides the value of a key that it does not know
	}
	e := BrokerKeys.entry(d, value, set && known)
	e.Sensitive = d.Sensitive() || !known
	e.ReadOnly = d.Update == ReadOnly
	e.Synonyms = b.synonyms(name, e.Sensitive)
	return e.overridden(false, 0)
}

// entry is an entry with the value, where it is known and not hidden, from the default.
func (t *Table) entry(d *Def, value string, known bool) Entry {
	e := Entry{Name: d.Name, Type: d.Type, Sensitive: d.Sensitive(), Doc: t.Doc(d)}
	if known && !e.Sensitive {
		e.Value = &value
	}
	return e
}

// overridden puts the resource's own value before the synonyms, when it is set, and takes the source from the first.
func (e Entry) overridden(set bool, source Source) Entry {
	if set {
		e.Synonyms = append([]Synonym{{e.Name, e.Value, source}}, e.Synonyms...)
	}
	e.Source = Default
	if len(e.Synonyms) > 0 {
		e.Source = e.Synonyms[0].Source
	}
	return e
}

// synonyms are the layers' values of a broker key and of those that set the same, from the first of its own name on.
func (b *Broker) synonyms(name string, hidden bool) []Synonym {
	names := listenerSynonyms(name)
	var all []Synonym
	add := func(layer func(string) (string, bool), source Source) {
		for _, n := range names {
			if v, ok := layer(n); ok {
				s := Synonym{Name: n, Source: source}
				if !hidden {
					s.Value = &v
				}
				all = append(all, s)
			}
		}
	}
	add(lookup(b.own), DynamicBroker)
	add(lookup(b.cluster), DynamicDefaultBroker)
	add(lookup(b.static), StaticBroker)
	add(brokerDefault, Default)
	first := slices.IndexFunc(all, func(s Synonym) bool { return s.Name == name })
	if first < 0 {
		return nil
	}
	return all[first:]
}

func lookup(m map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func brokerDefault(name string) (string, bool) {
	d, ok := BrokerKeys.Lookup(name)
	if !ok || d.Null {
		return "", false
	}
	return d.Default, true
}

// normal writes a stored value as Kafka answers it; one that no longer fits is answered as it is.
func normal(d *Def, s string) string {
	v, err := d.Parse(s)
	if err != nil {
		return s
	}
	return Format(v)
}

func byName(a, b Entry) int {
	if a.Name < b.Name {
		return -1
	}
	return 1
}
