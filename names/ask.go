package names

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// Ask asks the resolver at an address for a name of the zone, as the system does.
func Ask(ctx context.Context, at netip.AddrPort, name string) (netip.Addr, error) {
	full, err := dnsmessage.NewName(name + Suffix + ".")
	if err != nil {
		return netip.Addr{}, err
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 1}, Questions: []dnsmessage.Question{{Name: full, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
	query, err := m.Pack()
	if err != nil {
		return netip.Addr{}, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "udp", at.String())
	if err != nil {
		return netip.Addr{}, err
	}
	defer conn.Close()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(streamTime)
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return netip.Addr{}, err
	}
	if _, err := conn.Write(query); err != nil {
		return netip.Addr{}, err
	}
	reply := make([]byte, queryMax)
	n, err := conn.Read(reply)
	if err != nil {
		return netip.Addr{}, err
	}
	return parseReply(reply[:n])
}

// ErrNoName says that the zone has no such name.
var ErrNoName = errors.New("the zone has no such name yet")

// parseReply reads the address in a response.
//
//fuzz:parser class=dns FuzzAnswer
func parseReply(reply []byte) (netip.Addr, error) {
	var p dnsmessage.Parser
	header, err := p.Start(reply)
	if err != nil {
		return netip.Addr{}, err
	}
	if header.RCode == dnsmessage.RCodeNameError {
		return netip.Addr{}, ErrNoName
	}
	if header.RCode != dnsmessage.RCodeSuccess {
		return netip.Addr{}, fmt.Errorf("the resolver answers %s", header.RCode)
	}
	if err := p.SkipAllQuestions(); err != nil {
		return netip.Addr{}, err
	}
	h, err := p.AnswerHeader()
	if err != nil {
		return netip.Addr{}, err
	}
	if h.Type != dnsmessage.TypeA {
		return netip.Addr{}, errors.New("the resolver answers with something else than an address")
	}
	a, err := p.AResource()
	return netip.AddrFrom4(a.A), err
}
