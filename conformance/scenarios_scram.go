package conformance

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// scramHash is a SCRAM mechanism for the client's side of an exchange.
type scramHash struct {
	name   string
	number int8
	size   int
	new    func() hash.Hash
}

var (
	scram256 = scramHash{"SCRAM-SHA-256", 1, 32, sha256.New}
	scram512 = scramHash{"SCRAM-SHA-512", 2, 64, sha512.New}
)

func (h scramHash) mac(key []byte, text string) []byte {
	m := hmac.New(h.new, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

func (h scramHash) salted(password, salt string, iterations int) []byte {
	key, _ := pbkdf2.Key(h.new, password, []byte(salt), iterations, h.size) // fails for no argument given here
	return key
}

// final answers the broker's first message.
func (h scramHash) final(password, bare, server string) string {
	fields := strings.Split(server, ",")
	if len(fields) < 3 {
		return "no first message"
	}
	salt, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(fields[1], "s="))
	iterations, _ := strconv.Atoi(strings.TrimPrefix(fields[2], "i="))
	without := "c=biws," + fields[0]
	key := h.mac(h.salted(password, string(salt), max(iterations, 1)), "Client Key")
	stored := h.new()
	stored.Write(key)
	proof := h.mac(stored.Sum(nil), bare+","+server+","+without)
	for i := range proof {
		proof[i] ^= key[i]
	}
	return without + ",p=" + base64.StdEncoding.EncodeToString(proof)
}

// upsert sets a user's password.
func (h scramHash) upsert(user, password string) *kmsg.AlterUserSCRAMCredentialsRequest {
	r := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	u := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
	u.Name, u.Mechanism, u.Iterations, u.Salt = user, h.number, 4096, []byte("salt-of-"+user)
	u.SaltedPassword = h.salted(password, "salt-of-"+user, 4096)
	r.Upsertions = append(r.Upsertions, u)
	return r
}

// scramSecrets are the parts of messages that differ from run to run.
var scramSecrets = []struct {
	form *regexp.Regexp
	kind string
}{
	{regexp.MustCompile(`\br=once-[0-9A-Za-z]{20,}`), "r=once-<nonce>"},
	{regexp.MustCompile(`\bs=[A-Za-z0-9+/=]+`), "s=<salt>"},
	{regexp.MustCompile(`\bp=[A-Za-z0-9+/=]{20,}`), "p=<proof>"},
	{regexp.MustCompile(`^v=[A-Za-z0-9+/=]+$`), "v=<signature>"},
}

// scrubSCRAM takes nonces and what follows from them out of a message.
func scrubSCRAM(text string) string {
	for _, s := range scramSecrets {
		text = s.form.ReplaceAllLiteralString(text, s.kind)
	}
	return text
}

// start sends handshake and first message, and gives the broker's.
func (h scramHash) start(conn *Conn, bare string) string {
	conn.Do("handshake", 1, handshake(h.name))
	resp, _ := conn.Do("first message", 2, token("n,,"+bare)).(*kmsg.SASLAuthenticateResponse)
	if resp == nil {
		return ""
	}
	return string(resp.SASLAuthBytes)
}

func makeSCRAMUser(c *C, h scramHash, user, password string) {
	c.Conn("admin").Do("make "+user, 0, h.upsert(user, password))
	// The answer comes before every part of the broker has heard of the user.
	time.Sleep(300 * time.Millisecond)
}

func runSCRAM(c *C) {
	for _, h := range []scramHash{scram256, scram512} {
		user := "scram-" + strconv.Itoa(h.size)
		makeSCRAMUser(c, h, user, "pencil")
		bare := "n=" + user + ",r=once-"
		try := func(name, bare, password string, change func(string) string) {
			conn := c.LoginConn(name + " " + h.name)
			final := h.final(password, bare, h.start(conn, bare))
			if change != nil {
				final = change(final)
			}
			conn.DoTimed(name, 2, token(final), 0)
			conn.Send("after it", 12, metadataFor("sasl-scram-none")).Await()
			conn.Close()
		}
		keep := ""
		try("right", bare, "pencil", func(s string) string { keep = s; return s })
		try("replayed", bare, "pencil", func(string) string { return keep })
		try("wrong password", bare, "Pencil", nil)
		try("unknown user", "n=nobody,r=once-", "pencil", nil)
		try("no proof", bare, "pencil", func(s string) string { return s[:strings.Index(s, ",p=")] })
		try("short proof", bare, "pencil", func(s string) string { return s[:strings.Index(s, ",p=")+3] + "AAAA" })
		try("empty proof", bare, "pencil", func(s string) string { return s[:strings.Index(s, ",p=")+3] })
		try("other nonce", bare, "pencil", func(s string) string { return strings.Replace(s, "r=once-", "r=twice-", 1) })
		try("other channel binding", bare, "pencil", func(s string) string { return strings.Replace(s, "c=biws", "c=eSws", 1) })
		try("extension", bare, "pencil", func(s string) string { return strings.Replace(s, ",p=", ",x=y,p=", 1) })
		try("truncated", bare, "pencil", func(s string) string { return s[:len(s)-3] })
		try("nothing", bare, "pencil", func(string) string { return "" })
		try("first message again", bare, "pencil", func(string) string { return "n,," + bare })
		try("token that is none", "n=no-token,r=once-,tokenauth=true", "pencil", nil)
		try("user as token", bare+",tokenauth=true", "pencil", nil)

		swapped := c.LoginConn("swapped " + h.name)
		swapped.Do("handshake", 1, handshake(h.name))
		swapped.Do("final message first", 2, token(keep))
	}
	other := c.LoginConn("user of the other hash")
	scram512.start(other, "n=scram-32,r=once-")
}

func runSCRAMMessages(c *C) {
	makeSCRAMUser(c, scram256, "odd,=user", "pencil")
	for _, m := range []string{
		"n,,n=odd=2C=3Duser,r=once-", "n,a=odd=2C=3Duser,n=odd=2C=3Duser,r=once-", "n,,n=odd=2C=3Duser,r=once-,x=y", "n,,m=x,n=odd=2C=3Duser,r=once-",
		"y,,n=odd=2C=3Duser,r=once-", "p=tls-unique,,n=odd=2C=3Duser,r=once-", "n,,n=odd,=user,r=once-", "n,,n=odd=2c=3duser,r=once-",
		"n,a=bob,n=odd=2C=3Duser,r=once-", "n,a=bob,n=nobody,r=once-", "n,,n=,r=once-", "n,,n=odd=2C=3Duser,r=", "n,,n=odd=2C=3Duser", "",
		"n,,n=\u00e4,r=once-", "n,,n=odd=2C=3Duser,r=once-,1=x",
	} {
		conn := c.LoginConn("c" + m)
		conn.Do("handshake", 1, handshake(scram256.name))
		conn.Do("first "+m, 2, token(m))
		conn.Close()
	}
	long := c.LoginConn("long")
	long.Do("handshake", 1, handshake(scram256.name))
	long.Send("first message of 5,000 bytes", 2, token("n,,n="+strings.Repeat("a", 5000)+",r=once-")).Await()
}
