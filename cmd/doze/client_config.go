package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	ksasl "github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"doze/configs"
	"doze/sasl"
)

// clientConfigKeys are what --client-config acts on, in the names of Java's clients and of librdkafka. Others are those of other
// programs and left aside.
var clientConfigKeys = []string{
	"bootstrap.servers", "security.protocol", "sasl.mechanism", "sasl.mechanisms", "sasl.jaas.config", "sasl.username", "sasl.password",
	"ssl.truststore.location", "ssl.truststore.type", "ssl.truststore.certificates", "ssl.ca.location",
	"ssl.keystore.location", "ssl.keystore.type", "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.certificate.location", "ssl.key.location",
	"ssl.endpoint.identification.algorithm", "basic.auth.credentials.source", "basic.auth.user.info",
}

// Keys that no file has, for flags say them.
const (
	keyServerName = "(server name)"
	keyTokenFile  = "(token file)"
)

// registryPrefix begins what holds for the schema registry alone.
const registryPrefix = "schema.registry."

// clientConfig is a client's properties.
type clientConfig map[string]string

// readClientConfig reads a file of a client's properties, the one that --command-config of Kafka's tools takes.
//
//fuzz:not-a-parser configs.ParseProperties reads the text
func readClientConfig(name string) (clientConfig, error) {
	text, err := readBounded(name)
	if err != nil {
		return nil, fmt.Errorf("read the client's properties: %w; name a file that can be read", err)
	}
	all, err := configs.ParseProperties(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; correct the line", name, err)
	}
	c := clientConfig{}
	for _, p := range all {
		if slices.Contains(clientConfigKeys, strings.TrimPrefix(p.Name, registryPrefix)) {
			c[p.Name] = p.Value
		} else if near := configs.Nearest(p.Name, slices.Values(clientConfigKeys)); near != "" && strings.HasPrefix(p.Name, "s") {
			return nil, fmt.Errorf("%s line %d: %s is not known; did you mean %s?", name, p.Line, p.Name, near)
		}
	}
	return c, nil
}

// first is the first of the keys that is set.
func (c clientConfig) first(keys ...string) string {
	for _, k := range keys {
		if c[k] != "" {
			return c[k]
		}
	}
	return ""
}

// security is how a client logs in, and whom it trusts.
type security struct {
	protocol, mechanism string
	login               ksasl.Mechanism // nil: none
	tls                 *tls.Config     // nil: none
}

// loginOptions are the client's options of the login.
func (s security) loginOptions() []kgo.Opt {
	if s.login == nil {
		return nil
	}
	return []kgo.Opt{kgo.SASL(s.login)}
}

// security is what the properties say about TLS and login. No error repeats a password.
func (c clientConfig) security() (s security, err error) {
	protocol := strings.ToUpper(c["security.protocol"])
	switch protocol {
	case "", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL":
	default:
		return s, fmt.Errorf("security.protocol is %q; write PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL", protocol)
	}
	s.protocol = protocol
	if strings.HasSuffix(protocol, "SSL") {
		if s.tls, err = c.tls(); err != nil {
			return s, err
		}
	}
	if strings.HasPrefix(protocol, "SASL") {
		s.mechanism = strings.ToUpper(c.first("sasl.mechanism", "sasl.mechanisms"))
		s.login, err = c.login()
	}
	return s, err
}

// login is the mechanism with its name and password.
func (c clientConfig) login() (ksasl.Mechanism, error) {
	mechanism := strings.ToUpper(c.first("sasl.mechanism", "sasl.mechanisms"))
	if mechanism == mechanismOAuth {
		return c.token()
	}
	user, password, jaas, err := c.user()
	if err != nil {
		return nil, err
	}
	if user == "" {
		return nil, errors.New("there is no login; add sasl.jaas.config, or sasl.username and sasl.password (--username and --password-file)")
	}
	return loginBy(mechanism, scram.Auth{User: user, Pass: password, IsToken: jaas["tokenauth"] == "true"})
}

