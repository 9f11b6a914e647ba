package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"doze/certs"
)

// certCmd makes certificates for development.
type certCmd struct {
	Dir    string   `help:"Directory of the certificates; an authority that is there already signs again. Default: certs." default:"certs" placeholder:"DIR"`
	Host   []string `help:"Name or address that clients reach the server by. May be repeated. Default: localhost, 127.0.0.1 and ::1." placeholder:"HOST" sep:"none"`
	Client []string `help:"Make a certificate for a client of this name, the CN, in place of the server's. May be repeated." placeholder:"NAME" sep:"none"`
}

// Help is shown below the flags.
func (*certCmd) Help() string {
	return `The authority, ca.pem with ca-key.pem, is made at the first call; whoever has its key can pass for the server, so keep
it out of repositories. All files have mode 0600. It prints what the broker and clients are to be told.

Examples:
  doze cert
  doze cert --host localhost --host kafka.test --host 10.0.0.7
  doze cert --client alice`
}

// Names of files in the directory. Java reads truststore.p12 where it does not take PEM.
const (
	caFile, caKeyFile         = "ca.pem", "ca-key.pem"
	serverFile, serverKeyFile = "server.pem", "server-key.pem"
	truststoreFile            = "truststore.p12"
	truststorePassword        = "changeit" // it guards nothing: a truststore has no secret
)

var clientName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`) })

// Run makes them.
func (c *certCmd) Run(p *process) error {
	for _, name := range c.Client {
		if !clientName().MatchString(name) || name+".pem" == caFile || name+".pem" == serverFile {
			return usageError{fmt.Errorf("client name %q: use letters, digits and . _ @ -, at most 64, and neither ca nor server", name)}
		}
	}
	for _, host := range c.Host {
		if host == "" || strings.ContainsAny(host, "/ :,") && !strings.Contains(host, "::") {
			return usageError{fmt.Errorf("host %q: name a host or an address, without a port", host)}
		}
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of certificates: %w; name another with --dir", err)
	}
	authority, err := c.authority(p.stdout)
	if err != nil {
		return err
	}
	if len(c.Client) == 0 {
		return c.server(authority, p.stdout)
	}
	for _, name := range c.Client {
		if err := c.client(authority, name, p.stdout); err != nil {
			return err
		}
	}
	return nil
}

func (c *certCmd) path(name string) string { return filepath.Join(c.Dir, name) }

// authority is the one that is there, or a new one.
func (c *certCmd) authority(out io.Writer) (*certs.Authority, error) {
	certificate, err1 := os.ReadFile(c.path(caFile))
	key, err2 := os.ReadFile(c.path(caKeyFile))
	if errors.Is(err1, fs.ErrNotExist) && errors.Is(err2, fs.ErrNotExist) {
		return c.newAuthority(out)
	}
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("read the authority: %w; remove both %s and %s to make a new one", err, c.path(caFile), c.path(caKeyFile))
	}
	authority, err := certs.LoadAuthority(certs.Pair{Certificate: certificate, Key: key})
	if err != nil {
		return nil, fmt.Errorf("read the authority in %s: %w; name another directory with --dir", c.Dir, err)
	}
	return authority, nil
}

func (c *certCmd) newAuthority(out io.Writer) (*certs.Authority, error) {
	authority, err := certs.NewAuthority(time.Now())
	if err != nil {
		return nil, err
	}
	pair, err := authority.PEM()
	if err != nil {
		return nil, err
	}
	truststore, err := authority.Truststore(truststorePassword)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "made the authority %s\n", c.path(caFile))
	return authority, errors.Join(c.write(caKeyFile, pair.Key), c.write(caFile, pair.Certificate), c.write(truststoreFile, truststore))
}

// write makes a file that only its owner reads, at once.
func (c *certCmd) write(name string, content []byte) error {
	made, err := os.CreateTemp(c.Dir, "."+name+"-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", c.path(name), err)
	}
	_, err = made.Write(content)
	if err = errors.Join(err, made.Close()); err == nil {
		err = os.Rename(made.Name(), c.path(name))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", c.path(name), err), os.Remove(made.Name()))
	}
	return nil
}

func (c *certCmd) server(authority *certs.Authority, out io.Writer) error {
	hosts := c.Host
	if len(hosts) == 0 {
		hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	pair, err := authority.Server(hosts, time.Now())
	if err != nil {
		return err
	}
	if err := errors.Join(c.write(serverKeyFile, pair.Key), c.write(serverFile, pair.Certificate)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, `made the server's certificate %s for %s

the broker:
  doze serve --tls-cert %s --tls-key %s
clients with Java's properties:
  security.protocol=SSL
  ssl.truststore.type=PEM
  ssl.truststore.location=%s
clients of librdkafka:
  security.protocol=SSL
  ssl.ca.location=%s
where Java takes no PEM: %s, of type PKCS12 with the password %s
`, c.path(serverFile), strings.Join(hosts, ", "), c.path(serverFile), c.path(serverKeyFile), c.absolute(caFile), c.absolute(caFile),
		c.absolute(truststoreFile), truststorePassword)
	return err
}

// client makes one file with certificate and key for Java, and the same as two.
func (c *certCmd) client(authority *certs.Authority, name string, out io.Writer) error {
	pair, err := authority.Client(name, time.Now())
	if err != nil {
		return err
	}
	both := append(append([]byte{}, pair.Key...), pair.Certificate...)
	if err := errors.Join(c.write(name+"-key.pem", pair.Key), c.write(name+".pem", pair.Certificate), c.write(name+"-both.pem", both)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, `made the certificate %s of the client %s

the broker:
  doze serve ... --tls-client-ca %s
clients with Java's properties:
  security.protocol=SSL
  ssl.truststore.type=PEM
  ssl.truststore.location=%s
  ssl.keystore.type=PEM
  ssl.keystore.location=%s
clients of librdkafka:
  security.protocol=SSL
  ssl.ca.location=%s
  ssl.certificate.location=%s
  ssl.key.location=%s
its principal is User:CN=%s
`, c.path(name+".pem"), name, c.path(caFile), c.absolute(caFile), c.absolute(name+"-both.pem"), c.absolute(caFile), c.absolute(name+".pem"), c.absolute(name+"-key.pem"), name)
	return err
}

// absolute is a path as clients that run elsewhere can use it.
func (c *certCmd) absolute(name string) string {
	if path, err := filepath.Abs(c.path(name)); err == nil {
		return path
	}
	return c.path(name)
}
