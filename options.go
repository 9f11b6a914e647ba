package doze

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"doze/configs"
	"doze/console"
	"doze/handlers"
)

// Options is what a broker starts with. The zero value is a broker on 127.0.0.1:9092 whose data is in the user's state
// directory under the name kafka.
//
// What Kafka has a property for is set by that property alone, so that no setting exists twice: the number of partitions of a
// new topic is Properties["num.partitions"], whether asking creates a topic is Properties["auto.create.topics.enable"].
// Listeners and NodeID are the exception, for they decide what the broker is: the properties listeners,
// advertised.listeners and node.id fill them when they are empty, and must agree with them when they are not.
type Options struct {
	// Name tells brokers of one user apart; it is the last part of the default data directory. Default "kafka".
	Name string

	// Listeners are the addresses to accept connections on. Default: one, 127.0.0.1:9092.
	Listeners []Listener

	// TLS is what listeners with TLS, and the schema registry, show and trust.
	TLS TLS

	// Unprotected accepts that listeners, or the schema registry, can be reached from other machines by everybody, without
	// login or certificate. Without it New refuses such an address.
	Unprotected bool

	// SchemaRegistry is the address of the schema registry, HOST:PORT, where port 0 takes a free one. Empty: none. It may begin
	// with http:// or https://. Default: HTTPS when Options.TLS has a certificate, or a listener has TLS.
	SchemaRegistry string

	// SchemaRegistryMayLack: when another program has that address the broker starts without a registry, and Ready says so.
	// Otherwise it does not start. It never takes another address: clients would go on to the other program.
	SchemaRegistryMayLack bool

	// Console is the address of the web console, HOST:PORT, where port 0 takes a free one. Empty: none. While a listener has a
	// login or TLS it must be a loopback address, unless ConsoleUnprotected: without ConsoleLogin who reaches it sees and
	// changes everything, and with it passwords go by plain HTTP.
	Console            string
	ConsoleUnprotected bool

	// ConsoleLogin has who uses the console log in by the name and password of a user, as whom he then acts. It takes a listener
	// that users log in to.
	ConsoleLogin bool

	// ConsoleTraceHeaders are names of headers that hold a trace's id, which the console links as it does those of W3C and B3.
	ConsoleTraceHeaders []string

	// ConsoleDoctor looks at the machine for the console's page of findings. nil: the page names the command that does.
	ConsoleDoctor console.Doctor

	// ConsoleMayLack: when another program has that address the broker starts without a console, and Ready says so.
	ConsoleMayLack bool

	// DataDir holds the journal and the records. Default: DefaultDataDir(Name).
	DataDir string

	// Users log in by PLAIN and SCRAM on listeners that ask for it: passwords by name. They are kept in memory only. A
	// password that a client set since (AlterUserScramCredentials) counts for SCRAM in place of the one here.
	Users map[string]string

	// OAuthUnsecured lets OAUTHBEARER take tokens that nobody has signed: anybody logs in as whom he likes. For development
	// only. Signed tokens need the property sasl.oauthbearer.jwks.endpoint.url instead, a URL or a file of keys.
	OAuthUnsecured bool

	// Ephemeral keeps the data in a temporary directory that is removed when the broker closes.
	Ephemeral bool

	// NodeID is the broker's number in metadata. Default 1.
	NodeID int32

	// KafkaVersion is the release whose API versions are advertised, as "3.9" or "3.9.1". Default "4.3.1".
	KafkaVersion string

	// SyncAlways makes every change of state wait for the disk, not only those that Kafka would call durable.
	SyncAlways bool

	// JournalRetention is how long the files of the journal stay that a start no longer needs, so that they can be
	// replayed. Default 7 days; negative keeps them for ever.
	JournalRetention time.Duration

	// Properties are Kafka's own broker properties. Those that mean something here act; the rest are kept and described.
	Properties map[string]string

	// Logger gets what an operator should know. Default: nothing is logged.
	Logger *slog.Logger

	// LogLevel is what the level of Logger follows, so that a client can change it as the level of the logger "root". nil:
	// it cannot.
	LogLevel *slog.LevelVar

	// Telemetry is who wants the metrics that clients push (KIP-714). nil: nobody but a console, and without one the APIs are not
	// advertised.
	Telemetry *handlers.Telemetry
}

