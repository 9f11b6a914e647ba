package conformance

import (
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// wireScenarios are about what lies below the APIs: frames, headers, and bodies that are not as they should be.
func wireScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "wire-frames",
			Claim: "A frame's length from 1 to socket.request.max.bytes is waited for; any other closes the connection at once, and so does a frame too short for a header.",
			Run:   runWireFrames,
		},
		{
			Name:  "wire-unserved",
			Claim: "An API that does not exist or that only brokers and controllers serve closes the connection, and so do versions outside the served range, negative ones, and the Produce versions 0 to 2 that are advertised.",
			Run:   runWireUnserved,
		},
		{
			Name:  "wire-headers",
			Claim: "Any negative length of the client id is null and passes; unknown tags in a header pass; a length or a tag beyond the frame closes.",
			Run:   runWireHeaders,
		},
		{
			Name:  "wire-bodies",
			Claim: "Bytes after the body are ignored, a body that ends early closes the connection.",
			Run:   runWireBodies,
		},
		{
			Name:  "wire-nulls",
			Claim: "Any negative length is null; null where the protocol does not allow it closes the connection.",
			Run:   runWireNulls,
		},
		{
			Name:  "wire-lengths",
			Claim: "A string of 32767 bytes passes in the flexible versions and one more closes; an array longer than the bytes that are left closes; a varint may be overlong up to five bytes.",
			Run:   runWireLengths,
		},
		{
			Name:  "wire-tags",
			Claim: "Unknown tags pass in any order and more than once; a known tag at a version that does not have it closes the connection.",
			Run:   runWireTags,
		},
		{
			Name:  "wire-api-versions",
			Claim: "ApiVersions v3 answers error 42 for a client software name or version that is empty or has another character than letters, digits, dots and hyphens or one of these two at an end, and the connection goes on.",
			Run:   runWireApiVersions,
		},
		{
			Name:  "wire-text",
			Claim: "Bytes that are not UTF-8 are read as U+FFFD, one for as much as could begin a character, and come back so.",
			Run:   runWireText,
		},
		{
			Name:  "wire-pipelining",
			Claim: "Pipelined requests are answered in their order; one that closes the connection does so after the answers before it, and what follows it is not answered.",
			Run:   runWirePipelining,
		},
		{
			Name:  "wire-sasl-on-plaintext",
			Claim: "On a listener without SASL, SaslHandshake answers error 34 without mechanisms and SaslAuthenticate error 34, and the connection goes on.",
			Part:  3,
			Run:   runWireSaslOnPlaintext,
		},
	}
}

// headed is a frame with client id "x"; tags is the header's tag section, nil in header version 1.
func headed(key, version int16, tags []byte, body ...byte) []byte {
	return slices.Concat(fixedHeader(key, version, 7), []byte{0, 1, 'x'}, tags, body)
}

func fixedHeader(key, version int16, correlation int32) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	return binary.BigEndian.AppendUint32(b, uint32(correlation))
}

var noTags = []byte{0}

// The requests that most steps are made of: a heartbeat of a member that is unknown, at v0 and in the flexible v4.
var (
	heartbeat0 = []byte{0, 1, 'g', 0, 0, 0, 1, 0, 1, 'm'}
	heartbeat4 = []byte{2, 'g', 0, 0, 0, 1, 2, 'm', 0, 0}
)

func heartbeatLike(version int16) kmsg.Request {
	r := kmsg.NewPtrHeartbeatRequest()
	r.SetVersion(version)
	return r
}

func apiVersionsLike(version int16) kmsg.Request {
	r := kmsg.NewPtrApiVersionsRequest()
	r.SetVersion(version)
	return r
}

func metadataLike(version int16) kmsg.Request {
	r := kmsg.NewPtrMetadataRequest()
	r.SetVersion(version)
	return r
}

