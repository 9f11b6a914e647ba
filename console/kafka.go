package console

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sr"
)

// ClientID is who the console is to the broker.
const ClientID = "doze-console"

// kafka is the console as a client: of the broker and of the schema registry.
type kafka struct {
	opts     []kgo.Opt // of every client
	client   *kgo.Client
	admin    *kadm.Client
	registry *sr.Client // nil: there is none
}

// clientHooks are hooks of every client. Tests count requests by one.
var clientHooks []kgo.Hook

// versions are those that the clients speak. OffsetFetch names topics by ids from version 10 on, which would take metadata of every
// topic to read.
func versions() *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(int16(kmsg.OffsetFetch), 9)
	return v
}

// How long the console waits for the broker before it says so.
const (
	dialTimeout    = 3 * time.Second
	requestTimeout = 15 * time.Second
)

func newKafka(opt Options) (*kafka, error) {
	seeds, dial, err := reach(opt)
	if err != nil {
		return nil, err
	}
	k := &kafka{opts: []kgo.Opt{
		kgo.SeedBrokers(seeds...), kgo.Dialer(dial), kgo.ClientID(ClientID), kgo.SoftwareNameAndVersion(ClientID, "1"),
		kgo.RetryTimeout(5 * time.Second), kgo.MetadataMinAge(10 * time.Millisecond), kgo.RequestTimeoutOverhead(requestTimeout),
		kgo.DisableClientMetrics(), kgo.WithHooks(clientHooks...), kgo.MaxVersions(versions()),
	}}
	k.opts = append(k.opts, opt.Client...)
	k.client, err = kgo.NewClient(append([]kgo.Opt{
		kgo.RecordPartitioner(NamedOrKeyed()), kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.UnknownTopicRetries(1),
	}, k.opts...)...)
	if err != nil {
		return nil, fmt.Errorf("make the console's client: %w", err)
	}
	k.admin = kadm.NewClient(k.client)
	if opt.Registry != "" {
		k.registry, err = sr.NewClient(sr.URLs(opt.Registry), sr.UserAgent(ClientID), sr.HTTPClient(httpClient(opt)))
		if err != nil {
			k.client.Close()
			return nil, fmt.Errorf("make the client of the schema registry %s: %w", opt.Registry, err)
		}
	}
	return k, nil
}

// produce sends records in their order, and waits until the broker has them. franz-go's own limit counts from a record's timestamp,
// which may be of last year.
func (k *kafka) produce(ctx context.Context, records ...*kgo.Record) kgo.ProduceResults {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return k.client.ProduceSync(ctx, records...)
}

func (k *kafka) close() { k.client.Close() }

const unixPrefix = "unix:"

// reach is where the clients connect and how. Who is reached by a dialer, or by a socket, is reached by it whatever address its
// metadata names: it is one broker.
func reach(opt Options) (seeds []string, dial func(context.Context, string, string) (net.Conn, error), err error) {
	if opt.Dial != nil {
		return []string{"127.0.0.1:9092"}, opt.Dial, nil
	}
	if len(opt.Bootstrap) == 0 {
		return nil, nil, errors.New("the console has no broker: give it the address of one")
	}
	d := net.Dialer{Timeout: dialTimeout}
	if socket, ok := strings.CutPrefix(opt.Bootstrap[0], unixPrefix); ok {
		return []string{"127.0.0.1:9092"}, func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, "unix", socket)
		}, nil
	}
	for _, a := range opt.Bootstrap {
		if _, _, err := net.SplitHostPort(a); err != nil {
			return nil, nil, fmt.Errorf("broker address %q is not HOST:PORT or unix:PATH", a)
		}
	}
	if opt.TLS != nil {
		secure := tls.Dialer{NetDialer: &d, Config: opt.TLS}
		return opt.Bootstrap, secure.DialContext, nil
	}
	return opt.Bootstrap, d.DialContext, nil
}

// httpClient is how the registry is asked.
func httpClient(opt Options) *http.Client {
	c := &http.Client{Timeout: requestTimeout, Transport: opt.RegistryTransport}
	if opt.RegistryHandler != nil {
		c.Transport = inProcess{opt.RegistryHandler}
	}
	return c
}

// inProcess answers requests by a handler of this process.
type inProcess struct{ handler http.Handler }

// RoundTrip calls the handler.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	r.RequestURI = r.URL.RequestURI()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := &held{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(w, r)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.header,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// held is an answer that is kept until it is whole.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *held) Header() http.Header         { return w.header }
func (w *held) WriteHeader(status int)      { w.status = status }
func (w *held) Write(b []byte) (int, error) { return w.body.Write(b) }

// answers asks the broker for something; a console that is nobody there only connects.
func (c *Console) answers(ctx context.Context) error {
	if c.opt.Login == nil || c.opt.Login.As == nil {
		return c.kafka.client.Ping(ctx)
	}
	seeds, dial, err := reach(c.opt)
	if err != nil {
		return err
	}
	conn, err := dial(ctx, "tcp", seeds[0])
	if err != nil {
		return err
	}
	return conn.Close()
}

// healthz says that the console serves, and whether its broker answers.
func (c *Console) healthz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), dialTimeout)
	defer cancel()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err := c.answers(ctx); err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "the broker does not answer:", err)
		return
	}
	fmt.Fprintln(w, "ok")
}
