package console

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"doze/console/inside"
	"doze/wire/httpguard"
)

// Options say which Kafka a console shows, and what it knows of it beside.
type Options struct {
	// Bootstrap are the addresses of brokers: HOST:PORT or unix:PATH.
	Bootstrap []string

	// Dial connects to the broker whatever address is asked for: it is the broker in this process. nil: by TCP, and to a
	// bootstrap unix:PATH by that socket.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// TLS is spoken to brokers that are reached by TCP. nil: none is.
	TLS *tls.Config

	// Client are more options of the client: its login.
	Client []kgo.Opt

	// Endpoint is how clients are told to reach the brokers, where Broker is nil. Without an address: Bootstrap, without login and TLS.
	Endpoint Endpoint

	// Registry is the URL of the schema registry; empty: none.
	Registry string

	// RegistryHandler answers the registry's requests in this process, whatever Registry asks of others. nil: they go by HTTP.
	RegistryHandler http.Handler

	// RegistryTransport sends requests to the registry, where it has no RegistryHandler. nil: http.DefaultTransport.
	RegistryTransport http.RoundTripper

	// Hosts are names that a browser may call the console by, beside addresses and localhost.
	Hosts []string

	// Broker says what doze knows of itself. nil: the console runs against some other Kafka.
	Broker Broker

	// TraceHeaders are names of headers that hold a trace's id, beside those of W3C and B3.
	TraceHeaders []string

	// Recent is what happened lately, for the overview. nil: not known.
	Recent Recent

	// Doctor looks at the machine and the broker, for the broker's findings. nil: nobody does.
	Doctor Doctor

	// Access is what decides beside ACLs, which no client can ask for. nil: not known.
	Access Access

	// Traffic is the requests that came in lately. nil: not known.
	Traffic inside.Traffic

	// Journal is the control journal. nil: there is none to see.
	Journal inside.Journal

	// Telemetry is what clients push about themselves. nil: nobody takes it.
	Telemetry inside.Telemetry

	// Logger gets what went wrong while a page was made. nil: nothing is logged.
	Logger *slog.Logger

	// Login has who uses the console log in; he is himself to the broker then. nil: everybody who reaches the console is it.
	Login *Login

	// Now is the time; nil: the machine's clock.
	Now func() time.Time
}

// Broker is what doze says of itself, which no client can ask it for.
type Broker interface {
	// About is what it was started with.
	About() About
	// Acts says whether a config key changes what this broker does. resource is "topic", "broker" or "group".
	Acts(resource, key string) bool
}

// About describes a running doze.
type About struct {
	Version      string // doze's own
	KafkaVersion string // the release that it answers as
	DataDir      string
	Ephemeral    bool
	Started      time.Time
	Recovered    []string // what the start found and mended, a sentence each
	Endpoints    []Endpoint
}

// Endpoint is one listener as clients reach it.
type Endpoint struct {
	Name       string   // PLAINTEXT, ...
	Address    string   // HOST:PORT or unix:PATH
	Protocol   string   // PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL
	Mechanisms []string // of SASL: PLAIN, SCRAM-SHA-256, ...
	CAFile     string   // the certificates that clients trust, as a path; empty: none needed
}

// Recent is what happened lately.
type Recent interface {
	// Recent are the last n happenings, newest first.
	Recent(n int) []Happening
}

// Happening is one thing that happened, in words.
type Happening struct {
	Seq  uint64 // of the journal's entry
	At   time.Time
	What string
	Who  string // who caused it; empty: the broker itself
	Href string // the page of the thing; empty: none
}

// maxRequests bounds the requests that are in hand at once: each may hold a page of records.
const maxRequests = 64

// maxScans bounds the scans of records that run at once: each may hold tens of megabytes.
const maxScans = 4

// Console serves the pages. It is an http.Handler, guarded already.
type Console struct {
	opt     Options
	kafka   *kafka
	schemas *schemas
	common
	routes  []route
	pages   http.Handler // the routes
	handler http.Handler // the pages behind what guards them
	started time.Time
	user    string // who has logged in; empty: nobody has to
	outside bool   // he may not see the inside of the broker
	door    *door  // nil: nobody has to log in
}

// common is what the consoles of all users have together.
type common struct {
	scans   chan struct{} // has room for the scans that run at once
	sets    *templateSets
	filters *longFilters
}

// New makes a console. It connects to nothing before a page is asked for.
func New(opt Options) (*Console, error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	k, err := newKafka(opt)
	if err != nil {
		return nil, err
	}
	c := newPages(opt, k, common{make(chan struct{}, maxScans), newTemplateSets(opt.Now), newLongFilters()})
	served := c.pages
	if opt.Login != nil {
		c.door = newDoor(c)
		served = c.door
	}
	c.handler = httpguard.Guard{Hosts: opt.Hosts}.Wrap(protect(httpguard.Limit(maxRequests, served)))
	return c, nil
}

// newPages makes the pages of a Kafka as one client sees it.
func newPages(opt Options, k *kafka, all common) *Console {
	c := &Console{opt: opt, started: opt.Now(), kafka: k, schemas: newSchemas(k.registry), common: all}
	c.routes = c.table()
	c.pages = c.mux()
	return c
}

// ServeHTTP answers a request.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// Close lets go of the clients. Requests in hand fail.
func (c *Console) Close() {
	if c.door != nil {
		c.door.close()
	}
	c.kafka.close()
}
