package names

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"
)

// Bounds of the resolver.
const (
	queryMax   = 4096
	streamsMax = 8 // TCP connections at once
	streamTime = 5 * time.Second
	tryAgain   = time.Second
)

// Lookup answers from the book's file as it is now.
func (b *Book) Lookup(name string) (netip.Addr, bool) {
	c, err := b.read()
	if err != nil {
		return netip.Addr{}, false
	}
	a, there := c.Names[name]
	return a, there
}

// Hold answers the zone's queries at an address until ctx ends. While another process has the address it tries again each second;
// an address that this process may not have is the error.
func Hold(ctx context.Context, at netip.AddrPort, lookup Lookup) error {
	for {
		err := serveDNS(ctx, at, lookup)
		if ctx.Err() != nil {
			return nil
		}
		if !inUse(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(tryAgain):
		}
	}
}

// serveDNS binds both sockets and answers until ctx ends.
func serveDNS(ctx context.Context, at netip.AddrPort, lookup Lookup) error {
	packets, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		return err
	}
	defer packets.Close()
	streams, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	if err != nil {
		return err
	}
	defer streams.Close()
	failed := make(chan error, 2)
	go func() { failed <- answerPackets(packets, lookup) }()
	go func() { failed <- answerStreams(streams, lookup) }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-failed:
		return err
	}
}

func answerPackets(conn *net.UDPConn, lookup Lookup) error {
	b := make([]byte, queryMax)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(b)
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		if err != nil {
			continue // an ICMP of an earlier answer
		}
		if reply := answer(b[:n], lookup); reply != nil {
			_, _ = conn.WriteToUDPAddrPort(reply, from) // who asked asks again
		}
	}
}

func answerStreams(ln *net.TCPListener, lookup Lookup) error {
	room := make(chan struct{}, streamsMax)
	for {
		conn, err := ln.AcceptTCP()
		if err != nil {
			return err
		}
		room <- struct{}{}
		go func() {
			defer func() { <-room }()
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(streamTime)) // a closed connection fails the read
			for answerOne(conn, lookup) == nil {
			}
		}()
	}
}

// answerOne reads a query behind its length and writes the answer behind its own.
func answerOne(conn io.ReadWriter, lookup Lookup) error {
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint16(length[:])
	if n > queryMax {
		return errors.New("a query of too many bytes")
	}
	query := make([]byte, n)
	if _, err := io.ReadFull(conn, query); err != nil {
		return err
	}
	reply := answer(query, lookup)
	if reply == nil {
		return errors.New("no query")
	}
	_, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	return err
}
