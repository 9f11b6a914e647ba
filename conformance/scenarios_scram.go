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
	{regexp.MustCompile(`\br=twice-[0-9A-Za-z]{20,}`), "r=twice-<nonce>"},
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
		try("no proof", bare, "pencil", func(s string) string { return s[:strings.Index(s, ",p=")] })
		try("short proof", bare, "pencil", func(s string) string { return s[:strings.Index(s, ",p=")+3] + "AAAA" })
		try("empty proof", bare, "pencil", func(s string) string { return s[:strings.Index(s, ",p=")+3] })
		try("other nonce", bare, "pencil", func(s string) string { return strings.Replace(s, "r=once-", "r=twice-", 1) })
		try("other channel binding", bare, "pencil", func(s string) string { return strings.Replace(s, "c=biws", "c=eSws", 1) })
		try("extension", bare, "pencil", func(s string) string { return strings.Replace(s, ",p=", ",x=y,p=", 1) })
		try("truncated", bare, "pencil", func(s string) string { return s[:len(s)-3] })
		try("nothing", bare, "pencil", func(string) string { return "" })
		try("first message again", bare, "pencil", func(string) string { return "n,," + bare })

		swapped := c.LoginConn("swapped " + h.name)
		swapped.Do("handshake", 1, handshake(h.name))
		swapped.Do("final message first", 2, token(keep))
	}
}

func runSCRAMUnknown(c *C) {
	makeSCRAMUser(c, scram256, "known", "pencil")
	for _, h := range []scramHash{scram256, scram512} {
		for _, bare := range []string{"n=nobody,r=once-", "n=no-token,r=once-,tokenauth=true", "n=known,r=once-,tokenauth=true", "n=known,r=once-"} {
			if h.number == 1 && bare == "n=known,r=once-" {
				continue
			}
			conn := c.LoginConn(h.name + bare)
			h.start(conn, bare)
			conn.Do("final message of "+bare, 2, token("c=biws,r=once-,p=AAAA"))
			conn.Close()
		}
	}
}

// alteration is an entry of AlterUserScramCredentials; iterations -1: a deletion.
type alteration struct {
	user       string
	mechanism  int8
	iterations int32
}

func alterSCRAM(list ...alteration) *kmsg.AlterUserSCRAMCredentialsRequest {
	r := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	for _, a := range list {
		if a.iterations < 0 {
			d := kmsg.NewAlterUserSCRAMCredentialsRequestDeletion()
			d.Name, d.Mechanism = a.user, a.mechanism
			r.Deletions = append(r.Deletions, d)
			continue
		}
		u := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
		u.Name, u.Mechanism, u.Iterations = a.user, a.mechanism, a.iterations
		u.Salt, u.SaltedPassword = []byte("salt"), []byte("salted password")
		r.Upsertions = append(r.Upsertions, u)
	}
	return r
}

func describeSCRAM(users ...string) *kmsg.DescribeUserSCRAMCredentialsRequest {
	r := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
	for _, name := range users {
		u := kmsg.NewDescribeUserSCRAMCredentialsRequestUser()
		u.Name = name
		r.Users = append(r.Users, u)
	}
	return r
}

func runSCRAMUsers(c *C) {
	a := c.Conn("a")
	alter := func(step string, list ...alteration) {
		a.Do(step, 0, alterSCRAM(list...))
		time.Sleep(300 * time.Millisecond) // until every part of the broker has heard
	}
	a.Do("describe none", 0, describeSCRAM())
	a.Do("describe one that is not there", 0, describeSCRAM("nobody", ""))
	alter("nothing")
	alter("two", alteration{"u1", 1, 4096}, alteration{"u2", 2, 16384})
	alter("the other mechanism", alteration{"u1", 2, 8192})
	a.Do("describe all", 0, describeSCRAM())
	a.Do("describe some", 0, describeSCRAM("u2", "nobody", "u1", "u1"))
	alter("again", alteration{"u1", 1, 5000})
	alter("iterations", alteration{"few", 1, 4095}, alteration{"many", 1, 16385}, alteration{"none", 2, 0}, alteration{"most", 2, 1<<31 - 1})
	alter("mechanisms", alteration{"zero", 0, 4096}, alteration{"three", 3, 4096}, alteration{"minus", -1, 4096}, alteration{"u3", 1, 4096})
	alter("no name", alteration{"", 1, 4096}, alteration{"", 1, -1})
	alter("twice", alteration{"u4", 1, 4096}, alteration{"u4", 2, 4096}, alteration{"u5", 1, 4096})
	alter("thrice", alteration{"u6", 1, 4096}, alteration{"u6", 1, 4096}, alteration{"u6", 1, 4096})
	alter("deleted and set", alteration{"u1", 1, -1}, alteration{"u1", 1, 4096})
	alter("deleted twice", alteration{"u1", 1, -1}, alteration{"u1", 2, -1})
	alter("deletions that cannot be", alteration{"nobody", 1, -1}, alteration{"u2", 1, -1}, alteration{"u3", 7, -1}, alteration{"", 2, -1})
	alter("deleted that is not there, and set", alteration{"u7", 1, -1}, alteration{"u7", 1, 4096})
	alter("bad twice", alteration{"u8", 7, 4096}, alteration{"u8", 1, 4096})
	empty := alterSCRAM(alteration{"no salt", 1, 4096}, alteration{"no password", 1, 4096})
	empty.Upsertions[0].Salt, empty.Upsertions[1].SaltedPassword = nil, nil
	a.Do("nothing to make a key of", 0, empty)
	alter("delete", alteration{"u1", 1, -1}, alteration{"u2", 2, -1})
	a.Do("describe what is left", 0, describeSCRAM())
	c.Restart()
	c.Conn("b").Do("describe after a restart", 0, describeSCRAM())
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
