package conformance

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const saslPart = 3 // of the fourth, and built

func saslScenarios() []Scenario {
	of := func(name, claim string, run func(c *C)) Scenario {
		return Scenario{Name: "sasl-" + name, Claim: claim, Part: saslPart, Logins: true, Run: run}
	}
	list := []Scenario{
		of("handshake", "SaslHandshake names the enabled mechanisms; one that is not enabled is refused with error 33 and the connection closed.", runSASLHandshake),
		of("plain", "PLAIN lets in who has the right password, and says what is wrong with a message but not whether the user or the password is.", runSASLPlain),
		of("plain-raw", "After SaslHandshake v0 tokens go without headers; a refusal is the close.", runSASLRaw),
		of("order", "What comes out of order in a login closes the connection, with an answer where Kafka has one.", runSASLOrder),
		of("middle", "A request of any API between SaslHandshake and SaslAuthenticate is answered with error 34 in its own form, and the connection closed.", runSASLMiddle),
		of("middle-later", "The same of APIs that doze did not have when logins came.", runSASLMiddleLater),
		of("middle-content", "Such a request with something in every list is answered with error 34 at each thing that was asked for.", runSASLMiddleContent),
		of("logged-in", "Once logged in, SaslHandshake and SaslAuthenticate are answered with error 34 and the connection goes on.", runSASLLoggedIn),
		of("scram", "SCRAM lets in who has the right password by either hash; wrong, replayed, swapped and truncated messages are refused.", runSCRAM),
		of("scram-unknown", "Kafka refuses a name that is not known at the first message of SCRAM.", runSCRAMUnknown),
		of("scram-users", "AlterUserScramCredentials answers each user by itself; DescribeUserScramCredentials tells mechanisms and iterations.", runSCRAMUsers),
		of("scram-messages", "What a first message of SCRAM may look like, and that one of more than it needs is let pass.", runSCRAMMessages),
	}
	for i := range list {
		if list[i].Name == "sasl-scram-users" {
			list[i].Fresh = true
		}
	}
	plain := of("plain-listener", "On a listener without logins SaslHandshake and SaslAuthenticate are answered with error 34 and the connection goes on.", runSASLPlainListener)
	plain.Logins = false
	reauth := of("reauth", "With connections.max.reauth.ms a session has that lifetime; who logs in again must be the same by the same mechanism; once a second at most.", runReauth)
	reauth.Set = map[string]string{"connections.max.reauth.ms": "60000"}
	expiry := of("session-expiry", "A request after the session's end closes the connection; SaslHandshake begins a new session.", runSessionExpiry)
	expiry.Set = map[string]string{"connections.max.reauth.ms": "1100"}
	return append(list, plain, reauth, expiry)
}

func handshake(mechanism string) *kmsg.SASLHandshakeRequest {
	r := kmsg.NewPtrSASLHandshakeRequest()
	r.Mechanism = mechanism
	return r
}

func token(text string) *kmsg.SASLAuthenticateRequest {
	r := kmsg.NewPtrSASLAuthenticateRequest()
	r.SASLAuthBytes = []byte(text)
	return r
}

func runSASLHandshake(c *C) {
	for _, version := range []int16{0, 1} {
		for i, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER", "plain", "", "x"} {
			conn := c.LoginConn(fmt.Sprint("c", version, i))
			p := conn.Send(fmt.Sprintf("handshake %q v%d", mechanism, version), version, handshake(mechanism))
			p.Await()
			if i >= 3 {
				p.TookAtLeast(100 * time.Millisecond)
				conn.Do("after it", 1, handshake("PLAIN"))
			}
			conn.Close()
		}
	}
	a := c.LoginConn("versions")
	a.Do("v2", 2, handshake("PLAIN"))
}

func runSASLPlain(c *C) {
	tokens := []struct{ what, text string }{
		{"right", "\x00alice\x00alice-secret"},
		{"right, for oneself", "alice\x00alice\x00alice-secret"},
		{"right, for another", "bob\x00alice\x00alice-secret"},
		{"wrong password", "\x00alice\x00bob-secret"},
		{"wrong password, for another", "bob\x00alice\x00x"},
		{"unknown user", "\x00carol\x00alice-secret"},
		{"user in other case", "\x00Alice\x00alice-secret"},
		{"password with a space", "\x00alice\x00alice-secret "},
		{"no user", "\x00\x00alice-secret"},
		{"no password", "\x00alice\x00"},
		{"nothing", ""},
		{"one token", "alice"},
		{"two tokens", "alice\x00alice-secret"},
		{"four tokens", "\x00alice\x00alice-secret\x00"},
		{"five tokens", "\x00alice\x00alice-secret\x00\x00"},
		{"not UTF-8", "\x00alice\xff\x00alice-secret"},
	}
	for i, t := range tokens {
		for _, version := range []int16{0, 1, 2} {
			if i > 1 && version < 2 {
				continue
			}
			conn := c.LoginConn(fmt.Sprint(t.what, " ", version))
			conn.Do("handshake", 1, handshake("PLAIN"))
			p := conn.Send(t.what, version, token(t.text))
			resp, _ := p.Await().(*kmsg.SASLAuthenticateResponse)
			if resp != nil && resp.ErrorCode != 0 {
				p.TookAtLeast(100 * time.Millisecond)
			}
			conn.Do("after it", 12, metadataFor("sasl-plain-none"))
			conn.Close()
		}
	}
}

