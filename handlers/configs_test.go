package handlers

import (
	"bytes"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/disk"
	"doze/projections"
)

const (
	topicKind   = kmsg.ConfigResourceType(projections.TopicResource)
	brokerKind  = kmsg.ConfigResourceType(projections.BrokerResource)
	metricsKind = kmsg.ConfigResourceType(projections.ClientMetricsResource)
	groupKind   = kmsg.ConfigResourceType(projections.GroupResource)
)

// altered is a resource of a request that sets KEY=VALUE texts and deletes KEY texts.
func altered(kind kmsg.ConfigResourceType, name string, changes ...string) kmsg.IncrementalAlterConfigsRequestResource {
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	for _, ch := range changes {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		key, value, set := strings.Cut(ch, "=")
		c.Name, c.Op = key, kmsg.IncrementalAlterConfigOpDelete
		if set {
			c.Op, c.Value = kmsg.IncrementalAlterConfigOpSet, &value
		}
		r.Configs = append(r.Configs, c)
	}
	return r
}

func (c *testConn) alter(validateOnly bool, resources ...kmsg.IncrementalAlterConfigsRequestResource) []kmsg.IncrementalAlterConfigsResponseResource {
	c.t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Version, req.ValidateOnly, req.Resources = 1, validateOnly, resources
	return ask[*kmsg.IncrementalAlterConfigsResponse](c, req).Resources
}

// value describes one key; "null" for a null.
func (c *testConn) value(kind kmsg.ConfigResourceType, name, key string) string {
	c.t.Helper()
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Version = 4
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, []string{key}
	req.Resources = append(req.Resources, r)
	answer := ask[*kmsg.DescribeConfigsResponse](c, req).Resources[0]
	switch {
	case answer.ErrorCode != none || len(answer.Configs) != 1:
		c.t.Fatalf("describe %s %s: %+v", name, key, answer)
	case answer.Configs[0].Value == nil:
		return "null"
	}
	return *answer.Configs[0].Value
}

// sequence is the journal's last entry.
func (b *testBroker) sequence() uint64 { _, seq := b.store.View(); return seq }

func TestConfigsThatWereOnlyValidatedLeaveNoTrace(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 1)
	before := b.sequence()
	// The second resource is checked against a state in which the first has changed; that state is dropped.
	for _, res := range c.alter(true, altered(brokerKind, "", "message.max.bytes=2000"), altered(brokerKind, "1", "compression.type=lz4")) {
		if res.ErrorCode != none {
			t.Errorf("validated: %+v", res)
		}
	}
	if b.sequence() != before {
		t.Error("validating wrote to the journal")
	}
	if res := c.alter(false, altered(brokerKind, "", "message.max.bytes=3000")); res[0].ErrorCode != none {
		t.Fatalf("altered: %+v", res)
	}
	if v := c.value(topicKind, "orders", "max.message.bytes"); v != "3000" {
		t.Errorf("max.message.bytes %s after a change to 3000 that followed a validated one to 2000", v)
	}
	if v := c.value(brokerKind, "1", "compression.type"); v != "producer" {
		t.Errorf("compression.type %s was only validated", v)
	}
}

func TestARequestOfConfigsIsOneEntryOrNone(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 1)
	before := b.sequence()
	change := []kmsg.IncrementalAlterConfigsRequestResource{
		altered(topicKind, "orders", "flush.ms=1"), altered(topicKind, "nowhere", "flush.ms=1"),
		altered(groupKind, "g", "consumer.session.timeout.ms=50000"), altered(metricsKind, "m", "interval.ms=1000"),
	}
	codes := ""
	for _, res := range c.alter(false, change...) {
		codes += strconv.Itoa(int(res.ErrorCode)) + " "
	}
	if codes != "0 3 0 0 " || b.sequence() != before+1 {
		t.Errorf("codes %s, %d entries", codes, b.sequence()-before)
	}
	c.alter(false, change...)
	if b.sequence() != before+1 {
		t.Error("the same again wrote to the journal")
	}
	b.restart()
	c = b.connect()
	if v := c.value(topicKind, "orders", "flush.ms"); v != "1" {
		t.Errorf("flush.ms %s after a restart", v)
	}
}

func TestSecretsStayOutOfTheJournal(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	const secret = "correct horse battery staple"
	keys := []string{"listener.name.plaintext.ssl.keystore.password", "listener.name.plaintext.plain.sasl.jaas.config", "my.plug.in.token"}
	for _, key := range keys {
		if res := c.alter(false, altered(brokerKind, "1", key+"="+secret)); res[0].ErrorCode != none {
			t.Fatalf("%s: %+v", key, res)
		}
		if v := c.value(brokerKind, "1", key); v != "null" {
			t.Errorf("%s is answered: %s", key, v)
		}
	}
	b.restart()
	seen := false
	walk(t, b.fs, ".", func(name string, content []byte) {
		seen = seen || bytes.Contains(content, []byte("my.plug.in.token"))
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("%s holds a secret", name)
		}
	})
	if !seen {
		t.Error("no file has the keys: the journal was not looked at")
	}
}