func runWireFrames(c *C) {
	a := c.Conn("a")
	for _, f := range []struct {
		name string
		head []byte
	}{
		{"length 0", []byte{0, 0, 0, 0}},
		{"length -1", []byte{0xff, 0xff, 0xff, 0xff}},
		{"length -2147483648", []byte{0x80, 0, 0, 0}},
		{"length 104857601", []byte{6, 0x40, 0, 1}},
		{"an HTTP request", []byte("GET / HTTP/1.1\r\n\r\n")},
		{"a TLS client hello", []byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}},
		{"a frame of one byte", []byte{0, 0, 0, 1, 0}},
		{"a frame of three bytes", []byte{0, 0, 0, 3, 0, 3, 0}},
		{"a header without client id", append([]byte{0, 0, 0, 8}, fixedHeader(18, 0, 7)...)},
	} {
		a.SendBytes(f.name, f.head).Await()
	}
	c.Conn("b").SendBytes("length 104857600", []byte{6, 0x40, 0, 0}).Parked()
}

func runWireUnserved(c *C) {
	a := c.Conn("a")
	produce := []byte{0, 1, 0, 0, 3, 0xe8, 0, 0, 0, 0} // acks=1, a second, no topics
	for _, r := range []struct {
		name  string
		frame []byte
	}{
		{"key 999", headed(999, 0, nil)},
		{"key -1", headed(-1, 0, nil)},
		{"LeaderAndIsr", headed(4, 7, noTags)},
		{"Vote", headed(52, 0, noTags, make([]byte, 20)...)},
		{"BrokerRegistration", headed(62, 0, noTags, make([]byte, 60)...)},
		{"Metadata v14", headed(3, 14, noTags, 0, 0, 0, 0)},
		{"Metadata v-1", headed(3, -1, nil, 0, 0, 0, 0)},
		{"Fetch v3", headed(1, 3, nil, make([]byte, 20)...)},
		{"Produce v0", headed(0, 0, nil, produce...)},
		{"Produce v1", headed(0, 1, nil, produce...)},
		{"Produce v2", headed(0, 2, nil, produce...)},
	} {
		a.DoRaw(r.name, r.frame, nil)
	}
}

func runWireHeaders(c *C) {
	a := c.Conn("a")
	a.AwaitGroupCoordinator("g")
	v0 := func(clientID ...byte) []byte { return slices.Concat(fixedHeader(12, 0, 7), clientID, heartbeat0) }
	v4 := func(tags ...byte) []byte { return headed(12, 4, tags, heartbeat4...) }
	a.DoRaw("client id", v0(0, 1, 'x'), heartbeatLike(0))
	a.DoRaw("client id of length -1", v0(0xff, 0xff), heartbeatLike(0))
	a.DoRaw("client id of length -2", v0(0xff, 0xfe), heartbeatLike(0))
	a.DoRaw("empty client id", v0(0, 0), heartbeatLike(0))
	a.DoRaw("client id that is not UTF-8", v0(0, 2, 0xff, 0xfe), heartbeatLike(0))
	a.DoRaw("client id beyond the frame", v0(0x7f, 0xff), heartbeatLike(0))
	a.DoRaw("no tags", v4(0), heartbeatLike(4))
	a.DoRaw("an unknown tag", v4(1, 5, 2, 'a', 'b'), heartbeatLike(4))
	a.DoRaw("a tag beyond the frame", v4(1, 5, 0x7f, 'a', 'b'), heartbeatLike(4))
	a.DoRaw("old header on a flexible version", v4(), heartbeatLike(4))
}

func runWireBodies(c *C) {
	a := c.Conn("a")
	a.AwaitGroupCoordinator("g")
	a.DoRaw("v0", headed(12, 0, nil, heartbeat0...), heartbeatLike(0))
	a.DoRaw("v0 and three bytes", append(headed(12, 0, nil, heartbeat0...), 1, 2, 3), heartbeatLike(0))
	a.DoRaw("v4 and three bytes", append(headed(12, 4, noTags, heartbeat4...), 1, 2, 3), heartbeatLike(4))
	a.DoRaw("v0 less a byte", headed(12, 0, nil, heartbeat0[:len(heartbeat0)-1]...), heartbeatLike(0))
	a.DoRaw("v4 less its tags", headed(12, 4, noTags, heartbeat4[:len(heartbeat4)-1]...), heartbeatLike(4))
	a.DoRaw("v0 without a body", headed(12, 0, nil), heartbeatLike(0))
}

