package names

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

var known Lookup = func(name string) (netip.Addr, bool) {
	a, there := map[string]netip.Addr{"kafka": loopback(3), "orders": loopback(53)}[name]
	return a, there
}

func query(t testing.TB, name string, kind dnsmessage.Type) []byte {
	t.Helper()
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true}, Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}}}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    dnsmessage.Type
		code    dnsmessage.RCode
		address string
	}{
		{"kafka.doze.", dnsmessage.TypeA, 0, "127.0.0.3"},
		{"KAFKA.Doze.", dnsmessage.TypeA, 0, "127.0.0.3"},
		{"registry.kafka.doze.", dnsmessage.TypeA, 0, "127.0.0.3"},
		{"a.b.orders.doze.", dnsmessage.TypeALL, 0, "127.0.0.53"},
		{"kafka.doze.", dnsmessage.TypeAAAA, 0, ""},
		{"nobody.doze.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"doze.", dnsmessage.TypeSOA, 0, ""},
		{"example.com.", dnsmessage.TypeA, dnsmessage.RCodeRefused, ""},
		{"undoze.", dnsmessage.TypeA, dnsmessage.RCodeRefused, ""},
		{".", dnsmessage.TypeNS, dnsmessage.RCodeRefused, ""},
	} {
		var m dnsmessage.Message
		if err := m.Unpack(answer(query(t, c.name, c.kind), known)); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := ""
		for _, r := range m.Answers {
			got = netip.AddrFrom4(r.Body.(*dnsmessage.AResource).A).String()
		}
		if m.ID != 7 || !m.Response || m.RCode != c.code || got != c.address {
			t.Errorf("%s %s: %+v", c.name, c.kind, m)
		}
	}
}

func TestWhatIsNoQueryIsNotAnswered(t *testing.T) {
	reply := query(t, "kafka.doze.", dnsmessage.TypeA)
	reply[2] |= 0x80
	for _, b := range [][]byte{nil, {1}, reply} {
		if got := answer(b, known); got != nil {
			t.Errorf("%v: %v", b, got)
		}
	}
	two := dnsmessage.Message{Questions: make([]dnsmessage.Question, 2)}
	for i := range two.Questions {
		two.Questions[i] = dnsmessage.Question{Name: dnsmessage.MustNewName("kafka.doze."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}
	}
	b, err := two.Pack()
	if err != nil {
		t.Fatal(err)
	}
	var m dnsmessage.Message
	if err := m.Unpack(answer(b, known)); err != nil || m.RCode != dnsmessage.RCodeFormatError {
		t.Error(m, err)
	}
	b = query(t, "kafka.doze.", dnsmessage.TypeA)
	b[2] |= 4 << 3 // notify
	if err := m.Unpack(answer(b, known)); err != nil || m.RCode != dnsmessage.RCodeNotImplemented {
		t.Error(m, err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(query(f, "a.kafka.doze.", dnsmessage.TypeA))
	f.Add(query(f, strings.Repeat("a.", 100)+"doze.", dnsmessage.TypeALL))
	f.Add([]byte{0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 12, 0, 1, 0, 1})
	f.Fuzz(func(t *testing.T, query []byte) {
		if a, err := parseReply(query); err == nil && !a.Is4() {
			t.Fatalf("%x has %s", query, a)
		}
		reply := answer(query, known)
		if reply == nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(reply); err != nil || len(reply) > 512 || !m.Response || m.ID != binary.BigEndian.Uint16(query) {
			t.Fatalf("%x: %x: %v", query, reply, err)
		}
	})
}

// freeAddress is one of UDP and TCP that nobody has just now.
func freeAddress(t *testing.T) netip.AddrPort {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).AddrPort()
}

// ask sends a query until somebody answers.
func ask(t *testing.T, at netip.AddrPort) netip.Addr {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		conn, err := net.Dial("udp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(200 * time.Millisecond))
		conn.Write(query(t, "x.kafka.doze.", dnsmessage.TypeA))
		b := make([]byte, 512)
		n, err := conn.Read(b)
		conn.Close()
		var m dnsmessage.Message
		if err == nil && m.Unpack(b[:n]) == nil && len(m.Answers) == 1 {
			return netip.AddrFrom4(m.Answers[0].Body.(*dnsmessage.AResource).A)
		}
	}
	t.Fatal("nobody answers")
	return netip.Addr{}
}

func TestTheResolverIsHandedOver(t *testing.T) {
	at := freeAddress(t)
	first, stopFirst := context.WithCancel(context.Background())
	second, stopSecond := context.WithCancel(context.Background())
	defer stopFirst()
	ended := make(chan error, 2)
	go func() { ended <- Hold(first, at, known) }()
	if a := ask(t, at); a != loopback(3) {
		t.Error(a)
	}
	go func() {
		ended <- Hold(second, at, func(string) (netip.Addr, bool) { return loopback(44), true })
	}()
	stopFirst()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if a := ask(t, at); a != loopback(44) {
		t.Error("the next did not get it:", a)
	}
	stopSecond()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTheResolverAnswersStreams(t *testing.T) {
	at := freeAddress(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Hold(ctx, at, known) }()
	ask(t, at)
	conn, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	q := query(t, "orders.doze.", dnsmessage.TypeA)
	for range 2 {
		conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(q))), q...))
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			t.Fatal(err)
		}
		reply := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, reply); err != nil {
			t.Fatal(err)
		}
		var m dnsmessage.Message
		if err := m.Unpack(reply); err != nil || len(m.Answers) != 1 {
			t.Error(m, err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAnAddressThatIsNoneEndsHold(t *testing.T) {
	if err := Hold(context.Background(), netip.MustParseAddrPort("192.0.2.1:53"), known); err == nil {
		t.Error("no error")
	}
}