// walk reads every file below a directory.
func walk(t *testing.T, m disk.FS, dir string, visit func(name string, content []byte)) {
	t.Helper()
	entries, err := m.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.TrimPrefix(dir+"/"+e.Name(), "./")
		if e.IsDir() {
			walk(t, m, name, visit)
			continue
		}
		visit(name, content(t, m, name, e))
	}
}

func content(t *testing.T, m disk.FS, name string, e fs.DirEntry) []byte {
	t.Helper()
	f, err := m.OpenFile(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]byte, size)
	if _, err := f.ReadAt(all, 0); err != nil && size > 0 && err.Error() != "EOF" {
		t.Fatal(err)
	}
	return all
}

func TestConfigsOfABrokerAreBounded(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	var many []string
	for i := range maxBrokerKeys + 1 {
		many = append(many, "plug.in."+strconv.Itoa(i)+"=1")
	}
	long := strings.Repeat("n", maxName+1)
	for _, c2 := range []struct {
		resource kmsg.IncrementalAlterConfigsRequestResource
		code     int16
	}{
		{altered(brokerKind, "1", many...), invalidRequest},
		{altered(brokerKind, "1", many[1:]...), none},
		{altered(brokerKind, "", long+"=1"), invalidRequest},
		{altered(groupKind, long, "consumer.session.timeout.ms=50000"), invalidGroupID},
		{altered(metricsKind, long, "interval.ms=1000"), invalidRequest},
	} {
		if res := c.alter(false, c2.resource); res[0].ErrorCode != c2.code {
			t.Errorf("%.20s: code %d, %v", c2.resource.ResourceName, res[0].ErrorCode, res[0].ErrorMessage)
		}
	}
}

func TestAResourceThatStandsTwiceIsAnswered(t *testing.T) {
	c := startTestBroker(t, nil).connect()
	req := kmsg.NewPtrAlterConfigsRequest()
	req.Version = 2
	for range 2 {
		r := kmsg.NewAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = topicKind, "orders"
		req.Resources = append(req.Resources, r)
	}
	for _, res := range ask[*kmsg.AlterConfigsResponse](c, req).Resources {
		if res.ErrorCode != invalidRequest || *res.ErrorMessage != "Each resource must appear at most once." {
			t.Errorf("answered %+v", res)
		}
	}
}

func TestABrokersConfigActsAtOnce(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.createTopic("orders", 1)
	big := batch(100, day, -1, -1, -1)
	if p := c.produce("orders", -1, big); p.ErrorCode != none {
		t.Fatalf("produced %+v", p)
	}
	c.alter(false, altered(brokerKind, "", "message.max.bytes=100"))
	if p := c.produce("orders", -1, big); p.ErrorCode != messageTooLarge {
		t.Errorf("a batch of %d bytes with message.max.bytes=100: %+v", len(big), p)
	}
	c.alter(false, altered(topicKind, "orders", "max.message.bytes=100000"))
	if p := c.produce("orders", -1, big); p.ErrorCode != none {
		t.Errorf("with the topic's own max.message.bytes: %+v", p)
	}
}

func TestLevelsOfTheLog(t *testing.T) {
	for _, name := range logLevels {
		if level := kafkaLevel(slogLevel(name)); level != name && name != "TRACE" && name != "FATAL" {
			t.Errorf("%s is %s", name, level)
		}
	}
}

// TestSettingsOfDeletedTopicsAreForgotten: a broker on which topics come and go for years keeps nothing of them.
func TestSettingsOfDeletedTopicsAreForgotten(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	for i := range 20 {
		name, pairs := fmt.Sprint("topic-", i), []string{"retention.ms", "1000"}
		c.topicWith(name, pairs[:2*(i%2)]...)
		c.produce(name, -1, batch(1, day, -1, -1, -1))
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TopicNames = []string{name}
		if code := request[*kmsg.DeleteTopicsResponse](c, req, 5).Topics[0].ErrorCode; code != none {
			t.Fatal(code)
		}
	}
	state, _ := b.store.View()
	kept := 0
	b.broker.settings(state).topics.Range(func(_, _ any) bool { kept++; return true })
	if kept > 0 {
		t.Errorf("the settings of %d topics are kept, of none that there is", kept)
	}
}