func runWireNulls(c *C) {
	a := c.Conn("a")
	a.AwaitGroupCoordinator("g")
	a.DoRaw("null instance id", headed(12, 4, noTags, heartbeat4...), heartbeatLike(4))
	a.DoRaw("group of length -1", headed(12, 0, nil, 0xff, 0xff, 0, 0, 0, 1, 0, 1, 'm'), heartbeatLike(0))
	a.DoRaw("group of length -2", headed(12, 0, nil, 0xff, 0xfe, 0, 0, 0, 1, 0, 1, 'm'), heartbeatLike(0))
	a.DoRaw("null group in a flexible version", headed(12, 4, noTags, 0, 0, 0, 0, 1, 2, 'm', 0, 0), heartbeatLike(4))
	a.DoRaw("topics of length -1", headed(3, 0, nil, 0xff, 0xff, 0xff, 0xff), metadataLike(0))
	a.DoRaw("topics of length -2", headed(3, 0, nil, 0xff, 0xff, 0xff, 0xfe), metadataLike(0))
	describe := kmsg.NewPtrDescribeGroupsRequest()
	a.DoRaw("null groups to describe", headed(15, 0, nil, 0xff, 0xff, 0xff, 0xff), describe)
	b := c.Conn("b")
	b.DoRaw("no topics of producers", headed(61, 0, noTags, 1, 0), kmsg.NewPtrDescribeProducersRequest())
	b.DoRaw("null topics of producers", headed(61, 0, noTags, 0, 0), kmsg.NewPtrDescribeProducersRequest())
}

func runWireLengths(c *C) {
	a := c.Conn("a")
	a.AwaitGroupCoordinator("g")
	group := func(length ...byte) []byte {
		return headed(12, 4, noTags, slices.Concat(length, heartbeat4[1:])...)
	}
	long := func(length []byte, n int) []byte {
		name := slices.Repeat([]byte{'g'}, n)
		return headed(12, 4, noTags, slices.Concat(length, name, heartbeat4[2:])...)
	}
	a.DoRaw("length in two bytes", group(0x82, 0), heartbeatLike(4))
	a.DoRaw("length in five bytes", group(0x82, 0x80, 0x80, 0x80, 0), heartbeatLike(4))
	a.DoRaw("length in six bytes", group(0x82, 0x80, 0x80, 0x80, 0x80, 0), heartbeatLike(4))
	a.DoRaw("string of 32767 bytes", long([]byte{0x80, 0x80, 2}, 32767), heartbeatLike(4))
	a.DoRaw("string of 32768 bytes", long([]byte{0x81, 0x80, 2}, 32768), heartbeatLike(4))
	a.DoRaw("string beyond the frame", long([]byte{0x80, 1}, 100), heartbeatLike(4))
	a.DoRaw("one topic more than bytes", headed(3, 1, nil, 0, 0, 0, 1), metadataLike(1))
	a.DoRaw("2147483647 topics", headed(3, 1, nil, 0x7f, 0xff, 0xff, 0xff), metadataLike(1))
	a.DoRaw("2147483647 topics, flexible", headed(3, 12, noTags, 0x80, 0x80, 0x80, 0x80, 8, 0, 0, 0), metadataLike(12))
}

func runWireTags(c *C) {
	a := c.Conn("a")
	a.AwaitGroupCoordinator("g")
	tagged := func(tags ...byte) []byte {
		return headed(12, 4, noTags, slices.Concat(heartbeat4[:len(heartbeat4)-1], tags)...)
	}
	a.DoRaw("an unknown tag", tagged(1, 5, 2, 'a', 'b'), heartbeatLike(4))
	a.DoRaw("the same tag twice", tagged(2, 5, 1, 'a', 5, 1, 'b'), heartbeatLike(4))
	a.DoRaw("tags out of order", tagged(2, 6, 1, 'a', 5, 1, 'b'), heartbeatLike(4))
	a.DoRaw("a tag beyond the frame", tagged(1, 5, 0x7f, 'a'), heartbeatLike(4))
	a.DoRaw("fewer tags than counted", tagged(2, 5, 1, 'a'), heartbeatLike(4))
	like := kmsg.NewPtrFetchRequest()
	like.SetVersion(12)
	clusterID := []byte{1, 0, 1, 0}
	replicaState := append([]byte{1, 1, 13}, make([]byte, 13)...)
	a.DoRaw("Fetch v12 with its cluster id tag", headed(1, 12, noTags, append(fetchNothing(), clusterID...)...), like)
	a.DoRaw("Fetch v12 with the replica state tag of v15", headed(1, 12, noTags, append(fetchNothing(), replicaState...)...), like)
}

