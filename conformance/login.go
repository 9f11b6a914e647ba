package conformance

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A scenario with Logins has a broker with a second listener, named SASL, that asks for a login (SASL_PLAINTEXT). Its PLAIN
// users are Users; SCRAM users a script makes with AlterUserScramCredentials. The first listener asks for nothing: who comes
// by it is User:ANONYMOUS. Whether anything is forbidden to anybody is up to the scenario's Set (authorizer.class.name,
// super.users).

// Users are the PLAIN users of a broker with Logins, with their passwords.
var Users = map[string]string{"admin": "admin-secret", "alice": "alice-secret", "bob": "bob-secret"}

// loginListener is the name of the listener with logins; its port is loginPort above that of the first one (the controller
// of a real Kafka has the one between).
const (
	loginListener = "SASL"
	loginPort     = 2
)

// withLogins is a broker that has the second listener.
type withLogins interface{ LoginAddr() string }

// LoginAddr is the address of the listener with logins of a broker at addr that the recorder, or kafka-ref SASL=1, started.
func LoginAddr(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	n, err2 := strconv.Atoi(port)
	if err != nil || err2 != nil {
		return addr
	}
	return net.JoinHostPort(host, strconv.Itoa(n+loginPort))
}

// LoginProperties are the broker properties of logins: mechanisms and users. A scenario's own properties come over them.
func LoginProperties() map[string]string {
	const prefix = "listener.name.sasl."
	const scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
	return map[string]string{
		"listener.security.protocol.map":          "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT",
		"sasl.enabled.mechanisms":                 "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
		prefix + "plain.sasl.jaas.config":         plainUsers(),
		prefix + "scram-sha-256.sasl.jaas.config": scram,
		prefix + "scram-sha-512.sasl.jaas.config": scram,
	}
}

func plainUsers() string {
	var b strings.Builder
	b.WriteString("org.apache.kafka.common.security.plain.PlainLoginModule required")
	for _, name := range slices.Sorted(maps.Keys(Users)) {
		fmt.Fprintf(&b, " user_%s=%q", name, Users[name])
	}
	return b.String() + ";"
}

// LoginListeners are the listener properties of a real Kafka on a port with logins.
func LoginListeners(port int) map[string]string {
	client := fmt.Sprintf("PLAINTEXT://127.0.0.1:%d,%s://127.0.0.1:%d", port, loginListener, port+loginPort)
	return map[string]string{
		"listeners":            fmt.Sprintf("%s,CONTROLLER://127.0.0.1:%d", client, port+1),
		"advertised.listeners": client,
	}
}

// LoginConn gives the connection of this name at the listener with logins. It is not logged in.
func (c *C) LoginConn(name string) *Conn {
	conn := c.Conn(name)
	conn.login = func(*socket) error { return nil }
	return conn
}

// As gives the connection that is logged in as one of Users by PLAIN. The login is no step of the recording.
func (c *C) As(user string) *Conn {
	password, known := Users[user]
	if !known {
		c.Fatalf("log in as %s: there is no such user", user)
	}
	conn := c.Conn("as " + user)
	conn.login = func(s *socket) error { return s.loginPlain(user, password) }
	return conn
}

// addr is where the connection goes.
func (n *Conn) addr() string {
	if n.login == nil {
		return n.c.broker.Addr()
	}
	return n.c.loginAddr()
}

// loginAddr is where connections go that log in.
func (c *C) loginAddr() string {
	b, ok := c.broker.(withLogins)
	if !ok {
		c.Fatalf("the broker has no listener with logins")
	}
	addr := b.LoginAddr()
	c.scrub.setLoginAddr(addr)
	return addr
}

// loginPlain logs a fresh connection in.
func (s *socket) loginPlain(user, password string) error {
	handshake := kmsg.NewPtrSASLHandshakeRequest()
	handshake.Version, handshake.Mechanism = 1, "PLAIN"
	var shaken kmsg.SASLHandshakeResponse
	if err := s.ask(handshake, &shaken); err != nil {
		return err
	}
	authenticate := kmsg.NewPtrSASLAuthenticateRequest()
	authenticate.Version, authenticate.SASLAuthBytes = 2, []byte("\x00"+user+"\x00"+password)
	var done kmsg.SASLAuthenticateResponse
	if err := s.ask(authenticate, &done); err != nil {
		return err
	}
	if shaken.ErrorCode != 0 || done.ErrorCode != 0 {
		return fmt.Errorf("log in as %s: codes %d and %d", user, shaken.ErrorCode, done.ErrorCode)
	}
	return nil
}

// ask sends a request beside the script and reads its answer.
func (s *socket) ask(req kmsg.Request, resp kmsg.Response) error {
	if err := s.send(frameOf(req, 0)); err != nil {
		return err
	}
	frame, err := s.receive(patience)
	if err != nil {
		return err
	}
	_, body, err := splitAnswer(frame, req.Key(), req.IsFlexible())
	if err != nil {
		return err
	}
	resp.SetVersion(req.GetVersion())
	return resp.ReadFrom(body)
}