// Listener is one address to accept connections on.
type Listener struct {
	// Name is the listener's name in metadata and in properties of listeners. Default: the protocol for the first one, such
	// as PLAINTEXT, then PLAINTEXT_2 and so on.
	Name string

	// Address is HOST:PORT, where port 0 takes a free one and an empty host all interfaces, or unix:PATH.
	Address string

	// Protocol is PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL: whether there is TLS, and whether clients log in. Default: what
	// the property listener.security.protocol.map says of the name, else what the name is, else SSL when Options.TLS has a
	// certificate.
	Protocol string

	// Advertise is the HOST:PORT that clients are told. Default: where the client's own connection arrived.
	Advertise string
}

// Defaults of Options.
const (
	DefaultName             = "kafka"
	DefaultAddress          = "127.0.0.1:9092"
	DefaultSchemaRegistry   = "127.0.0.1:8081" // of the command; Options have none
	DefaultConsole          = "127.0.0.1:9093" // of the command; Options have none
	DefaultNodeID           = 1
	DefaultKafkaVersion     = "4.3.1"
	DefaultJournalRetention = 7 * 24 * time.Hour
)

// KafkaVersions are the releases that doze can advertise.
var KafkaVersions = []string{"3.7", "3.9", "4.0", "4.1", "4.2", "4.3", "4.4"}

// WithDefaults fills what is not set, from Properties first, and says what is wrong with the rest, before anything binds or
// touches the disk. Every mistake is named, one to a line, each with what to do.
func (o Options) WithDefaults() (Options, error) {
	o.Properties = maps.Clone(o.Properties)
	errs := o.checkProperties()
	errs = append(errs, o.fillListeners(), o.checkLogins(), o.checkTLS(), o.fillNodeID(), o.fillPlace(), o.fillVersion(), o.fillAuthorizer(), o.checkConsoleOptions())
	if o.JournalRetention == 0 {
		o.JournalRetention = DefaultJournalRetention
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, errors.Join(errs...)
}

// Validate says what is wrong with the options, or nil.
func (o Options) Validate() error {
	_, err := o.WithDefaults()
	return err
}

// checkProperties refuses unknown names and values that do not fit.
func (o *Options) checkProperties() []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		d, known := configs.BrokerKeys.Lookup(name)
		if !known {
			if !configs.IsListenerKey(name) && !configs.IsAuthorizerKey(name) {
				errs = append(errs, unknownProperty(name))
			}
			continue
		}
		if _, err := d.Parse(o.Properties[name]); err != nil {
			errs = append(errs, fmt.Errorf("property %s: %w; correct its value or leave it out", name, err))
		}
	}
	if len(errs) == 0 {
		if err := configs.NewBroker(o.Properties, nil, nil).Check(); err != nil {
			errs = append(errs, fmt.Errorf("properties: %w; correct one of them", err))
		}
	}
	return errs
}

func unknownProperty(name string) error {
	if nearest := configs.BrokerKeys.Nearest(name); nearest != "" {
		return fmt.Errorf("property %s is not known to Kafka %s; did you mean %s?", name, DefaultKafkaVersion, nearest)
	}
	return fmt.Errorf("property %s is not known to Kafka %s; leave it out", name, DefaultKafkaVersion)
}

func (o *Options) fillNodeID() error {
	for _, name := range []string{"node.id", "broker.id"} {
		s, set := o.Properties[name]
		if !set {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
		if err != nil || n < 0 {
			return fmt.Errorf("property %s is %q; give it a number from 0 to 2147483647", name, s)
		}
		if o.NodeID != 0 && o.NodeID != int32(n) {
			return fmt.Errorf("the node id is set twice, to %d and by property %s to %d; keep one", o.NodeID, name, n)
		}
		o.NodeID = int32(n)
		return nil
	}
	if o.NodeID == 0 {
		o.NodeID = DefaultNodeID
	}
	if o.NodeID < 0 {
		return fmt.Errorf("node id %d is negative; give a number from 0 to 2147483647", o.NodeID)
	}
	return nil
}

// nameChars are those of an instance's name, the first 62 where it may start.
const nameChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

func isName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, nameChars) == "" && strings.Contains(nameChars[:62], s[:1])
}

