package names

import (
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// ttl is how long an answer may be kept, in seconds: a name may get its first address any moment.
const ttl = 1

// Lookup is the address of an apex name.
type Lookup func(name string) (netip.Addr, bool)

// answer is the response to a query, or nil for what deserves none. The zone has A records alone: another type of a name that is
// there is answered with none, a name that is not with NXDOMAIN, a name outside of the zone with REFUSED.
//
//fuzz:parser class=dns FuzzAnswer
func answer(query []byte, lookup Lookup) []byte {
	var p dnsmessage.Parser
	header, err := p.Start(query)
	if err != nil || header.Response {
		return nil
	}
	reply := dnsmessage.Header{ID: header.ID, Response: true, OpCode: header.OpCode, RecursionDesired: header.RecursionDesired}
	if header.OpCode != 0 {
		reply.RCode = dnsmessage.RCodeNotImplemented
		return pack(reply, nil, nil, false)
	}
	questions, err := oneQuestion(&p)
	if err != nil {
		reply.RCode = dnsmessage.RCodeFormatError
		return pack(reply, nil, nil, false)
	}
	q := questions[0]
	name, in := apex(q.Name.String())
	if !in || q.Class != dnsmessage.ClassINET && q.Class != dnsmessage.ClassANY {
		reply.RCode = dnsmessage.RCodeRefused
		return pack(reply, questions, nil, false)
	}
	reply.Authoritative = true
	address, there := lookup(name)
	switch {
	case name == "": // the zone itself
	case !there:
		reply.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA || q.Type == dnsmessage.TypeALL:
		return pack(reply, questions, &dnsmessage.AResource{A: address.As4()}, false)
	}
	return pack(reply, questions, nil, true)
}

// oneQuestion reads the question; there is to be one.
func oneQuestion(p *dnsmessage.Parser) ([]dnsmessage.Question, error) {
	q, err := p.Question()
	if err != nil {
		return nil, err
	}
	if _, err := p.Question(); err != dnsmessage.ErrSectionDone {
		return nil, dnsmessage.ErrNotStarted
	}
	return []dnsmessage.Question{q}, nil
}

// apex is the last label before the zone's, and whether the name is in the zone at all.
func apex(name string) (label string, in bool) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if "."+name == Suffix {
		return "", true
	}
	rest, in := strings.CutSuffix(name, Suffix)
	return rest[strings.LastIndexByte(rest, '.')+1:], in
}

// pack writes a response: the question, an answer to it, or the zone's SOA, which says how long to remember that there is none.
func pack(h dnsmessage.Header, questions []dnsmessage.Question, a *dnsmessage.AResource, soa bool) []byte {
	m := dnsmessage.Message{Header: h, Questions: questions}
	if a != nil {
		q := questions[0]
		m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: ttl}, Body: a}}
	}
	if soa {
		zone := dnsmessage.MustNewName("doze.")
		m.Authorities = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: zone, Class: dnsmessage.ClassINET, TTL: ttl},
			Body:   &dnsmessage.SOAResource{NS: zone, MBox: zone, Serial: 1, Refresh: 3600, Retry: 600, Expire: 3600, MinTTL: ttl},
		}}
	}
	b, err := m.Pack()
	if err != nil {
		return nil // a name that was read can be written
	}
	return b
}
