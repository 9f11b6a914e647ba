package doze

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOptionsDefaults(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	o, err := Options{}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if o.Name != "kafka" || o.NodeID != 1 || o.KafkaProfile() != "4.3" || len(o.Listeners) != 1 ||
		o.Listeners[0] != (Listener{Name: "PLAINTEXT", Address: "127.0.0.1:9092"}) || filepath.Base(o.DataDir) != "kafka" || o.Logger == nil {
		t.Errorf("defaults: %+v", o)
	}
}

func TestOptionsFromServerProperties(t *testing.T) {
	o, err := Options{DataDir: t.TempDir(), Properties: map[string]string{
		"node.id":                        "7",
		"listeners":                      "PLAINTEXT://:9092,CONTROLLER://:9093,OUTSIDE://0.0.0.0:29092",
		"advertised.listeners":           "PLAINTEXT://localhost:9092,OUTSIDE://host.example:29092",
		"listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,OUTSIDE:PLAINTEXT",
		"controller.listener.names":      "CONTROLLER",
	}}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	want := []Listener{{Name: "PLAINTEXT", Address: ":9092", Advertise: "localhost:9092"}, {Name: "OUTSIDE", Address: "0.0.0.0:29092", Advertise: "host.example:29092"}}
	if o.NodeID != 7 || len(o.Listeners) != 2 || o.Listeners[0] != want[0] || o.Listeners[1] != want[1] {
		t.Errorf("node %d, listeners %+v", o.NodeID, o.Listeners)
	}
	if again, err := o.WithDefaults(); err != nil || !slices.Equal(again.Listeners, want) {
		t.Errorf("filled twice: %+v, %v", again.Listeners, err)
	}
	static := o.StaticProperties([]string{"0.0.0.0:9092", "0.0.0.0:29092"}, []string{"localhost:9092", "host.example:29092"})
	if static["listeners"] != "PLAINTEXT://0.0.0.0:9092,OUTSIDE://0.0.0.0:29092" || static["node.id"] != "7" {
		t.Errorf("static: %v", static)
	}
}

// TestOptionsAdvertised: the property belongs to listeners that are options, by name or in order.
func TestOptionsAdvertised(t *testing.T) {
	o, err := Options{DataDir: t.TempDir(), Listeners: []Listener{{Address: "a:1"}, {Name: "B", Address: "b:1"}, {Address: "c:1"}}, Properties: map[string]string{
		"advertised.listeners":           "B://bb:2,CONTROLLER://x:1,PLAINTEXT://aa:2",
		"listener.security.protocol.map": "B:PLAINTEXT", "controller.listener.names": "CONTROLLER",
	}}.WithDefaults()
	want := []Listener{{Name: "PLAINTEXT", Address: "a:1", Advertise: "aa:2"}, {Name: "B", Address: "b:1", Advertise: "bb:2"}, {Name: "PLAINTEXT_3", Address: "c:1"}}
	if err != nil || !slices.Equal(o.Listeners, want) {
		t.Fatalf("%+v, %v", o.Listeners, err)
	}
	if again, err := o.WithDefaults(); err != nil || !slices.Equal(again.Listeners, want) {
		t.Errorf("filled twice: %+v, %v", again.Listeners, err)
	}
}