// fillPlace settles name and data directory.
func (o *Options) fillPlace() error {
	if o.Name == "" {
		o.Name = DefaultName
	}
	if !isName(o.Name) {
		return fmt.Errorf("name %q: use letters, digits, dots, hyphens and underscores, at most 64, the first a letter or digit", o.Name)
	}
	if o.Ephemeral {
		if o.DataDir != "" {
			return fmt.Errorf("ephemeral and data directory %s contradict each other; leave one out", o.DataDir)
		}
		return nil
	}
	if o.DataDir == "" {
		dir, err := DefaultDataDir(o.Name)
		if err != nil {
			return err
		}
		o.DataDir = dir
	}
	if info, err := os.Stat(o.DataDir); err == nil && !info.IsDir() {
		return fmt.Errorf("data directory %s is a file; name a directory, or a path where none is yet", o.DataDir)
	}
	return nil
}

func (o *Options) fillVersion() error {
	if o.KafkaVersion == "" {
		o.KafkaVersion = DefaultKafkaVersion
	}
	if !slices.Contains(KafkaVersions, o.KafkaProfile()) {
		return fmt.Errorf("release %s of Kafka is not one of %s; name one of these", o.KafkaVersion, strings.Join(KafkaVersions, ", "))
	}
	return nil
}

// KafkaProfile is the release of KafkaVersion without its patch number: one of KafkaVersions.
func (o Options) KafkaProfile() string {
	parts := strings.Split(o.KafkaVersion, ".")
	if len(parts) == 3 {
		if _, err := strconv.ParseUint(parts[2], 10, 16); err == nil {
			return parts[0] + "." + parts[1]
		}
	}
	return o.KafkaVersion
}

// ErrNoStateDir says that nobody has named a data directory, and that there is no place for the default one.
var ErrNoStateDir = errors.New("find the user's state directory")

// DefaultDataDir is where a broker of the name keeps its data: the user's state directory, then doze, then the name.
func DefaultDataDir(name string) (string, error) {
	state, err := stateDir()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoStateDir, err)
	}
	return filepath.Join(state, "doze", name), nil
}

func stateDir() (string, error) {
	switch runtime.GOOS {
	case "darwin", "ios":
		home, err := os.UserHomeDir()
		return filepath.Join(home, "Library", "Application Support"), err
	case "windows":
		return os.UserCacheDir() // %LocalAppData%: a machine's own, not roaming
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}

// checkHostPort refuses an address that is not HOST:PORT with a port up to 65535.
func checkHostPort(what, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%s %q has a port above 65535; give one from 1 to 65535, or 0 for a free one", what, address)
	}
	if err != nil {
		return fmt.Errorf("%s %q is not HOST:PORT; write it as 127.0.0.1:9092 or [::1]:9092", what, address)
	}
	return nil
}

// StaticProperties are the properties that the broker was started with, as DescribeConfigs answers them: Properties, and
// those that say what the broker is. listening and advertised are host:port of each listener, once bound.
func (o Options) StaticProperties(listening, advertised []string) map[string]string {
	static := maps.Clone(o.Properties)
	if static == nil {
		static = map[string]string{}
	}
	id := strconv.Itoa(int(o.NodeID))
	static["node.id"], static["broker.id"] = id, id
	static["process.roles"] = "broker,controller"
	static["log.dirs"] = o.DataDir
	static["listeners"] = o.listenerURLs(listening)
	static["advertised.listeners"] = o.listenerURLs(advertised)
	return static
}

func (o Options) listenerURLs(addresses []string) string {
	var urls []string
	for i, a := range addresses {
		if !strings.HasPrefix(o.Listeners[i].Address, unixPrefix) {
			urls = append(urls, o.Listeners[i].Name+"://"+a)
		}
	}
	return strings.Join(urls, ",")
}

// Ready is what a broker says of itself when every listener accepts.
type Ready struct {
	Kafka     []string // where clients reach each listener: HOST:PORT, or unix:PATH
	DataDir   string
	ClusterID string
	Registry  string // the URL of the schema registry; empty: none
	// NoRegistry is the address that the schema registry was to have and another program has.
	NoRegistry string
	Console    string // the URL of the web console; empty: none
	// NoConsole is the address that the console was to have and another program has.
	NoConsole string
}

// Line is the ready line: ready kafka=HOST:PORT of the first listener, then registry=URL and console=URL when there
// are these.
func (r Ready) Line() string {
	line := "ready kafka=" + r.Kafka[0]
	if r.Registry != "" {
		line += " registry=" + r.Registry
	}
	if r.Console != "" {
		line += " console=" + r.Console
	}
	return line
}
