package wire

import (
	"slices"
	"testing"
)

// What passes and what closes the connection, as recorded from Kafka (conformance/claims/wire.md).
func TestOddRequests(t *testing.T) {
	v0 := func(rest ...byte) []byte { return append([]byte{0, 12, 0, 0, 0, 0, 0, 1}, rest...) }
	v4 := func(rest ...byte) []byte { return append([]byte{0, 12, 0, 4, 0, 0, 0, 1, 0, 0}, rest...) }
	body0 := []byte{0, 1, 'g', 0, 0, 0, 1, 0, 1, 'm'}
	body4 := []byte{2, 'g', 0, 0, 0, 1, 2, 'm', 0}
	with := func(head []byte, rest ...[]byte) []byte { return append(head, slices.Concat(rest...)...) }
	fetch := append(header2(1, 12), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 1, 1)
	long := func(n int) []byte {
		return with(v4(0), appendUvarint(nil, uint32(n+1)), make([]byte, n), body4[2:], []byte{0})
	}
	for name, c := range map[string]struct {
		frame  []byte
		passes bool
	}{
		"client id null":             {v0(append([]byte{0xff, 0xff}, body0...)...), true},
		"client id of length -2":     {v0(append([]byte{0xff, 0xfe}, body0...)...), true},
		"client id not UTF-8":        {v0(append([]byte{0, 2, 0xff, 0xfe}, body0...)...), true},
		"client id beyond frame":     {v0(append([]byte{0x7f, 0xff}, body0...)...), false},
		"header's tag unknown":       {with(v4(1, 5, 2, 'a', 'b'), body4, []byte{0}), true},
		"header's tag beyond frame":  {with(v4(1, 5, 0x7f, 'a', 'b'), body4, []byte{0}), false},
		"header without tags":        {with(v4(), body4, []byte{0}), false},
		"bytes after v0":             {v0(append([]byte{0, 0}, append(body0, 1, 2, 3)...)...), true},
		"bytes after v4":             {with(v4(0), body4, []byte{0, 1, 2, 3}), true},
		"v0 less a byte":             {v0(append([]byte{0, 0}, body0[:9]...)...), false},
		"v4 without tags":            {with(v4(0), body4), false},
		"v0 without body":            {v0(0, 0), false},
		"null group v0":              {v0(0, 0, 0xff, 0xff, 0, 0, 0, 1, 0, 1, 'm'), false},
		"null group v4":              {with(v4(0), []byte{0}, body4[2:], []byte{0}), false},
		"tag twice":                  {with(v4(0), body4, []byte{2, 5, 1, 'a', 5, 1, 'b'}), true},
		"tags out of order":          {with(v4(0), body4, []byte{2, 6, 1, 'a', 5, 1, 'b'}), true},
		"tag beyond the frame":       {with(v4(0), body4, []byte{1, 5, 0x7f, 'a'}), false},
		"string of 32767":            {long(32767), true},
		"string of 32768":            {long(32768), false},
		"overlong varint":            {with(v4(0), []byte{0x82, 0x80, 0x80, 0x80, 0, 'g'}, body4[2:], []byte{0}), true},
		"varint of six bytes":        {with(v4(0), []byte{0x82, 0x80, 0x80, 0x80, 0x80, 0, 'g'}, body4[2:], []byte{0}), false},
		"null topics of Metadata v0": {[]byte{0, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff}, false},
		"null topics of Metadata v1": {[]byte{0, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0xff, 0xff, 0xff, 0xfe}, true},
		"more topics than bytes":     {[]byte{0, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1}, false},
		"a known tag":                {with(slices.Clone(fetch), []byte{1, 0, 1, 0}), true},
		"a known tag, later version": {with(slices.Clone(fetch), []byte{1, 1, 13}, make([]byte, 13)), false},
		"ApiVersions v-1":            {[]byte{0, 18, 0xff, 0xff, 0, 0, 0, 1, 0, 0}, true},
		"ApiVersions v32767":         {[]byte{0, 18, 0x7f, 0xff, 0, 0, 0, 1, 0, 0, 0}, true},
		"ApiVersions v99, no tags":   {[]byte{0, 18, 0, 99, 0, 0, 0, 1, 0, 0}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, l := start(t, Options{}, table{})
			p := dial(t, l)
			n := len(c.frame)
			p.send(append([]byte{0, 0, byte(n >> 8), byte(n)}, c.frame...))
			if !c.passes {
				p.closed()
				return
			}
			if id, _ := p.receive(); id != 1 {
				t.Errorf("answer to %d", id)
			}
			p.ask(NewRequest(3, 12), 2)
		})
	}
}

func TestBadRequestAmongPipelined(t *testing.T) {
	_, l := start(t, Options{}, table{})
	p := dial(t, l)
	good := frameOf(NewRequest(12, 4), 1)
	p.send(slices.Concat(good, []byte{0, 0, 0, 10, 0, 12, 0, 0, 0, 0, 0, 2, 0, 0}, good))
	p.answerTo(NewRequest(12, 4), 1)
	p.closed()
}

func TestPeerClosesItsHalf(t *testing.T) {
	_, l := start(t, Options{}, table{})
	p := dial(t, l)
	p.send(append(frameOf(NewRequest(12, 4), 1), frameOf(NewRequest(3, 12), 2)...))
	p.Conn.(interface{ CloseWrite() error }).CloseWrite()
	p.answerTo(NewRequest(12, 4), 1)
	p.answerTo(NewRequest(3, 12), 2)
	p.closed()
}
