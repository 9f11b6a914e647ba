package configs

import (
	"slices"
	"strings"
	"testing"
)

func TestTablesAreSortedCompleteAndDocumented(t *testing.T) {
	seen := map[string]string{}
	for name, table := range map[string]*Table{"topic": TopicKeys, "broker": BrokerKeys, "group": GroupKeys, "client metrics": ClientMetricsKeys} {
		defs := table.All()
		if !slices.IsSortedFunc(defs, func(a, b Def) int { return compare(a.Name, b.Name) }) {
			t.Errorf("%s: keys are not in name order", name)
		}
		for i := range defs {
			d := &defs[i]
			d.defaultValue() // panics on a default that does not fit its own check
			if doc := strings.TrimSuffix(table.Doc(d), actless); doc == "" || seen[name+doc] != "" {
				t.Errorf("%s key %s: no documentation of its own: %q is of %s", name, d.Name, doc, seen[name+doc])
			} else {
				seen[name+doc] = d.Name
			}
		}
	}
	if n := len(TopicKeys.All()); n != 34 {
		t.Errorf("%d topic keys, want 33 and one internal", n)
	}
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestDocumentsNameOnlyKnownKeys(t *testing.T) {
	for _, table := range []*Table{TopicKeys, BrokerKeys, GroupKeys, ClientMetricsKeys} {
		for name := range table.docs() {
			if _, ok := table.Lookup(name); !ok {
				t.Errorf("a sentence for %s, which is no key", name)
			}
		}
	}
}

// find picks an entry by name.
func find(t *testing.T, all []Entry, name string) Entry {
	t.Helper()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("no entry %s", name)
	}
	return all[i]
}

func TestLayersOfATopicKey(t *testing.T) {
	b := NewBroker(map[string]string{"message.max.bytes": "4"}, map[string]string{"message.max.bytes": "3"}, map[string]string{"message.max.bytes": "2"})
	e := find(t, b.DescribeTopic(map[string]string{"max.message.bytes": " 1 "}), "max.message.bytes")
	var got []string
	for _, s := range e.Synonyms {
		got = append(got, s.Name+"="+*s.Value+" "+[]string{"", "topic", "broker", "cluster", "static", "default"}[s.Source])
	}
	want := []string{"max.message.bytes=1 topic", "message.max.bytes=2 broker", "message.max.bytes=3 cluster",
		"message.max.bytes=4 static", "message.max.bytes=1048588 default"}
	if *e.Value != "1" || e.Source != DynamicTopic || !slices.Equal(got, want) {
		t.Errorf("value %s, source %d, synonyms %q", *e.Value, e.Source, got)
	}
	if v := b.Topic(nil).MaxMessageBytes; v != 2 {
		t.Errorf("without its own value the topic takes %d, want the broker's 2", v)
	}
}

func TestCoarseUnitsGiveWay(t *testing.T) {
	hours := map[string]string{"log.retention.hours": "2"}
	if ms := NewBroker(hours, nil, nil).Topic(nil).RetentionMs; ms != 2*hour {
		t.Errorf("2 hours are %d ms", ms)
	}
	if ms := NewBroker(map[string]string{"log.retention.hours": "2", "log.retention.minutes": "3"}, nil, nil).Topic(nil).RetentionMs; ms != 3*minute {
		t.Errorf("3 minutes, which win over hours, are %d ms", ms)
	}
	b := NewBroker(hours, map[string]string{"log.retention.ms": "7"}, nil)
	if ms := b.Topic(nil).RetentionMs; ms != 7 {
		t.Errorf("7 ms are %d ms", ms)
	}
	// Kafka's own shape: the key of another unit is no synonym unless the key itself is set before it.
	e := find(t, NewBroker(hours, nil, nil).DescribeTopic(nil), "retention.ms")
	if *e.Value != "7200000" || e.Source != Default || e.Synonyms != nil {
		t.Errorf("retention.ms from hours: %s", show(e))
	}
}

func TestEffectiveTopicOfCreateTopics(t *testing.T) {
	b := NewBroker(map[string]string{"log.retention.hours": "24", "log.roll.ms": " 5 "}, map[string]string{"message.max.bytes": "3"}, nil)
	all := b.EffectiveTopic(map[string]string{"cleanup.policy": " compact , delete ", "internal.segment.bytes": "1"})
	if len(all) != 33 {
		t.Fatalf("%d keys", len(all))
	}
	for name, want := range map[string]string{"retention.ms": "86400000 4", "segment.ms": " 5  4", "max.message.bytes": "3 3", "cleanup.policy": " compact , delete  1", "flush.ms": "9223372036854775807 5"} {
		if e := find(t, all, name); *e.Value+" "+string('0'+rune(e.Source)) != want {
			t.Errorf("%s is %s", name, show(e))
		}
	}
}