func withLength(text string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

func runSASLRaw(c *C) {
	for i, text := range []string{"\x00alice\x00alice-secret", "\x00alice\x00wrong", "\x00carol\x00x", "x", ""} {
		conn := c.LoginConn(fmt.Sprint("raw", i))
		conn.Do("handshake v0", 0, handshake("PLAIN"))
		conn.SendBytes(fmt.Sprintf("token %d", i), withLength(text)).Await()
		conn.Do("after it", 12, metadataFor("sasl-raw-none"))
		conn.Close()
	}
	conn := c.LoginConn("with header")
	conn.Do("handshake v0", 0, handshake("PLAIN"))
	conn.Do("authenticate with a header", 1, token("\x00alice\x00alice-secret"))
	conn = c.LoginConn("both")
	conn.Do("handshake v0", 0, handshake("PLAIN"))
	conn.Do("handshake v1", 1, handshake("PLAIN"))
}

func saslVersions(name string) *kmsg.ApiVersionsRequest {
	r := kmsg.NewPtrApiVersionsRequest()
	r.ClientSoftwareName, r.ClientSoftwareVersion = name, "1"
	return r
}

func runSASLOrder(c *C) {
	right := func(conn *Conn) {
		conn.Do("handshake", 1, handshake("PLAIN"))
		conn.Do("authenticate", 2, token("\x00alice\x00alice-secret"))
		conn.Do("metadata", 12, metadataFor("sasl-order-none"))
	}
	begin := func(name string, version int16, req kmsg.Request, then func(*Conn)) {
		conn := c.LoginConn(name)
		p := conn.Send(name, version, req)
		if v, ok := req.(*kmsg.ApiVersionsRequest); ok && v.ClientSoftwareName != "" && version < 5 {
			p.Only("ErrorCode", "ThrottleMillis")
		}
		p.Await()
		then(conn)
		conn.Close()
	}
	versions := func(version int16, name string) func(*Conn) {
		return func(conn *Conn) {
			conn.Send("versions again", version, saslVersions(name)).Only("ErrorCode").Await()
			right(conn)
		}
	}
	begin("versions first", 3, saslVersions("x"), right)
	begin("versions twice", 3, saslVersions("x"), versions(3, "x"))
	begin("bad versions first", 3, saslVersions("-"), versions(3, "x"))
	begin("bad versions twice", 3, saslVersions("-"), versions(3, "-"))
	begin("new versions first", 9, saslVersions("x"), versions(3, "x"))
	begin("new versions twice", 9, saslVersions("x"), versions(9, "x"))
	begin("new versions after versions", 3, saslVersions("x"), versions(9, "x"))
	begin("metadata first", 12, metadataFor("x"), right)
	begin("authenticate first", 2, token("\x00alice\x00alice-secret"), right)
	begin("produce first", 9, kmsg.NewPtrProduceRequest(), right)
	begin("handshake twice", 1, handshake("PLAIN"), right)
	begin("versions after handshake", 1, handshake("PLAIN"), versions(3, "x"))
	begin("new versions after handshake", 1, handshake("PLAIN"), versions(9, "x"))
	begin("authenticate v3", 1, handshake("PLAIN"), func(conn *Conn) { conn.Do("authenticate v3", 3, token("\x00alice\x00alice-secret")) })
	begin("metadata v99", 1, handshake("PLAIN"), func(conn *Conn) { conn.Do("metadata v99", 99, metadataFor("x")) })
	begin("garbage", 1, handshake("PLAIN"), func(conn *Conn) { conn.SendBytes("garbage", withLength("garbage")).Await() })
	conn := c.LoginConn("garbage first")
	conn.SendBytes("garbage first", withLength("garbage first")).Await()
	conn = c.LoginConn("long first")
	conn.SendBytes("512 KiB and a byte", []byte{0, 8, 0, 1}).Await()
}

func runSASLLoggedIn(c *C) {
	for _, v := range []int16{0, 1} {
		conn := c.As("alice")
		conn.Do("handshake", v, handshake("PLAIN"))
		conn.Do("handshake of none", v, handshake("x"))
		conn.Do("authenticate", 2*v, token("\x00alice\x00alice-secret"))
		conn.Do("metadata", 12, metadataFor("sasl-logged-in-none"))
		conn.Close()
	}
}

func runSASLPlainListener(c *C) {
	conn := c.Conn("a")
	for _, v := range []int16{0, 1, 2} {
		conn.Do("handshake", min(v, 1), handshake("PLAIN"))
		conn.Do("authenticate", v, token("\x00alice\x00alice-secret"))
	}
	conn.Do("metadata", 12, metadataFor("sasl-plain-listener-none"))
}

func runReauth(c *C) {
	const plain, right = "PLAIN", "\x00alice\x00alice-secret"
	login := func(name string) *Conn {
		conn := c.LoginConn(name)
		conn.Do("handshake", 1, handshake(plain))
		conn.Do("login", 2, token(right))
		return conn
	}
	a := login("again")
	a.Do("handshake again", 1, handshake(plain))
	a.Do("login again", 2, token(right))
	a.Do("metadata", 12, metadataFor("sasl-reauth-none"))
	a.Do("handshake within a second", 1, handshake(plain))
	a.Do("metadata goes on", 12, metadataFor("sasl-reauth-none"))

	b := login("as another")
	b.Do("handshake again", 1, handshake(plain))
	b.DoTimed("login as bob", 2, token("\x00bob\x00bob-secret"), 100*time.Millisecond)
	b.Close()
	d := login("wrong password")
	d.Do("handshake again", 1, handshake(plain))
	d.Do("wrong password", 2, token("\x00alice\x00x"))
	d.Close()
	e := login("another mechanism")
	e.Do("handshake of SCRAM", 1, handshake("SCRAM-SHA-256"))
	e.Do("after it", 2, token("n,,n=alice,r=abc"))
	e.Close()
	f := login("no mechanism")
	f.Do("handshake of none", 1, handshake("x"))
	f.Close()
	g := login("request between")
	g.Do("handshake again", 1, handshake(plain))
	g.Do("metadata", 12, metadataFor("sasl-reauth-none"))
	g.Close()
	h := login("raw")
	h.Do("handshake v0", 0, handshake(plain))
	h.SendBytes("token", withLength(right)).Await()
	h.Do("metadata", 12, metadataFor("sasl-reauth-none"))
	h.Close()
	i := login("old client")
	i.Do("handshake again", 1, handshake(plain))
	i.Do("authenticate v0", 0, token(right))
	i.Do("metadata", 12, metadataFor("sasl-reauth-none"))
}

func runSessionExpiry(c *C) {
	for _, name := range []string{"request", "handshake", "authenticate"} {
		conn := c.LoginConn(name)
		conn.Do("handshake", 1, handshake("PLAIN"))
		conn.Do("login", 2, token("\x00alice\x00alice-secret"))
		conn.Do("in time", 12, metadataFor("sasl-expiry-none"))
		time.Sleep(1300 * time.Millisecond)
		switch name {
		case "request":
			conn.Do("too late", 12, metadataFor("sasl-expiry-none"))
		case "handshake":
			conn.Do("handshake again", 1, handshake("PLAIN"))
			conn.Do("login again", 2, token("\x00alice\x00alice-secret"))
			conn.Do("in time again", 12, metadataFor("sasl-expiry-none"))
		case "authenticate":
			conn.Do("authenticate too late", 2, token("\x00alice\x00alice-secret"))
		}
	}
}

// runSASLMiddle sends each API's request of defaults, and one of each that names something, where a token is due.
func runSASLMiddle(c *C) {
	for _, r := range advertised {
		if r.key == 36 || laterKeys[r.key] || leftOut(r.key) {
			continue
		}
		req := kmsg.RequestForKey(r.key)
		middle(c, hyphenated(kmsg.NameForKey(r.key)), r.max, req)
	}
	for _, req := range namedRequests() {
		middle(c, "named-"+hyphenated(kmsg.NameForKey(req.Key())), maxAdvertised(req.Key()), req)
	}
}

// laterKeys are APIs that came after logins.
var laterKeys = map[int16]bool{
	29: true, 30: true, 31: true, 34: true, 38: true, 39: true, 40: true, 41: true, 43: true, 45: true, 46: true, 48: true, 49: true,
	55: true, 64: true, 80: true, 81: true,
}

func runSASLMiddleLater(c *C) {
	for _, r := range advertised {
		if laterKeys[r.key] {
			middle(c, hyphenated(kmsg.NameForKey(r.key)), r.max, kmsg.RequestForKey(r.key))
		}
	}
}

func maxAdvertised(key int16) int16 {
	for _, r := range advertised {
		if r.key == key {
			return r.max
		}
	}
	return 0
}

func middle(c *C, name string, version int16, req kmsg.Request) {
	conn := c.LoginConn(name)
	conn.Do("handshake", 1, handshake("PLAIN"))
	conn.Do(name, version, req)
	conn.Close()
}

// namedRequests are of APIs whose refusal has an entry for each thing that was asked for.
func namedRequests() []kmsg.Request {
	metadata := metadataFor("a")
	create := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic = "a"
	create.Topics = append(create.Topics, topic)
	offsets := kmsg.NewPtrListOffsetsRequest()
	of := kmsg.NewListOffsetsRequestTopic()
	of.Topic, of.Partitions = "a", []kmsg.ListOffsetsRequestTopicPartition{kmsg.NewListOffsetsRequestTopicPartition()}
	offsets.Topics = append(offsets.Topics, of)
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKeys = []string{"a"}
	return []kmsg.Request{metadata, create, offsets, find}
}
