package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// securityFlags say how a command's client logs in and whom it trusts. Each is also a variable DOZE_CLIENT_..., and counts over what
// the file of properties says.
type securityFlags struct {
	ClientConfig         string `help:"File of a client's properties for TLS and logins, such as --command-config of Kafka's tools takes." placeholder:"FILE" group:"TLS and logins:"`
	TLS                  bool   `name:"tls" help:"Speak TLS, trusting what the system trusts." group:"TLS and logins:"`
	TLSCA                string `name:"tls-ca" help:"File of the authorities to trust, in PEM; then TLS is spoken." placeholder:"FILE" group:"TLS and logins:"`
	TLSCert              string `name:"tls-cert" help:"File of the certificate to show, in PEM; then TLS is spoken." placeholder:"FILE" group:"TLS and logins:"`
	TLSKey               string `name:"tls-key" help:"File of its key. Default: it is in the file of --tls-cert." placeholder:"FILE" group:"TLS and logins:"`
	TLSServerName        string `name:"tls-server-name" help:"Name that the broker's certificate is to have. Default: the host that is connected to." placeholder:"NAME" group:"TLS and logins:"`
	SASLMechanism        string `name:"sasl-mechanism" help:"Log in by PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER." placeholder:"NAME" group:"TLS and logins:"`
	Username             string `help:"Name to log in with." placeholder:"NAME" group:"TLS and logins:"`
	Password             string `help:"Password, or OAUTHBEARER's token. What stands here others of this machine can see; --password-file keeps it from them." placeholder:"TEXT" group:"TLS and logins:"`
	PasswordFile         string `help:"File of the password, or of the token." placeholder:"FILE" group:"TLS and logins:"`
	RegistryUsername     string `help:"Name to log in to the schema registry with." placeholder:"NAME" group:"TLS and logins:"`
	RegistryPassword     string `help:"Password there." placeholder:"TEXT" group:"TLS and logins:"`
	RegistryPasswordFile string `help:"File of that password." placeholder:"FILE" group:"TLS and logins:"`
}

// clientVariable begins the names of the flags' variables: --tls-ca is DOZE_CLIENT_TLS_CA.
const clientVariable = "DOZE_CLIENT_"

// withVariables fills what no flag says from the environment. Of a password and its file, the one that a flag has counts.
func (s *securityFlags) withVariables(environ []string) error {
	get := func(name string) string { return lookupVariable(environ, clientVariable+name) }
	fill := func(to *string, name string) {
		if *to == "" {
			*to = get(name)
		}
	}
	fill(&s.ClientConfig, "CONFIG")
	fill(&s.TLSCA, "TLS_CA")
	fill(&s.TLSCert, "TLS_CERT")
	fill(&s.TLSKey, "TLS_KEY")
	fill(&s.TLSServerName, "TLS_SERVER_NAME")
	fill(&s.SASLMechanism, "SASL_MECHANISM")
	fill(&s.Username, "USERNAME")
	fill(&s.RegistryUsername, "REGISTRY_USERNAME")
	if s.Password == "" && s.PasswordFile == "" {
		s.Password, s.PasswordFile = get("PASSWORD"), get("PASSWORD_FILE")
	}
	if s.RegistryPassword == "" && s.RegistryPasswordFile == "" {
		s.RegistryPassword, s.RegistryPasswordFile = get("REGISTRY_PASSWORD"), get("REGISTRY_PASSWORD_FILE")
	}
	if said := get("TLS"); said != "" && !s.TLS {
		on, err := strconv.ParseBool(said)
		if err != nil {
			return fmt.Errorf("%sTLS is %q; give it true or false", clientVariable, said)
		}
		s.TLS = on
	}
	return nil
}

// properties are those of the file, with what flags and variables say in their place.
func (s *securityFlags) properties(environ []string) (clientConfig, error) {
	if err := s.withVariables(environ); err != nil {
		return nil, err
	}
	c := clientConfig{}
	if s.ClientConfig != "" {
		var err error
		if c, err = readClientConfig(s.ClientConfig); err != nil {
			return nil, err
		}
	}
	s.sayTLS(c)
	if err := s.sayLogin(c); err != nil {
		return nil, err
	}
	s.sayProtocol(c)
	return c, s.sayRegistry(c)
}

func (s *securityFlags) speaksTLS() bool {
	return s.TLS || s.TLSCA != "" || s.TLSCert != "" || s.TLSServerName != ""
}

func (s *securityFlags) sayTLS(c clientConfig) {
	if s.TLSCA != "" {
		c.forget("ssl.truststore.certificates", "ssl.truststore.location")
		c["ssl.ca.location"] = s.TLSCA
	}
	if s.TLSCert != "" {
		c.forget("ssl.keystore.certificate.chain", "ssl.keystore.location", "ssl.keystore.key")
		c["ssl.certificate.location"], c["ssl.key.location"] = s.TLSCert, s.TLSCert
		if s.TLSKey != "" {
			c["ssl.key.location"] = s.TLSKey
		}
	}
	if s.TLSServerName != "" {
		c[keyServerName] = s.TLSServerName
	}
}

