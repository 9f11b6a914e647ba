package conformance

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"doze/conformance/recording"
	"doze/handlers"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var update = flag.Bool("update", false, "write docs/api-support.md anew")

const apiSupport = "../docs/api-support.md"

// docs/api-support.md is what the table of handlers and the recorded ApiVersions of Kafka give.
func TestAPISupport(t *testing.T) {
	rec, err := recording.Load("recordings", "api-versions-4.3")
	if err != nil {
		t.Fatal(err)
	}
	want := apiSupportText(rec)
	if *update {
		if err := os.WriteFile(apiSupport, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(apiSupport)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date: go test ./conformance -run TestAPISupport -update", apiSupport)
	}
}

// What Kafka advertises doze serves, but for what is left out on purpose; what doze serves, Kafka has.
func TestServedAPIsAreKafkas(t *testing.T) {
	served := handlers.Ranges()
	for _, r := range advertised {
		at := slices.IndexFunc(served, func(s handlers.Range) bool { return s.Key == r.key })
		switch {
		case leftOut(r.key):
			if at >= 0 {
				t.Errorf("%s is served, though it is left out on purpose", kmsg.NameForKey(r.key))
			}
		case at < 0:
			t.Errorf("%s is not served", kmsg.NameForKey(r.key))
		case served[at].High != r.max || served[at].Low < r.min:
			t.Errorf("%s is served at %s, Kafka has %s", kmsg.NameForKey(r.key), span(served[at].Low, served[at].High), span(r.min, r.max))
		}
	}
	for _, s := range served {
		if s.Key == 71 || s.Key == 72 { // advertised by a broker that wants telemetry: the recording telemetry-versions
			continue
		}
		if !slices.ContainsFunc(advertised, func(r versionRange) bool { return r.key == s.Key }) {
			t.Errorf("API %d is served, which Kafka does not advertise", s.Key)
		}
	}
}

func apiSupportText(rec *recording.Recording) string {
	var b strings.Builder
	b.WriteString(`# APIs

Written by ` + "`go test ./conformance -run TestAPISupport -update`" + ` from doze's table of APIs and from what Apache Kafka
` + rec.Kafka + ` advertises on a client listener. Each API has a recording of a request of defaults at every version,
and at one below and one above: ` + "`conformance/recordings/matrix-API.json`" + `.

| key | API | Kafka ` + rec.Kafka + ` | doze | |
|---|---|---|---|---|
`)
	served := handlers.Ranges()
	keys, _ := rec.Steps[0].Answer.Get("ApiKeys").([]recording.Value)
	for _, k := range keys {
		api := k.(recording.Object)
		key := int16(api.Get("ApiKey").(int64))
		kafka := span(int16(api.Get("MinVersion").(int64)), int16(api.Get("MaxVersion").(int64)))
		doze, note := "no", "only brokers send it: docs/differences.md"
		if at := slices.IndexFunc(served, func(s handlers.Range) bool { return s.Key == key }); at >= 0 {
			doze, note = span(served[at].Low, served[at].High), ""
			if doze != kafka {
				note = "advertised as Kafka does, for clients that look for the old versions and never send them"
			}
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", key, kmsg.NameForKey(key), kafka, doze, note)
	}
	for _, key := range []int16{71, 72} {
		fmt.Fprintf(&b, "| %d | %s | 0-0 | 0-0 | advertised by a broker that wants telemetry, as in Kafka: docs/telemetry.md |\n", key, kmsg.NameForKey(key))
	}
	return b.String()
}

func span(low, high int16) string { return fmt.Sprintf("%d-%d", low, high) }