func TestDozesOwnDefaults(t *testing.T) {
	topic := NewBroker(nil, nil, nil).Topic(nil)
	if topic.RetentionMs != -1 || topic.SegmentBytes != 128<<20 || topic.MinCleanableDirtyRate != 0 || !topic.Delete || topic.Compact {
		t.Errorf("defaults: %+v", topic)
	}
	if ms := NewBroker(nil, nil, nil).Int("group.initial.rebalance.delay.ms"); ms != 200 {
		t.Errorf("the first rebalance waits %d ms", ms)
	}
}

func TestAStoredValueThatNoLongerFitsIsTheDefault(t *testing.T) {
	b := NewBroker(map[string]string{"num.partitions": "many"}, nil, nil)
	if n := b.Int("num.partitions"); n != 1 {
		t.Errorf("num.partitions %d", n)
	}
	if n := b.Topic(map[string]string{"segment.bytes": "1"}).SegmentBytes; n != 128<<20 {
		t.Errorf("segment.bytes %d", n)
	}
}

func TestSecretsAndUnknownKeysAreHidden(t *testing.T) {
	b := NewBroker(map[string]string{"ssl.key.password": "secret", "my.plugin.key": "secret", "listener.name.a.ssl.keystore.password": "secret"}, nil, nil)
	for _, name := range []string{"ssl.key.password", "my.plugin.key", "listener.name.a.ssl.keystore.password"} {
		e := find(t, b.DescribeBroker(), name)
		if e.Value != nil || !e.Sensitive || len(e.Synonyms) == 0 || e.Synonyms[0].Value != nil {
			t.Errorf("%s: %s", name, show(e))
		}
	}
}

func TestInternalSegmentBytes(t *testing.T) {
	b := NewBroker(nil, nil, nil)
	set := map[string]string{"internal.segment.bytes": "1024"}
	if err := b.CheckTopic(set); err != nil {
		t.Fatal(err)
	}
	if n := b.Topic(set).SegmentBytes; n != 1024 {
		t.Errorf("segments of %d bytes", n)
	}
	if len(b.DescribeTopic(nil)) != 33 || len(b.DescribeTopic(set)) != 34 {
		t.Error("an internal key is described only where it is set")
	}
}

func TestGroupValuesAreHeldToTheBounds(t *testing.T) {
	b := NewBroker(map[string]string{"group.consumer.max.session.timeout.ms": "50000"}, nil, nil)
	if n := b.GroupInt("consumer.session.timeout.ms", map[string]string{"consumer.session.timeout.ms": "60000"}); n != 50000 {
		t.Errorf("session timeout %d", n)
	}
	if n := b.GroupInt("consumer.session.timeout.ms", nil); n != 45000 {
		t.Errorf("session timeout %d", n)
	}
	if s := GroupText("share.auto.offset.reset", nil); s != "latest" {
		t.Errorf("reset %s", s)
	}
}

func TestCheckChange(t *testing.T) {
	long := map[string]string{"a": string(make([]byte, 32768))}
	for _, c := range []struct {
		set         map[string]string
		removed     []string
		broker, own bool
		want        string
	}{
		{map[string]string{minISR: "2"}, nil, true, true, "Broker-level min.insync.replicas cannot be altered while ELR is enabled."},
		{nil, []string{minISR}, true, false, "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."},
		{map[string]string{minISR: "2"}, nil, true, false, ""},
		{map[string]string{minISR: "2"}, []string{minISR}, false, false, ""},
		{long, nil, false, false, "The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes."},
	} {
		err := CheckChange(c.set, c.removed, c.broker, c.own)
		if got := message(err); got != c.want {
			t.Errorf("%v %v: %q, want %q", c.removed, c.own, got, c.want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"num.partition":           "num.partitions",
		"auto.create.topic.enabl": "auto.create.topics.enable",
		"log.retention.hrs":       "log.retention.hours",
		"completely different":    "",
		"":                        "",
	} {
		if got := BrokerKeys.Nearest(name); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
	if d := editDistance("abcd", "abdc", 9); d != 1 {
		t.Errorf("two letters swapped are %d changes", d)
	}
}

func TestFormatDouble(t *testing.T) {
	for s, want := range map[string]string{"0": "0.0", "0.5": "0.5", "1e7": "1.0E7", "9999999": "9999999.0", "0.001": "0.001",
		"0.00012": "1.2E-4", "1.7976931348623157E308": "1.7976931348623157E308", "NaN": "NaN", "1e999": "Infinity", "-1e999": "-Infinity", "-2.5d": "-2.5"} {
		f, err := parseDouble(s)
		if got := formatDouble(f); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", s, got, err, want)
		}
	}
}

// Every key of a topic has its place in the order in which values are looked at.
func TestTopicOrder(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range topicOrder {
		if _, known := TopicKeys.Lookup(name); !known || seen[name] {
			t.Errorf("%s is no key of a topic, or stands twice", name)
		}
		seen[name] = true
	}
	for _, d := range TopicKeys.All() {
		if !seen[d.Name] {
			t.Errorf("%s is missing", d.Name)
		}
	}
}
