package configs

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
)

// refusal is one line of testdata/refusals.jsonl: what Apache Kafka 4.3.1 answered to IncrementalAlterConfigs with one SET
// and validate_only. Kinds: topic, group, client-metrics, broker (the resource "1") and cluster (the resource "").
type refusal struct {
	kind, key, value string
	code             int16
	message          string
}

func (r *refusal) UnmarshalJSON(b []byte) error {
	var message *string
	if err := json.Unmarshal(b, &[]any{&r.kind, &r.key, &r.value, &r.code, &message}); err != nil {
		return err
	}
	if message != nil {
		r.message = *message
	}
	return nil
}

func recorded(t *testing.T) []refusal {
	t.Helper()
	f, err := os.Open("testdata/refusals.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []refusal
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r refusal
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) < 4000 {
		t.Fatalf("only %d answers recorded", len(all))
	}
	return all
}

// kafkaDefaults undoes doze's own defaults, and is what the recorded broker was started with.
func kafkaDefaults() *Broker {
	static := map[string]string{
		"listeners":                      "PLAINTEXT://127.0.0.1:22000,CONTROLLER://127.0.0.1:22001",
		"advertised.listeners":           "PLAINTEXT://127.0.0.1:22000",
		"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"controller.listener.names":      "CONTROLLER",
		"node.id":                        "1",
		"process.roles":                  "broker,controller",
	}
	for _, d := range BrokerKeys.All() {
		if d.KafkaDefault != "" {
			static[d.Name] = d.KafkaDefault
		}
	}
	return NewBroker(static, map[string]string{"min.insync.replicas": "1"}, nil)
}

// check is what doze says to the same change.
func (r refusal) check(b *Broker) error {
	set := map[string]string{r.key: r.value}
	switch r.kind {
	case "topic":
		return b.CheckTopic(set)
	case "group":
		return b.CheckGroup(set)
	case "client-metrics":
		return CheckClientMetrics(set)
	}
	own := r.kind == "broker"
	if !own {
		if _, other := set["min.insync.replicas"]; !other {
			set["min.insync.replicas"] = "1"
		}
	}
	if _, err := b.CheckDynamic(set, own); err != nil {
		return err
	}
	return CheckChange(set, nil, true, own)
}

// smallSegment tells whether doze takes a size of a segment that Kafka refuses, and makes its bound Kafka's in a message:
// docs/differences.md says why they differ.
func smallSegment(message *string, value string) bool {
	*message = strings.ReplaceAll(*message, "must be at least 1024", "must be at least 1048576")
	n, err := strconv.Atoi(value)
	return err == nil && *message == "" && n >= 1024 && n < 1048576
}

func TestRefusalsAreKafkas(t *testing.T) {
	b := kafkaDefaults()
	for _, r := range recorded(t) {
		code, message := int16(0), ""
		if err := r.check(b); err != nil {
			code, message = 40, err.Error()
			if err.(*Error).Request {
				code = 42
			}
		}
		if strings.HasSuffix(r.key, "segment.bytes") && smallSegment(&message, r.value) {
			continue
		}
		if code != r.code || message != r.message {
			t.Errorf("%s %s=%q: %d %q, Kafka answers %d %q", r.kind, r.key, r.value, code, message, r.code, r.message)
		}
	}
}