// TestOptionsMistakes: each is refused with a text that says what to do.
func TestOptionsMistakes(t *testing.T) {
	dir := t.TempDir()
	property := func(name, value string) Options {
		return Options{DataDir: dir, Properties: map[string]string{name: value}}
	}
	for _, c := range []struct {
		options Options
		want    string
	}{
		{property("num.partition", "1"), "did you mean num.partitions?"},
		{property("zookeeper.connect", "x"), "leave it out"},
		{property("num.partitions", "0"), "Value must be at least 1; correct its value"},
		{property("log.retention.ms", "0"), "correct one of them"},
		{property("listeners", "SSL://:9092"), "there is no certificate for it; give --tls-cert"},
		{property("listeners", "MINE://:9092"), "add MINE:PLAINTEXT to listener.security.protocol.map"},
		{property("listeners", "localhost:9092"), "is not NAME://HOST:PORT"},
		{property("advertised.listeners", "PLAINTEXT://0.0.0.0:9092"), "nothing that a client can connect to"},
		{Options{DataDir: dir, NodeID: 2, Properties: map[string]string{"node.id": "3"}}, "set twice"},
		{Options{DataDir: dir, NodeID: -2}, "negative"},
		{Options{DataDir: dir, Listeners: []Listener{{Name: "MINE", Address: "a:1"}}, Properties: map[string]string{"listener.security.protocol.map": "MINE:SASLSSL"}}, `says "SASLSSL" of it`},
		{Options{DataDir: dir, Listeners: []Listener{{Address: "9092"}}}, "is not HOST:PORT"},
		{Options{DataDir: dir, Listeners: []Listener{{Address: "a:99999"}}}, "has a port above 65535"},
		{Options{DataDir: dir, Listeners: []Listener{{Address: "unix:"}}}, "choose a shorter one"},
		{Options{DataDir: dir, Listeners: []Listener{{Address: "a:1"}, {Address: "a:1"}}}, "used twice"},
		{Options{DataDir: dir, Listeners: []Listener{{Address: "a:1", Name: "A"}, {Address: "a:2", Name: "A"}}}, "used twice"},
		{Options{DataDir: dir, Listeners: []Listener{{Address: "a:1"}}, Properties: map[string]string{"listeners": "PLAINTEXT://a:1"}}, "set twice"},
		{Options{DataDir: dir, Listeners: []Listener{{Address: "a:1"}}, Properties: map[string]string{"advertised.listeners": "A://a:1,B://b:2", "listener.security.protocol.map": "A:PLAINTEXT"}}, "has B://b:2, but no listener is left for it"},
		{Options{DataDir: dir, Listeners: []Listener{{Address: "a:1", Advertise: "b:1"}}, Properties: map[string]string{"advertised.listeners": "PLAINTEXT://c:1"}}, "advertised twice"},
		{Options{DataDir: dir, Listeners: []Listener{{Address: "a:1"}}, Properties: map[string]string{"advertised.listeners": "SSL://c:1"}}, "there is no certificate for it; give --tls-cert"},
		{Options{DataDir: dir, Ephemeral: true}, "contradict each other"},
		{Options{Name: "../x"}, "use letters"},
		{Options{DataDir: dir, KafkaVersion: "2.8"}, "is not one of 3.7, 3.9"},
		{Options{DataDir: "options.go"}, "is a file"},
	} {
		err := c.options.Validate()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q in it", c.options, err, c.want)
		}
	}
}

func TestKafkaProfile(t *testing.T) {
	for version, want := range map[string]string{"3.9": "3.9", "3.9.1": "3.9", "4.3.1": "4.3", "4.3.x": "4.3.x", "4": "4"} {
		if got := (Options{KafkaVersion: version}).KafkaProfile(); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

// TestProtocolOfTheMap: blanks around names and protocols do not count, of a name that is there twice the last does.
func TestProtocolOfTheMap(t *testing.T) {
	for pairs, want := range map[string]string{
		"MINE:SASL_SSL": "SASL_SSL", "MINE: SASL_SSL , OTHER:SSL": "SASL_SSL", "mine : sasl_plaintext": "SASL_PLAINTEXT",
		"MINE:PLAINTEXT,MINE:SASL_PLAINTEXT": "SASL_PLAINTEXT", "OTHER:SSL": "PLAINTEXT", "MINE": "PLAINTEXT",
	} {
		o := Options{Properties: map[string]string{"listener.security.protocol.map": pairs}}
		if got := o.protocolOf(Listener{Name: "MINE", Address: "a:1"}); got != want {
			t.Errorf("%q: %s, want %s", pairs, got, want)
		}
	}
}