// fetchNothing is the body of a Fetch v12 outside of a session, up to its tags: no topics, no wait.
func fetchNothing() []byte {
	b := []byte{0xff, 0xff, 0xff, 0xff}               // replica id
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)             // max wait, min bytes
	b = append(b, 0, 0, 1, 0, 0)                      // max bytes, isolation level
	b = append(b, 0, 0, 0, 0)                         // session id
	return append(b, 0xff, 0xff, 0xff, 0xff, 1, 1, 1) // session epoch, topics, forgotten topics, rack
}

func runWireApiVersions(c *C) {
	a := c.Conn("a")
	for _, software := range [][2]string{
		{"", "1"}, {"a", ""}, {" a", "1"}, {"a ", "1"}, {"a b", "1"}, {"a", "1 2"}, {"-a", "1"}, {"a-", "1"}, {".a", "1"},
		{"a_b", "1"}, {"a/b", "1"}, {"ä", "1"}, {"a\x00", "1"},
	} {
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = software[0], software[1]
		name := "name " + software[0] + " version " + software[1]
		a.Do(name, 3, req)
	}
	a.DoRaw("null name", headed(18, 3, noTags, 0, 2, '1', 0), apiVersionsLike(3))
	a.DoRaw("v3 without a body", headed(18, 3, noTags), apiVersionsLike(3))
	a.DoRaw("v-1", headed(18, -1, nil), apiVersionsLike(0))
	a.DoRaw("v32767", headed(18, 32767, noTags), apiVersionsLike(0))
	a.DoRaw("v99 with a tag beyond the frame", headed(18, 99, []byte{1, 5, 0x7f}), apiVersionsLike(0))
}

func runWireText(c *C) {
	a := c.Conn("a")
	for _, name := range []string{"\xff\xfe", "a\xe2\x82", "\xe2\x82a", "\xed\xa0\x80", "\xc0\x80", "\u00e4"} {
		topics := append([]byte{0, 0, 0, 1, 0, byte(len(name))}, name...)
		a.DoRaw("topic "+hex.EncodeToString([]byte(name)), headed(3, 1, nil, topics...), metadataLike(1))
	}
}

func runWirePipelining(c *C) {
	a := c.Conn("a")
	a.AwaitGroupCoordinator("g")
	first := a.SendRaw("first", headed(12, 0, nil, heartbeat0...), heartbeatLike(0))
	second := a.SendRaw("second", headed(12, 4, noTags, heartbeat4...), heartbeatLike(4))
	third := a.SendRaw("third", headed(12, 0, nil, heartbeat0...), heartbeatLike(0))
	first.Await()
	second.Await()
	third.Await()
	good := a.SendRaw("good", headed(12, 0, nil, heartbeat0...), heartbeatLike(0))
	bad := a.SendRaw("bad", headed(12, 0, nil), heartbeatLike(0))
	after := a.SendRaw("after the bad", headed(12, 0, nil, heartbeat0...), heartbeatLike(0))
	good.Await()
	bad.Await()
	after.Await()
}

func runWireSaslOnPlaintext(c *C) {
	a := c.Conn("a")
	handshake := kmsg.NewPtrSASLHandshakeRequest()
	handshake.Mechanism = "PLAIN"
	a.Do("handshake v0", 0, handshake)
	a.Do("handshake v1", 1, handshake)
	authenticate := kmsg.NewPtrSASLAuthenticateRequest()
	authenticate.SASLAuthBytes = []byte("\x00user\x00secret")
	a.Do("authenticate v0", 0, authenticate)
	a.Do("authenticate v2", 2, authenticate)
}
