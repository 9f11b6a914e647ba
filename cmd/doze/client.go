package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"doze"
	"doze/fixtures"
	"doze/names"
)

// clientFlags say which broker a command talks to.
type clientFlags struct {
	Bootstrap      []string `short:"b" help:"Broker to talk to: HOST:PORT or unix:PATH, several with commas. Default: KAFKA_BOOTSTRAP_SERVERS, then the broker that runs on this machine." placeholder:"ADDR" sep:","`
	SchemaRegistry string   `help:"URL of the schema registry. Default: SCHEMA_REGISTRY_URL, then that of the broker that runs on this machine." placeholder:"URL" name:"schema-registry"`
	securityFlags
}

// place where a command's client goes.
type endpoint struct {
	servers  []string
	registry registryAccess
	security security
}

// find says where to go.
func (c clientFlags) find(p *process) (endpoint, error) {
	properties, err := c.properties(p.environ)
	if err != nil {
		return endpoint{}, usageError{err}
	}
	var at endpoint
	if at.security, err = properties.security(); err != nil {
		return endpoint{}, usageError{named(c.ClientConfig, err)}
	}
	if at.registry, err = properties.registry(); err != nil {
		return endpoint{}, usageError{named(c.ClientConfig, err)}
	}
	servers := strings.Join(c.Bootstrap, ",")
	at.registry.url = c.SchemaRegistry
	if servers == "" {
		servers = properties["bootstrap.servers"]
	}
	if servers == "" {
		servers = lookupVariable(p.environ, "KAFKA_BOOTSTRAP_SERVERS")
		if at.registry.url == "" {
			at.registry.url = lookupVariable(p.environ, "SCHEMA_REGISTRY_URL")
		}
	}
	if servers == "" {
		return c.findRunning(at)
	}
	for _, s := range strings.Split(servers, ",") {
		s = strings.TrimSpace(s)
		if _, _, err := net.SplitHostPort(s); err != nil && !strings.HasPrefix(s, "unix:") {
			return endpoint{}, usageError{fmt.Errorf("bootstrap address %q: write it as HOST:PORT or unix:PATH", s)}
		}
		at.servers = append(at.servers, s)
	}
	return at, nil
}

// findRunning takes the broker that runs on this machine: kafka, or the only one there is.
func (c clientFlags) findRunning(at endpoint) (endpoint, error) {
	var live []names.Instance
	if book, err := openBook(); err == nil {
		live, _ = book.Live() // a list that cannot be read is none
	}
	live = slices.DeleteFunc(live, func(i names.Instance) bool { return i.Kafka == "" })
	for _, i := range live {
		if i.Claimed && i.Name == names.DefaultName || len(live) == 1 {
			at.servers = []string{i.Kafka}
			if at.registry.url == "" {
				at.registry.url = i.Registry
			}
			return at, nil
		}
	}
	if len(live) > 1 {
		var each []string
		for _, i := range live {
			each = append(each, fmt.Sprintf("%s at %s", i.Name, i.Kafka))
		}
		return endpoint{}, usageError{fmt.Errorf("%d brokers run here (%s); name one with --bootstrap", len(live), strings.Join(each, ", "))}
	}
	at.servers = []string{doze.DefaultAddress}
	return at, nil
}

// options reach the broker. A socket's path stands for the one broker there is, whatever address its metadata has.
func (at endpoint) options() []kgo.Opt {
	options := append([]kgo.Opt{kgo.ClientID("doze"), kgo.RetryTimeout(answerLimit), kgo.RequestRetries(2)}, at.security.loginOptions()...)
	if path, ok := strings.CutPrefix(at.servers[0], "unix:"); ok {
		return append(options, kgo.SeedBrokers("localhost:1"), kgo.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}))
	}
	if at.security.tls != nil {
		options = append(options, kgo.DialTLSConfig(at.security.tls))
	}
	return append(options, kgo.SeedBrokers(at.servers...))
}

// client connects, so that a broker that is not there is told at once.
func (at endpoint) client(ctx context.Context, more ...kgo.Opt) (*kgo.Client, error) {
	client, err := kgo.NewClient(append(at.options(), more...)...)
	if err != nil {
		return nil, usageError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		client.Close()
		return nil, at.unreachable(err)
	}
	return client, nil
}

// connectLimit is how long a broker may take to answer the first request.
const connectLimit = 10 * time.Second

func (at endpoint) unreachable(err error) error {
	servers := strings.Join(at.servers, ",")
	if keptOut(err) {
		return fmt.Errorf("reach the broker at %s: %w; give what it asks for in a file: --client-config FILE", servers, err)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Errorf("reach the broker at %s: %w; start one with doze serve, or name another with --bootstrap", servers, err)
}

// keptOut tells that there is a broker, and that it asks for TLS or a login that it did not get.
func keptOut(err error) bool {
	var cut *kgo.ErrFirstReadEOF
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &cut) || errors.As(err, &certificate) || errors.Is(err, kerr.SaslAuthenticationFailed) || errors.Is(err, kerr.UnsupportedSaslMechanism)
}

// codeError is a code of Kafka's with what the broker says about it; nil for none.
func codeError(code int16, message *string) error {
	err := kerr.ErrorForCode(code)
	if message == nil {
		return err
	}
	return fixtures.BrokerError(err, *message)
}

// administrator is a client for administration, with the one below for what kadm has no request for.
type administrator struct {
	*kadm.Client
	kafka *kgo.Client
}

func newAdministrator(client *kgo.Client) *administrator {
	return &administrator{kadm.NewClient(client), client}
}