func (s *securityFlags) sayLogin(c clientConfig) error {
	password, err := secretOr(s.Password, s.PasswordFile, "--password", "--password-file")
	if err != nil {
		return err
	}
	if s.SASLMechanism != "" {
		c["sasl.mechanism"] = strings.ToUpper(s.SASLMechanism)
	}
	if s.Username == "" && password == "" {
		return nil
	}
	if c.first("sasl.mechanism", "sasl.mechanisms") == "" {
		return errors.New("a login is given, and not how it is made; add --sasl-mechanism SCRAM-SHA-512, or the one that the broker has")
	}
	if s.Username != "" {
		c.forget("sasl.jaas.config")
		c["sasl.username"] = s.Username
	}
	if password != "" && c["sasl.jaas.config"] != "" {
		return fmt.Errorf("a password is given, and %s has the login in sasl.jaas.config; give --username too", s.ClientConfig)
	}
	if password != "" {
		c["sasl.password"], c[keyTokenFile] = password, s.PasswordFile
	}
	return nil
}

// sayProtocol turns TLS and the login on when a flag asks for them.
func (s *securityFlags) sayProtocol(c clientConfig) {
	said := strings.ToUpper(c["security.protocol"])
	login := s.SASLMechanism != "" || s.Username != ""
	if !login && !s.speaksTLS() {
		return
	}
	protocol := "PLAINTEXT"
	if s.speaksTLS() || strings.HasSuffix(said, "SSL") {
		protocol = "SSL"
	}
	if login || strings.HasPrefix(said, "SASL") {
		protocol = "SASL_" + protocol
	}
	c["security.protocol"] = protocol
}

func (s *securityFlags) sayRegistry(c clientConfig) error {
	password, err := secretOr(s.RegistryPassword, s.RegistryPasswordFile, "--registry-password", "--registry-password-file")
	if err != nil || s.RegistryUsername == "" {
		return err
	}
	c["basic.auth.credentials.source"], c["basic.auth.user.info"] = "USER_INFO", s.RegistryUsername+":"+password
	c.forget(registryPrefix+"basic.auth.credentials.source", registryPrefix+"basic.auth.user.info")
	return nil
}

func (c clientConfig) forget(keys ...string) {
	for _, k := range keys {
		delete(c, k)
	}
}

// secretOr is a secret as it was given, or that of a file.
func secretOr(text, file, textFlag, fileFlag string) (string, error) {
	switch {
	case text != "" && file != "":
		return "", fmt.Errorf("%s and %s are both given; keep one", textFlag, fileFlag)
	case file != "":
		return secretOf(file)
	}
	return text, nil
}

// secretOf is a file's text without the end of its line.
func secretOf(file string) (string, error) {
	text, err := readBounded(file)
	if err != nil {
		return "", fmt.Errorf("read a password: %w; name a file that can be read", err)
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("%s has no password; write it there", file)
	}
	return secret, nil
}

// named says which file an error is of.
func named(file string, err error) error {
	if file == "" {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// registryAccess is where the schema registry is, and how it is asked.
type registryAccess struct {
	url            string
	user, password string
	transport      http.RoundTripper // nil: that of everybody
}

// registry is what the properties say of the way to the schema registry: their own TLS, else the broker's, and a login.
func (c clientConfig) registry() (registryAccess, error) {
	of := clientConfig{}
	for key, value := range c {
		if _, special := c[registryPrefix+key]; !special {
			of[strings.TrimPrefix(key, registryPrefix)] = value
		}
	}
	var a registryAccess
	if of.first("ssl.truststore.certificates", "ssl.truststore.location", "ssl.ca.location", "ssl.keystore.location", "ssl.keystore.certificate.chain", "ssl.certificate.location", keyServerName) != "" {
		t, err := of.tls()
		if err != nil {
			return a, err
		}
		transport, _ := http.DefaultTransport.(*http.Transport)
		transport = transport.Clone()
		transport.TLSClientConfig = t
		a.transport = transport
	}
	switch source := strings.ToUpper(of["basic.auth.credentials.source"]); source {
	case "", "URL":
	case "USER_INFO":
		a.user, a.password, _ = strings.Cut(of["basic.auth.user.info"], ":")
	case "SASL_INHERIT":
		var err error
		if a.user, a.password, _, err = c.user(); err != nil {
			return a, err
		}
	default:
		return a, fmt.Errorf("basic.auth.credentials.source is %q; write URL, USER_INFO or SASL_INHERIT", source)
	}
	return a, nil
}

// checked takes the login out of the URL, where others would see it.
func (a registryAccess) checked() (registryAccess, error) {
	if a.url == "" {
		return a, nil
	}
	u, err := url.Parse(a.url)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return a, errors.New("the schema registry's URL is none; write it as http://HOST:PORT or https://HOST:PORT")
	}
	if u.User != nil {
		a.user = u.User.Username()
		a.password, _ = u.User.Password()
		u.User = nil
		a.url = u.String()
	}
	return a, nil
}

// client asks the registry; nil: everybody's does.
func (a registryAccess) client() *http.Client {
	if t := a.roundTripper(); t != nil {
		return &http.Client{Transport: t}
	}
	return nil
}

func (a registryAccess) roundTripper() http.RoundTripper {
	if a.user == "" {
		return a.transport
	}
	u, err := url.Parse(a.url)
	if err != nil {
		return a.transport
	}
	next := a.transport
	if next == nil {
		next = http.DefaultTransport
	}
	return basicAuth{next, u.Host, a.user, a.password}
}

// basicAuth logs in to one host: not to another that it leads to.
type basicAuth struct {
	next                 http.RoundTripper
	host, user, password string
}

// RoundTrip sends the request with name and password.
func (b basicAuth) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == b.host {
		r = r.Clone(r.Context())
		r.SetBasicAuth(b.user, b.password)
	}
	return b.next.RoundTrip(r)
}
