package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"doze"
)

// serveCmd declares the flags of doze serve for parsing and --help. Their values are read through [flagPlace], which knows
// whether a flag was given; so none has a default here.
type serveCmd struct {
	Listen                     []string `help:"Address to accept Kafka clients on: HOST:PORT (port 0: a free one) or unix:PATH, with PLAINTEXT://, SSL://, SASL_PLAINTEXT:// or SASL_SSL:// before it where listeners differ; else what --tls-cert and --sasl-mechanisms say. May be repeated. Default: 127.0.0.1:9092." placeholder:"[PROTOCOL://]ADDR" sep:"none"`
	Advertise                  []string `help:"Address that clients are told, one for each --listen in the same order. Default: where the client's own connection arrived." placeholder:"HOST:PORT" sep:"none"`
	Name                       string   `help:"Name of this broker, which its default data directory ends with. Default: kafka." placeholder:"NAME"`
	DataDir                    string   `help:"Directory of the journal and the records. Default: doze/NAME in the user's state directory." placeholder:"DIR"`
	Ephemeral                  bool     `help:"Keep the data in a temporary directory that is removed at exit."`
	KafkaVersion               string   `help:"Release of Kafka whose API versions are advertised. Default: 4.3.1." placeholder:"VERSION"`
	DefaultPartitions          string   `help:"Partitions of a topic that does not ask for a number (num.partitions). Default: 1." placeholder:"N"`
	AutoCreateTopics           bool     `help:"Create a topic when its metadata is asked for (auto.create.topics.enable). Default: true." negatable:""`
	MessageMaxBytes            string   `help:"Largest record batch (message.max.bytes). Default: 1048588." placeholder:"BYTES"`
	GroupInitialRebalanceDelay string   `help:"How long the first rebalance of an empty classic group waits for more members (group.initial.rebalance.delay.ms). Default: 200ms." placeholder:"DURATION"`
	OffsetsRetention           string   `help:"How long committed offsets of a group without members are kept (offsets.retention.minutes). Default: 168h." placeholder:"DURATION"`
	Authorizer                 bool     `help:"Hold every request to ACLs (authorizer.class.name). Default: when clients log in." negatable:""`
	SuperUser                  []string `help:"User who may do anything, whatever the ACLs say (super.users). May be repeated." placeholder:"NAME" sep:"none"`
	AllowIfNoACL               bool     `name:"allow-if-no-acl" help:"Everybody may do everything on a resource that no ACL names (allow.everyone.if.no.acl.found). Default: true, where Kafka has false." negatable:""`
	JournalRetention           string   `help:"How long files of the journal are kept for replay, or forever. Default: 168h." placeholder:"DURATION"`
	Sync                       string   `help:"What waits for the disk: durable changes, or always all of them. Default: durable." placeholder:"durable|always"`
	Set                        []string `help:"Set a broker property of Kafka, by its own name. May be repeated." placeholder:"NAME=VALUE" sep:"none"`
	Properties                 []string `help:"File of broker properties, such as Kafka's server.properties. May be repeated." placeholder:"FILE" sep:"none"`
	Config                     string   `help:"File of these settings. Default: doze.toml of the working directory, if there is one." placeholder:"FILE"`
	SASLMechanisms             string   `name:"sasl-mechanisms" help:"Mechanisms by which clients log in: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER (sasl.enabled.mechanisms). Default: nobody logs in; with --user the first three, with --oauth-jwks or --oauth-unsecured the last." placeholder:"NAME,..."`
	User                       []string `help:"User who may log in. May be repeated. What stands here others of this machine can see; --user-file keeps it from them." placeholder:"NAME:PASSWORD" sep:"none"`
	UserFile                   string   `help:"File of users, NAME:PASSWORD a line." placeholder:"FILE"`
	OAuthJWKS                  string   `name:"oauth-jwks" help:"Keys of who signs the tokens of OAUTHBEARER: a JWKS, as a file or behind a URL (sasl.oauthbearer.jwks.endpoint.url)." placeholder:"FILE|URL"`
	OAuthUnsecured             bool     `name:"oauth-unsecured" help:"Take tokens of OAUTHBEARER that nobody has signed, for development only: anybody logs in as whom he likes."`
	ConnectionsMaxReauth       string   `help:"How long a login lasts before the client must log in again (connections.max.reauth.ms). Default: as long as the connection." placeholder:"DURATION"`
	TLSCert                    string   `name:"tls-cert" help:"File of the certificate, in PEM, that listeners and the registry show; then they speak TLS. doze cert makes one." placeholder:"FILE"`
	TLSKey                     string   `name:"tls-key" help:"File of the certificate's key. Default: it is in the file of --tls-cert." placeholder:"FILE"`
	TLSClientCA                string   `name:"tls-client-ca" help:"File of the authorities that certificates of clients must be signed by; then clients must show one." placeholder:"FILE"`
	TLSClientAuth              string   `name:"tls-client-auth" help:"Whether clients show certificates: required, requested or none (ssl.client.auth). Default: required with --tls-client-ca." placeholder:"WHETHER"`
	Unprotected                bool     `help:"Accept that everybody who reaches this machine can use the broker: an address other than 127.0.0.1 without login or certificates of clients."`
	Console                    bool     `help:"Serve the web console. Default: true." negatable:""`
	ConsoleAddr                string   `help:"Address of the web console. Default: 127.0.0.1:9093; a free port when --listen takes one." placeholder:"HOST:PORT"`
	ConsoleUnprotected         bool     `help:"Let the console listen on another address than a loopback one although clients must log in or use TLS: who reaches it may do everything."`
	ConsoleLogin               bool     `help:"Ask who uses the console for the name and password of a user; he may do there what that user may."`
	ConsoleTraceHeader         []string `help:"Header that holds a trace's id, which the console links across topics as it does traceparent and b3. May be repeated." placeholder:"NAME" sep:"none"`
	SchemaRegistry             bool     `help:"Serve the schema registry. Default: true." negatable:""`
	SchemaRegistryAddr         string   `help:"Address of the schema registry, with http:// or https:// before it to say which. Default: 127.0.0.1:8081; a free port when --listen takes one; HTTPS where there is TLS." placeholder:"HOST:PORT"`
	HealthAddr                 string   `help:"Address that answers /healthz over HTTP." placeholder:"HOST:PORT"`
	ReadyFile                  string   `help:"File that gets the ready line when every listener accepts." placeholder:"FILE"`
	LogLevel                   string   `help:"Least level that is logged: debug, info, warn or error. Default: warn." placeholder:"LEVEL"`
	LogFormat                  string   `help:"Form of the log on stderr: text or json. Default: text." placeholder:"FORMAT"`
	Seed                       []string `help:"File of topics, configs, ACLs, schemas and records to create before the broker is ready; records only in topics that are new. May be repeated." placeholder:"FILE" sep:"none"`
	Announce                   string   `help:"A line to print just before the ready line, for programs that wait for one of Kafka's own." placeholder:"TEXT"`
	ZoneRoot                   string   `hidden:"" help:"Directory that stands for / where the .doze zone is looked for, for tests." placeholder:"DIR"`
	Pprof                      string   `hidden:"" help:"Address of this machine that answers with profiles of the process over HTTP, for the benchmarks." placeholder:"HOST:PORT"`
}

