package doze

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"doze/certs"
	"doze/wire"
)

// openTLS reads the certificates of every listener that has TLS, and of the registry, before anything is bound.
func (b *Broker) openTLS() error {
	b.identities = make([]*certs.Identity, len(b.opt.Listeners))
	for i, l := range b.opt.Listeners {
		if !hasTLS(b.opt.protocolOf(l)) {
			continue
		}
		identity, err := b.identity(l)
		if err != nil {
			return err
		}
		b.identities[i] = identity
	}
	return nil
}

func (b *Broker) identity(l Listener) (*certs.Identity, error) {
	s, err := b.opt.tlsSettings(l)
	if err != nil {
		return nil, err
	}
	s.Report = func(err error) { b.opt.Logger.Error("TLS", "listener", l.Name, "error", err) }
	identity, err := certs.New(s)
	if err != nil {
		return nil, fmt.Errorf("listener %s: %w", l.Name, err)
	}
	return identity, nil
}

// wireOptions are what a listener has beside its address: TLS, and the gate where clients log in.
func (b *Broker) wireOptions(i int) (wire.ListenOptions, error) {
	l := b.opt.Listeners[i]
	o := wire.ListenOptions{Name: l.Name, Advertise: l.Advertise}
	var err error
	if o.Gate, err = b.gate(l); err != nil {
		return o, err
	}
	if b.identities[i] == nil {
		return o, nil
	}
	config := b.identities[i].Config()
	o.Wrap = func(nc net.Conn) net.Conn { return certs.Server(nc, config) }
	o.Handshake, err = b.handshake(l)
	return o, err
}

// handshake gives the principal of the client's certificate; where clients log in, the login gives it.
func (b *Broker) handshake(l Listener) (func(context.Context, net.Conn) (string, error), error) {
	rules, err := b.opt.mappingRules(l)
	login := b.opt.asksForLogin(l)
	return func(ctx context.Context, nc net.Conn) (string, error) {
		c, ok := nc.(*tls.Conn)
		if !ok {
			return "", nil // served without a socket
		}
		if err := c.HandshakeContext(ctx); err != nil {
			return "", explainHandshake(err)
		}
		shown := c.ConnectionState().PeerCertificates
		if login || len(shown) == 0 {
			return "", nil
		}
		return principalOf(shown[0], rules)
	}, err
}

func explainHandshake(err error) error {
	var plain tls.RecordHeaderError
	if errors.As(err, &plain) {
		return errors.New("TLS handshake: the peer does not speak TLS; does the client have security.protocol=SSL?")
	}
	return fmt.Errorf("TLS handshake: %w", err)
}

// principalOf is who shows a certificate.
func principalOf(c *x509.Certificate, rules certs.Rules) (string, error) {
	name, err := certs.Subject(c)
	if err != nil {
		return "", err
	}
	user, err := rules.User(name)
	return "User:" + user, err
}
