package console_test

import (
	"context"
	"net/http"
	"testing"

	"doze/console"
)

// fakeDoze says of a broker what doze would.
type fakeDoze struct{}

func (fakeDoze) About() console.About {
	return console.About{Version: "1.2.3", KafkaVersion: "4.3.1", DataDir: "/data/<b>doze", Endpoints: []console.Endpoint{{Name: "PLAINTEXT", Address: "127.0.0.1:9092", Protocol: "PLAINTEXT"}}}
}

func (fakeDoze) Acts(_, key string) bool { return key != "num.io.threads" }

func (fakeDoze) Findings(context.Context) []console.Finding {
	return []console.Finding{{Level: "ok", What: "the disk has room"}, {Level: "fail", What: "<script>port</script> is in use", Mend: "end that process"}}
}

func (fakeDoze) Rules() ([]string, bool) { return []string{"User:admin", "User:<b>"}, true }

func withDoze(o *console.Options) { o.Broker, o.Doctor, o.Access = fakeDoze{}, fakeDoze{}, fakeDoze{} }

func TestBrokerConfigs(t *testing.T) {
	w := start(t, withDoze)
	w.get("/broker?size=500").has(t, "log.retention.ms", "Acts here", "acts", "1.2.3, as Apache Kafka 4.3.1", "/data/&lt;b&gt;doze")
	w.get("/broker?q=num.io.threads").has(t, "kept")
	w.get("/broker/config/log.retention.ms?broker=1").has(t, "New value", "default")
	w.changes("/broker/config/log.retention.ms", "value", "123456", "scope", "all", "do", "set").has(t, "log.retention.ms is set", "123456", "all brokers, while they run")
	hasLacks(t, w.get("/broker?changed=yes"), []string{"log.retention.ms", "Show all keys"}, "num.io.threads")
	w.get("/broker/config/log.retention.ms").has(t, "Set back")
	w.changes("/broker/config/log.retention.ms", "scope", "all", "do", "reset").has(t, "is set back")
	wrong := w.post("/broker/config/log.retention.ms", "value", "<b>", "scope", "all", "do", "set")
	if wrong.Status != http.StatusUnprocessableEntity {
		t.Errorf("no number: %d", wrong.Status)
	}
	hasLacks(t, wrong, []string{"INVALID_"}, "<b>")
	w.get("/broker/config/node.id").has(t, "cannot be changed while the broker runs")
	for _, at := range []string{"/broker/config/nonsense", "/broker?broker=77"} {
		if got := w.do("GET", at, "", nil); got.Status != http.StatusNotFound {
			t.Errorf("%s: %d", at, got.Status)
		}
	}
}

func TestBrokerLogDirsAndFeatures(t *testing.T) {
	w := start(t)
	w.topicOf("orders", 2, 3)
	w.get("/broker/log-dirs").has(t, `href="/topics/orders"`, "2 partitions")
	w.get("/broker/features").has(t, "metadata.version", "Produce", "StreamsGroupDescribe")
}

func TestBrokerFindings(t *testing.T) {
	w := start(t, withDoze)
	hasLacks(t, w.get("/broker/findings"), []string{"&lt;script&gt;port", "end that process", "the disk has room"}, "<script>port")
	start(t).get("/broker/findings").has(t, "doze doctor")
}