// Help is shown below the flags.
func (*serveCmd) Help() string {
	return `Every flag is also a key of doze.toml and, in capitals, a DOZE_ variable (--data-dir: DOZE_DATA_DIR). The file
counts over the defaults, the environment over the file, a flag over both. KAFKA_ variables of Kafka's container
images are taken too.

Examples:
  doze serve
  doze serve --ephemeral --listen 127.0.0.1:0 --default-partitions 3
  doze serve --listen 0.0.0.0:9092 --advertise myhost:9092 --unprotected
  doze serve --listen SASL_SSL://0.0.0.0:9093 --tls-cert server.pem --tls-key server-key.pem --user-file users.txt
  doze serve --properties server.properties`
}

// flagPlace reads the flags that were given, and the property files and --set among them: two places, the files the lower.
func flagPlace(kctx *kong.Context) (files, flags place, err error) {
	files, flags = newPlace(), newPlace()
	var errs []error
	for _, f := range kctx.Flags() {
		if !f.Set {
			continue
		}
		values := flagValues(kctx.FlagValue(f))
		switch f.Name {
		case "set":
			errs = append(errs, addSets(flags, values))
		case "properties":
			for _, name := range values {
				p, err := fromProperties(name)
				errs = append(errs, err)
				if err == nil {
					files, err = p.over(files)
					errs = append(errs, err)
				}
			}
		default:
			if s, ok := findSetting(f.Name); ok {
				errs = append(errs, flags.add(s, "--"+f.Name, values...))
			}
		}
	}
	return files, flags, errors.Join(errs...)
}