// loginBy is a login with a name and a password by a mechanism that takes these.
func loginBy(mechanism string, auth scram.Auth) (ksasl.Mechanism, error) {
	switch mechanism {
	case "PLAIN":
		return plain.Auth{User: auth.User, Pass: auth.Pass}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return auth.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return auth.AsSha512Mechanism(), nil
	default:
		return nil, fmt.Errorf("sasl.mechanism is %q; write PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER", mechanism)
	}
}

// user is the name and the password, of the JAAS text before others.
func (c clientConfig) user() (user, password string, jaas map[string]string, err error) {
	if jaas, err = sasl.ParseJAAS(c["sasl.jaas.config"]); err != nil {
		return "", "", nil, fmt.Errorf("sasl.jaas.config: %w", err)
	}
	if jaas["username"] != "" {
		return jaas["username"], jaas["password"], jaas, nil
	}
	return c["sasl.username"], c["sasl.password"], jaas, nil
}

// token is the login by a token: the password's text. One of a file is read anew at each login, for it may have been renewed.
func (c clientConfig) token() (ksasl.Mechanism, error) {
	file, token := c[keyTokenFile], c["sasl.password"]
	if file == "" && token == "" {
		return nil, errors.New("there is no token; give OAUTHBEARER's as the password: --password-file FILE")
	}
	return oauth.Oauth(func(context.Context) (oauth.Auth, error) {
		if file == "" {
			return oauth.Auth{Token: token}, nil
		}
		token, err := secretOf(file)
		return oauth.Auth{Token: token}, err
	}), nil
}

// tls trusts what the properties name, else what the system trusts, and shows a certificate if they have one.
func (c clientConfig) tls() (*tls.Config, error) {
	t := &tls.Config{ServerName: c[keyServerName]}
	_, said := c["ssl.endpoint.identification.algorithm"]
	authorities, err := c.pem("ssl.truststore.certificates", "ssl.truststore.location", "ssl.ca.location")
	if err != nil {
		return nil, err
	}
	if authorities != nil {
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(authorities) {
			return nil, errors.New("the truststore has no certificate in PEM; set ssl.truststore.type=PEM and name such a file")
		}
	}
	if said && c["ssl.endpoint.identification.algorithm"] == "" {
		checkChainOnly(t)
	}
	chain, err := c.pem("ssl.keystore.certificate.chain", "ssl.keystore.location", "ssl.certificate.location")
	if err != nil || chain == nil {
		return t, err
	}
	key, err := c.pem("ssl.keystore.key", "ssl.keystore.location", "ssl.key.location")
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("the client's certificate: %w; name PEM files of a certificate and its key", err)
	}
	t.Certificates = []tls.Certificate{pair}
	return t, nil
}

// checkChainOnly checks who signed the server's certificate, and not for which name, as Java does with an empty
// ssl.endpoint.identification.algorithm.
func checkChainOnly(t *tls.Config) {
	roots := t.RootCAs
	t.InsecureSkipVerify = true //nolint:gosec // VerifyConnection does it, but for the name
	t.VerifyConnection = func(s tls.ConnectionState) error {
		others := x509.NewCertPool()
		for _, c := range s.PeerCertificates[1:] {
			others.AddCert(c)
		}
		_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: others})
		return err
	}
}

// pem is the text of the first key, or of the file that another names; nil for none.
func (c clientConfig) pem(text string, files ...string) ([]byte, error) {
	if c[text] != "" {
		return []byte(c[text]), nil
	}
	for _, key := range files {
		if c[key] == "" {
			continue
		}
		kind := strings.TrimSuffix(key, ".location") + ".type"
		if strings.HasSuffix(key, "store.location") && !strings.EqualFold(c[kind], "PEM") {
			return nil, fmt.Errorf("%s is no PEM file; this command takes no other: set %s=PEM and name one", key, kind)
		}
		b, err := os.ReadFile(c[key])
		if err != nil {
			return nil, fmt.Errorf("%s: %w; name a file that can be read", key, err)
		}
		return b, nil
	}
	return nil, nil
}
