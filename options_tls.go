package doze

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"

	"doze/certs"
	"doze/configs"
)

// TLS names files in PEM: what listeners with TLS show, and whom they trust. Kafka's properties ssl.* can say the same, for
// all listeners or for one. Files that change are read again.
type TLS struct {
	// CertFile has the server's certificate and the chain behind it.
	CertFile string

	// KeyFile has the certificate's key. Default: it is in CertFile.
	KeyFile string

	// ClientCAFile has the certificates of the authorities that clients' certificates must be signed by. When it is set,
	// clients must show one, unless the property ssl.client.auth says otherwise.
	ClientCAFile string
}

func hasTLS(protocol string) bool { return protocol == protocolSSL || protocol == protocolSASLSSL }

// source says where the certificates of a listener come from: properties of its own, else Options.TLS, else properties of all.
func (o Options) source(l Listener) certs.Source {
	var s certs.Source
	if o.TLS.CertFile != "" && !o.hasOwn(l, "ssl.keystore.") {
		s.CertFile, s.KeyFile = o.TLS.CertFile, cmp.Or(o.TLS.KeyFile, o.TLS.CertFile)
	} else {
		s.Keystore = o.store(l, "ssl.keystore.", "certificate.chain")
		s.Keystore.Key = o.ofListener(l, "ssl.keystore.key")
	}
	if o.TLS.ClientCAFile != "" && !o.hasOwn(l, "ssl.truststore.") {
		s.CAFile = o.TLS.ClientCAFile
	} else {
		s.Truststore = o.store(l, "ssl.truststore.", "certificates")
	}
	return s
}

// hasOwn says whether properties that begin so are set for the listener alone.
func (o Options) hasOwn(l Listener, prefix string) bool {
	own := ownPrefix(l) + prefix
	for name := range o.Properties {
		if strings.HasPrefix(name, own) {
			return true
		}
	}
	return false
}

func (o Options) store(l Listener, prefix, certificates string) certs.Store {
	return certs.Store{
		File: o.ofListener(l, prefix+"location"), Password: o.ofListener(l, prefix+"password"), Certificates: o.ofListener(l, prefix+certificates),
	}
}

// clientAuth is what a listener with TLS asks of its clients. As in Kafka the property of all does not hold where clients log
// in by SASL; Options.TLS does.
func (o Options) clientAuth(l Listener) (tls.ClientAuthType, error) {
	mode, own := o.Properties[ownPrefix(l)+"ssl.client.auth"]
	if !own && (!o.asksForLogin(l) || o.TLS.ClientCAFile != "") {
		mode = o.Properties["ssl.client.auth"]
		if mode == "" && o.TLS.ClientCAFile != "" {
			mode = "required"
		}
	}
	switch strings.ToLower(mode) {
	case "", "none":
		return tls.NoClientCert, nil
	case "requested":
		return tls.VerifyClientCertIfGiven, nil
	case "required":
		return tls.RequireAndVerifyClientCert, nil
	}
	return 0, fmt.Errorf("listener %s: ssl.client.auth is %q; give it required, requested or none", l.Name, mode)
}

// protected says whether nobody gets past the listener who has neither a login nor a certificate.
func (o Options) protected(l Listener) bool {
	if o.asksForLogin(l) {
		return !o.takesUnsigned(l)
	}
	auth, err := o.clientAuth(l)
	return err == nil && hasTLS(o.protocolOf(l)) && auth == tls.RequireAndVerifyClientCert
}

// tlsSettings are those of a listener with TLS.
func (o Options) tlsSettings(l Listener) (certs.Settings, error) {
	s := certs.Settings{Source: o.source(l)}
	if !s.Shows() {
		return s, fmt.Errorf("listener %s asks for TLS, and there is no certificate for it; give --tls-cert and --tls-key, which doze cert makes, or the property ssl.keystore.location", l.Name)
	}
	var err1, err2, err3 error
	s.ClientAuth, err1 = o.clientAuth(l)
	s.Min, s.Max, err2 = tlsVersions(o.ofListener(l, "ssl.enabled.protocols"))
	s.Ciphers, err3 = tlsCiphers(o.ofListener(l, "ssl.cipher.suites"))
	if err := errors.Join(err1, err2, err3); err != nil {
		return s, err
	}
	if s.ClientAuth != tls.NoClientCert && !s.Trusts() {
		return s, fmt.Errorf("listener %s asks clients for certificates, and trusts no authority; give --tls-client-ca or the property ssl.truststore.location", l.Name)
	}
	return s, nil
}

func tlsVersions(text string) (low, high uint16, err error) {
	for _, name := range configs.Entries(text) {
		version := map[string]uint16{"TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}[name]
		if version == 0 {
			continue // older ones are not spoken here, as in today's Java
		}
		high = max(high, version)
		if low == 0 || version < low {
			low = version
		}
	}
	if low == 0 && strings.TrimSpace(text) != "" {
		return 0, 0, fmt.Errorf("ssl.enabled.protocols is %q; doze speaks TLSv1.2 and TLSv1.3: name one of them", text)
	}
	return low, high, nil
}

// tlsCiphers are those of TLS 1.2 among the names; those of 1.3 cannot be chosen and pass.
func tlsCiphers(text string) ([]uint16, error) {
	var ids []uint16
	for _, name := range configs.Entries(text) {
		i := slices.IndexFunc(tls.CipherSuites(), func(c *tls.CipherSuite) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("ssl.cipher.suites has %s, which doze does not have; leave it out", name)
		}
		ids = append(ids, tls.CipherSuites()[i].ID)
	}
	return ids, nil
}

// checkTLS says what is wrong with certificates' settings; the files are read when the broker starts.
func (o Options) checkTLS() error {
	var errs []error
	if o.TLS.CertFile == "" && (o.TLS.KeyFile != "" || o.TLS.ClientCAFile != "") {
		errs = append(errs, errors.New("a key or an authority is named, but no certificate; give --tls-cert too"))
	}
	for _, name := range []string{"ssl.keystore.location", "ssl.keystore.certificate.chain"} {
		if o.TLS.CertFile != "" && o.Properties[name] != "" {
			errs = append(errs, fmt.Errorf("the certificate is set twice, by --tls-cert and by property %s; keep one", name))
		}
	}
	for _, l := range o.Listeners {
		if !hasTLS(o.protocolOf(l)) {
			continue
		}
		_, err := o.tlsSettings(l)
		errs = append(errs, err)
		if _, err := o.mappingRules(l); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (o Options) mappingRules(l Listener) (certs.Rules, error) {
	text, set := o.Properties[ownPrefix(l)+"ssl.principal.mapping.rules"]
	if !set {
		if text, set = o.Properties["ssl.principal.mapping.rules"]; !set {
			text = "DEFAULT"
		}
	}
	rules, err := certs.ParseRules(text)
	if err != nil {
		return nil, fmt.Errorf("property ssl.principal.mapping.rules: %w", err)
	}
	return rules, nil
}