func flagValues(v any) []string {
	if l, ok := v.([]string); ok {
		return l
	}
	return []string{fmt.Sprint(v)}
}

func addSets(p place, sets []string) error {
	var errs []error
	for _, s := range sets {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			errs = append(errs, fmt.Errorf("--set %s: write it as NAME=VALUE", s))
			continue
		}
		errs = append(errs, p.addProperty(strings.TrimSpace(name), "--set "+name, value))
	}
	return errors.Join(errs...)
}

// gathered is what all places together say.
type gathered struct {
	place
	file    string   // the settings file that was read; "" for none
	remarks []string // what a person should know about the environment
}

// gather reads every place that has settings.
func gather(kctx *kong.Context, p *process, config string) (gathered, error) {
	if config == "" {
		config = lookupVariable(p.environ, "DOZE_CONFIG")
	}
	file, read, err1 := fromFile(config)
	kafka, remarks, err2 := fromKafka(p.environ)
	own, err3 := fromDoze(p.environ)
	files, flags, err4 := flagPlace(kctx)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return gathered{}, err
	}
	merged, err := mergePlaces(file, kafka, own, files, flags)
	return gathered{merged, read, remarks}, err
}

func lookupVariable(environ []string, name string) string {
	value := ""
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// options turns what was gathered into what a broker starts with, its log going to w.
func (g gathered) options(w io.Writer) (doze.Options, error) {
	o := doze.Options{
		Name:         g.text("name"),
		DataDir:      g.text("data-dir"),
		KafkaVersion: g.text("kafka-version"),
		Properties:   map[string]string{},
	}
	for name, v := range g.properties {
		o.Properties[name] = v.value()
	}
	var errs [5]error
	o.Listeners, errs[0] = g.listeners()
	o.TLS = doze.TLS{CertFile: g.text("tls-cert"), KeyFile: g.text("tls-key"), ClientCAFile: g.text("tls-client-ca")}
	o.Ephemeral, o.SyncAlways, o.Unprotected = g.on("ephemeral"), g.text("sync") == "always", g.on("unprotected")
	o.JournalRetention, errs[1] = g.journalRetention()
	o.LogLevel = new(slog.LevelVar)
	o.Logger, errs[2] = g.logger(w, o.LogLevel)
	errs[3] = g.checkHealthAddr()
	errs[4] = g.logins(&o)
	o, err := o.WithDefaults()
	if err := errors.Join(append(errs[:], err)...); err != nil { // all mistakes at once
		return o, err
	}
	if o.SchemaRegistry, o.SchemaRegistryMayLack, err = g.registry(o.Listeners); err != nil {
		return o, err
	}
	if o.Console, o.ConsoleMayLack, err = g.console(o.Listeners); err != nil {
		return o, err
	}
	err = g.consoleOptions(&o)
	return o, err
}

func (g gathered) text(name string) string {
	if v, ok := g.own[name]; ok {
		return v.value()
	}
	return ""
}

// on says whether a setting that is true or false is true.
func (g gathered) on(name string) bool { return g.text(name) == "true" }

func (g gathered) listeners() ([]doze.Listener, error) {
	listen, advertise := g.own["listen"].values, g.own["advertise"].values
	if len(listen) == 0 && len(advertise) == 1 && g.properties["listeners"].values == nil {
		listen = []string{doze.DefaultAddress}
	}
	if len(advertise) > len(listen) {
		return nil, fmt.Errorf("%s names %d addresses for %d of listen; give one for each, in the same order",
			g.own["advertise"].from, len(advertise), len(listen))
	}
	var all []doze.Listener
	for i, address := range listen {
		l := splitProtocol(address)
		if i < len(advertise) {
			l.Advertise = advertise[i]
		}
		all = append(all, l)
	}
	return all, nil
}

// splitProtocol takes [PROTOCOL://]ADDR apart.
func splitProtocol(text string) doze.Listener {
	protocol, address, named := strings.Cut(text, "://")
	if !named {
		return doze.Listener{Address: text}
	}
	return doze.Listener{Address: address, Protocol: strings.ToUpper(protocol)}
}

func (g gathered) journalRetention() (time.Duration, error) {
	v := g.text("journal-retention")
	switch v {
	case "":
		return 0, nil
	case "forever":
		return -1, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s is %q; give it a duration like 24h, or forever", g.own["journal-retention"].from, v)
	}
	return d, nil
}

func (g gathered) logger(w io.Writer, level *slog.LevelVar) (*slog.Logger, error) {
	level.Set(slog.LevelWarn)
	if v := g.text("log-level"); v != "" {
		if err := level.UnmarshalText([]byte(v)); err != nil {
			return nil, fmt.Errorf("%s is %q; give it debug, info, warn or error", g.own["log-level"].from, v)
		}
	}
	options := &slog.HandlerOptions{Level: level}
	if g.text("log-format") == "json" {
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return slog.New(slog.NewTextHandler(w, options)), nil
}

func (g gathered) checkHealthAddr() error {
	address := g.text("health-addr")
	if address == "" {
		return nil
	}
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
		return fmt.Errorf("%s is %q; give it HOST:PORT", g.own["health-addr"].from, address)
	}
	return nil
}

// registry is the address of the schema registry, empty for none, and whether the broker may do without.
func (g gathered) registry(listeners []doze.Listener) (address string, mayLack bool, err error) {
	return g.web("schema-registry", doze.DefaultSchemaRegistry, listeners)
}

// console is the same of the web console.
func (g gathered) console(listeners []doze.Listener) (address string, mayLack bool, err error) {
	return g.web("console", doze.DefaultConsole, listeners)
}

// consoleOptions are what the console is to do.
func (g gathered) consoleOptions(o *doze.Options) error {
	o.ConsoleUnprotected, o.ConsoleLogin = g.on("console-unprotected"), g.on("console-login")
	o.ConsoleTraceHeaders = g.own["console-trace-header"].values
	if o.ConsoleLogin && o.Console == "" {
		return fmt.Errorf("%s asks for a login to the console, and there is none; leave one of the two out", g.own["console-login"].from)
	}
	return o.Validate()
}

// web is the address of a server beside the broker, empty for none, and whether the broker may do without it: nobody asked for it,
// and what has its default port should not keep the broker from starting.
func (g gathered) web(name, byDefault string, listeners []doze.Listener) (address string, mayLack bool, err error) {
	_, said := g.own[name]
	if said && !g.on(name) {
		return "", false, nil
	}
	if address := g.text(name + "-addr"); address != "" {
		bare := address
		if name == "schema-registry" {
			bare = strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://")
		}
		if _, port, err := net.SplitHostPort(bare); err != nil || port == "" {
			return "", false, fmt.Errorf("%s is %q; give it HOST:PORT", g.own[name+"-addr"].from, address)
		}
		return address, false, nil
	}
	for _, l := range listeners {
		if _, port, err := net.SplitHostPort(l.Address); err == nil && port == "0" {
			return "127.0.0.1:0", false, nil
		}
	}
	return byDefault, !said, nil
}

// nameDataDir says what to do when there is no default data directory: name one, in the way of the command.
func nameDataDir(err error, way string) error {
	if errors.Is(err, doze.ErrNoStateDir) {
		return fmt.Errorf("%w; name a data directory%s", err, way)
	}
	return err
}
