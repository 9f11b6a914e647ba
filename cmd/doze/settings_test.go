package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"doze"
)

// parse is the options that doze serve would start with.
func parse(t *testing.T, environ []string, args ...string) (doze.Options, error) {
	t.Helper()
	var cli struct {
		Serve serveCmd `cmd:""`
	}
	parser, err := kong.New(&cli, kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	kctx, err := parser.Parse(append([]string{"serve"}, args...))
	if err != nil {
		return doze.Options{}, err
	}
	g, err := gather(kctx, &process{environ, io.Discard, io.Discard}, cli.Serve.Config)
	if err != nil {
		return doze.Options{}, err
	}
	return g.options(io.Discard)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEveryFlagIsASetting(t *testing.T) {
	var cli struct {
		Serve serveCmd `cmd:""`
	}
	parser, err := kong.New(&cli)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range parser.Model.Children[0].Flags {
		if f.Hidden { // for the benchmarks, not for people
			continue
		}
		if _, ok := findSetting(f.Name); !ok && !slices.Contains([]string{"set", "properties", "config"}, f.Name) {
			t.Errorf("flag --%s is not in the table of settings", f.Name)
		}
		if f.HasDefault {
			t.Errorf("flag --%s has a default, which would hide the other places", f.Name)
		}
	}
}

// TestPlaces: each place wins over those before it, whether it names the setting as doze's flag or as Kafka's property.
func TestPlaces(t *testing.T) {
	file := write(t, "doze.toml", "default-partitions = 2\n[properties]\nmessage.max.bytes = 20\n\"log.retention.hours\" = 2\n")
	properties := write(t, "server.properties", "num.partitions=5\nlog.retention.hours=5\n")
	base := []string{"--data-dir", t.TempDir(), "--config", file}
	for _, c := range []struct {
		environ, args []string
		want          string
	}{
		{nil, nil, "2 20 2"},
		{[]string{"KAFKA_NUM_PARTITIONS=3", "KAFKA_MESSAGE_MAX_BYTES=30"}, nil, "3 30 2"},
		{[]string{"KAFKA_NUM_PARTITIONS=3", "DOZE_DEFAULT_PARTITIONS=4"}, nil, "4 20 2"},
		{[]string{"DOZE_DEFAULT_PARTITIONS=4"}, []string{"--properties", properties}, "5 20 5"},
		{nil, []string{"--properties", properties, "--default-partitions", "6"}, "6 20 5"},
		{nil, []string{"--properties", properties, "--set", "num.partitions=7", "--set=message.max.bytes=70"}, "7 70 5"},
		{nil, []string{"--set", "num.partitions=8", "--default-partitions=8"}, "8 20 2"},
	} {
		o, err := parse(t, c.environ, append(base, c.args...)...)
		if err != nil {
			t.Errorf("%v %v: %v", c.environ, c.args, err)
			continue
		}
		got := strings.Join([]string{o.Properties["num.partitions"], o.Properties["message.max.bytes"], o.Properties["log.retention.hours"]}, " ")
		if got != c.want {
			t.Errorf("%v %v: %s, want %s", c.environ, c.args, got, c.want)
		}
	}
}

func TestFlagsBecomeOptions(t *testing.T) {
	dir := t.TempDir()
	o, err := parse(t, nil, "--listen", "127.0.0.1:0", "--listen=unix:/tmp/doze.sock", "--advertise", "host:9092", "--name", "n",
		"--data-dir", dir, "--kafka-version", "3.9.1", "--no-auto-create-topics", "--group-initial-rebalance-delay", "3s",
		"--offsets-retention", "24h", "--journal-retention", "forever", "--sync", "always", "--console=false",
		"--schema-registry=false", "--health-addr", "127.0.0.1:0", "--ready-file", "r", "--log-level", "debug", "--log-format", "json")
	if err != nil {
		t.Fatal(err)
	}
	listeners := []doze.Listener{{Name: "PLAINTEXT", Address: "127.0.0.1:0", Advertise: "host:9092"}, {Name: "PLAINTEXT_2", Address: "unix:/tmp/doze.sock"}}
	if !slices.Equal(o.Listeners, listeners) || o.Name != "n" || o.DataDir != dir || o.KafkaVersion != "3.9.1" || !o.SyncAlways ||
		o.JournalRetention >= 0 {
		t.Errorf("options %+v", o)
	}
	for name, want := range map[string]string{"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": "3000", "offsets.retention.minutes": "1440"} {
		if got := o.Properties[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if !o.Logger.Enabled(t.Context(), -4) {
		t.Error("debug is not logged")
	}
	o, err = parse(t, nil, "--ephemeral", "--journal-retention=24h")
	if err != nil || !o.Ephemeral || o.DataDir != "" || o.JournalRetention != 24*time.Hour {
		t.Errorf("ephemeral: %+v, %v", o, err)
	}
}

// A registry that nobody asked for may be lacking when its address is taken; one that was asked for may not.
func TestRegistryThatWasAskedFor(t *testing.T) {
	for _, c := range []struct {
		args    []string
		address string
		mayLack bool
	}{
		{nil, "127.0.0.1:8081", true},
		{[]string{"--schema-registry"}, "127.0.0.1:8081", false},
		{[]string{"--schema-registry-addr", "127.0.0.1:8081"}, "127.0.0.1:8081", false},
		{[]string{"--listen", "127.0.0.1:0"}, "127.0.0.1:0", false},
		{[]string{"--schema-registry=false"}, "", false},
	} {
		o, err := parse(t, nil, append(c.args, "--data-dir", t.TempDir())...)
		if err != nil || o.SchemaRegistry != c.address || o.SchemaRegistryMayLack != c.mayLack {
			t.Errorf("%v: %q, may lack %t, %v", c.args, o.SchemaRegistry, o.SchemaRegistryMayLack, err)
		}
	}
}

func TestListenersOfAContainer(t *testing.T) {
	environ := []string{
		"KAFKA_NODE_ID=1", "KAFKA_PROCESS_ROLES=broker,controller", "KAFKA_HEAP_OPTS=-Xmx1g", "KAFKA_HOME=/opt/kafka", "KAFKA_ELSEWHERE_URL=x",
		"KAFKA_LISTENERS=PLAINTEXT://:9092,CONTROLLER://:9093", "KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:9092",
		"KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER", "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
		"KAFKA_CONTROLLER_QUORUM_VOTERS=1@localhost:9093", "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR=1",
		"KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR=1", "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR=1",
		"KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS=0", "KAFKA_NUM_PARTITIONS=3", "KAFKA_LOG_DIRS=/var/lib/kafka/data",
	}
	o, err := parse(t, environ, "--data-dir", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if want := (doze.Listener{Name: "PLAINTEXT", Address: ":9092", Advertise: "localhost:9092"}); !slices.Equal(o.Listeners, []doze.Listener{want}) {
		t.Errorf("listeners %+v", o.Listeners)
	}
	o, err = parse(t, environ, "--data-dir", t.TempDir(), "--listen", "127.0.0.1:9192")
	if err != nil || len(o.Listeners) != 1 || o.Listeners[0].Address != "127.0.0.1:9192" || o.Listeners[0].Advertise != "localhost:9092" {
		t.Errorf("a flag over the container's environment: %+v, %v", o.Listeners, err)
	}
}

// TestMistakes: each is refused with a text that names the place and what to do.
func TestMistakes(t *testing.T) {
	file := func(text string) []string { return []string{"--config", write(t, "doze.toml", text)} }
	for _, c := range []struct {
		environ, args []string
		want          string
	}{
		{nil, file("default-partition = 1"), "key default-partition is not known; did you mean default-partitions?"},
		{nil, file("[properties]\nnum.partition = 1"), "did you mean num.partitions?"},
		{nil, file("default-partitions = 1\n[properties]\nnum.partitions = 2"), "set the same (num.partitions), one to"},
		{nil, file("name = [\"a\", \"b\"]"), "takes one value"},
		{nil, file("name = 2020-01-01"), "is a date"},
		{nil, file("listen = [{a = 1}]"), "is a list of something else"},
		{nil, file("name = "), "correct the file"},
		{nil, file("a = " + strings.Repeat("[", 100)), "nested deeper"},
		{nil, file("properties = 1"), "is not a table"},
		{nil, []string{"--config", "/does/not/exist"}, "name a file that can be read"},
		{[]string{"DOZE_DATADIR=x"}, nil, "did you mean DOZE_DATA_DIR?"},
		{[]string{"DOZE_CONFIG=/does/not/exist"}, nil, "name a file that can be read"},
		{[]string{"KAFKA_NUM_PARTITION=1"}, nil, "did you mean KAFKA_NUM_PARTITIONS?"},
		{[]string{"KAFKA_NUM_PARTITIONS=x"}, nil, "KAFKA_NUM_PARTITIONS: Invalid value x"},
		{nil, []string{"--set", "num.partitions"}, "write it as NAME=VALUE"},
		{nil, []string{"--set", "num.partition=1"}, "did you mean num.partitions?"},
		{nil, []string{"--set", "num.partitions=1", "--default-partitions", "2"}, "keep one"},
		{nil, []string{"--default-partitions", "0"}, "--default-partitions: Invalid value 0"},
		{nil, []string{"--group-initial-rebalance-delay", "5"}, "write it as 200ms"},
		{nil, []string{"--offsets-retention", "90s"}, "not a whole number of minutes"},
		{nil, []string{"--properties", write(t, "p", "num.partitions=\\u00")}, "line 1"},
		{nil, []string{"--properties", write(t, "p", "\nnum.partition=1")}, "line 2: property num.partition is not known"},
		{nil, []string{"--listen", "127.0.0.1:1", "--set", "listeners=PLAINTEXT://:1"}, "both say where to listen"},
		{nil, []string{"--advertise", "a:1", "--advertise", "b:1"}, "give one for each"},
		{nil, []string{"--sync", "never"}, "give it durable or always"},
		{nil, []string{"--journal-retention", "0"}, "or forever"},
		{nil, []string{"--log-level", "loud"}, "give it debug"},
		{nil, []string{"--log-format", "xml"}, "give it text or json"},
		{nil, []string{"--health-addr", "9999"}, "give it HOST:PORT"},
		{nil, []string{"--console-addr", "9093"}, "give it HOST:PORT"},
		{[]string{"DOZE_EPHEMERAL=maybe"}, nil, "give it true or false"},
	} {
		_, err := parse(t, c.environ, append(c.args, "--data-dir", t.TempDir())...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v: %v, want %q in it", c.environ, c.args, err, c.want)
		}
	}
}

// FuzzSettingsFile: any text is read or refused, quickly.
func FuzzSettingsFile(f *testing.F) {
	f.Add([]byte("name = \"a\"\n[properties]\nnum.partitions = 1\n"))
	f.Add([]byte("listen = [\"127.0.0.1:9092\"]\n[[properties]]\n"))
	f.Fuzz(func(t *testing.T, text []byte) { parseFile("doze.toml", text) })
}

// FuzzDozeEnvironment: any variable is read or refused.
func FuzzDozeEnvironment(f *testing.F) {
	f.Add("DOZE_DEFAULT_PARTITIONS=1")
	f.Add("DOZE_LISTEN=a,b")
	f.Fuzz(func(t *testing.T, e string) { fromDoze([]string{e}) })
}

// What says how tokens are checked makes OAUTHBEARER a mechanism, beside those of users when there are some.
func TestTokensOfOAuth(t *testing.T) {
	const mechanisms, keys = "sasl.enabled.mechanisms", "sasl.oauthbearer.jwks.endpoint.url"
	o, err := parse(t, nil, "--oauth-jwks", "keys.json")
	if err != nil || o.Properties[mechanisms] != "OAUTHBEARER" || o.Properties[keys] != "keys.json" || o.OAuthUnsecured || o.Listeners[0].Protocol != "SASL_PLAINTEXT" {
		t.Errorf("--oauth-jwks: %+v, %v", o, err)
	}
	o, err = parse(t, []string{"DOZE_OAUTH_UNSECURED=true"}, "--user", "alice:x")
	if err != nil || o.Properties[mechanisms] != "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER" || !o.OAuthUnsecured {
		t.Errorf("DOZE_OAUTH_UNSECURED: %+v, %v", o, err)
	}
	for want, args := range map[string][]string{
		"not among the mechanisms PLAIN": {"--oauth-unsecured", "--sasl-mechanisms", "PLAIN"},
		"to two values":                  {"--oauth-jwks", "a.json", "--set", keys + "=b.json"},
	} {
		if _, err := parse(t, nil, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
