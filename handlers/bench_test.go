package handlers

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
	"doze/credentials"
	"doze/disk"
	"doze/journal"
	"doze/projections"
	"doze/segments"
	"doze/wire"
)

// testBroker is a whole broker over a file system in memory and sockets in memory. At the end of the test it is closed, its
// journal is replayed into a fresh state, and the two are compared.
type testBroker struct {
	t      testing.TB
	fs     *disk.Mem
	clock  *manualClock
	store  *journal.Store[*projections.State]
	logs   *segments.Dir
	broker *Broker
	server *wire.Server
	at     *wire.Listener
	props  map[string]string
	ids    countingIDs
	boot   string        // names the run of the machine; empty: not known
	reauth time.Duration // of sessions by login; 0: they last
}

// manualClock stands still.
type manualClock struct {
	now  atomic.Int64
	back atomic.Int64 // how far the machine's clock was set back
}

func (c *manualClock) NowMillis() int64 { return c.now.Load() - c.back.Load() }

func (c *manualClock) Steady() journal.Clock { return evenClock{c} }

type evenClock struct{ *manualClock }

func (c evenClock) NowMillis() int64 { return c.now.Load() }

// countingIDs are ids that tell their order.
type countingIDs struct{ n atomic.Uint64 }

func (c *countingIDs) NewUUID() (id [16]byte) {
	binary.BigEndian.PutUint64(id[8:], c.n.Add(1))
	id[0] = 0xd0
	return id
}

func startTestBroker(t testing.TB, props map[string]string) *testBroker {
	t.Helper()
	b := &testBroker{t: t, fs: disk.NewMem(), clock: &manualClock{}, props: props}
	b.clock.now.Store(1_700_000_000_000)
	b.start()
	t.Cleanup(b.stopAndReplay)
	return b
}

func (b *testBroker) start() {
	b.t.Helper()
	store, _, err := journal.Open(b.fs, journal.Options{Clock: b.clock, IDs: &b.ids}, projections.New)
	if err != nil {
		b.t.Fatal(err)
	}
	logs, err := segments.OpenDir(b.fs, "segments", segments.Options{
		Now: b.clock.NowMillis, BootID: b.boot, Unfinished: func(p *segments.Partition, open []segments.OpenTxn) { b.broker.Unfinished(p, open) },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.store, b.logs = store, logs
	err = store.Update(context.Background(), journal.Timed("start"), func(tx *tx) {
		if tx.State.ClusterID == "" {
			tx.Emit(&journal.ClusterCreated{ClusterID: store.ClusterID()})
		}
		tx.Emit(&journal.BrokerStarted{Version: "test"})
	})
	if err != nil {
		b.t.Fatal(err)
	}
	profile, err := NewProfile("4.3.1")
	if err != nil {
		b.t.Fatal(err)
	}
	kept, err := credentials.Open(b.fs, "credentials")
	if err != nil {
		b.t.Fatal(err)
	}
	b.broker = New(Options{
		Credentials: kept,
		Store:       store, Logs: logs, Static: configs.NewBroker(b.props, nil, nil), Profile: profile, Clock: b.clock,
		Log: slog.New(slog.DiscardHandler), NodeID: 1, DataDir: "/data", Space: func() (int64, int64) { return 2, 1 },
	})
	b.broker.Start()
	b.server = wire.NewServer(wire.Options{}, b.broker)
	b.at, err = b.server.ListenOn(&deafListener{closed: make(chan struct{})}, wire.ListenOptions{Name: "PLAINTEXT", Advertise: "broker:9092"})
	if err != nil {
		b.t.Fatal(err)
	}
}

// deafListener hears nobody: connections are handed to the server.
type deafListener struct {
	closed chan struct{}
	once   sync.Once
}

func (l *deafListener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

func (l *deafListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (*deafListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9092} }

func (b *testBroker) stop() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := b.server.Shutdown(ctx); err != nil {
		b.t.Fatal(err)
	}
	b.broker.Stop()
	for _, closer := range []io.Closer{b.logs, b.store} {
		if err := closer.Close(); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *testBroker) restart() {
	b.t.Helper()
	b.stop()
	b.start()
}

// stopAndReplay is the invariant of every test: the journal alone gives the state that the broker had.
func (b *testBroker) stopAndReplay() {
	b.stop()
	live, seq := b.store.View()
	replayed := projections.New()
	entries, err := journal.OpenReader(b.fs, "journal")
	if err != nil {
		b.t.Fatal(err)
	}
	defer entries.Close()
	last := uint64(0)
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.t.Fatal(err)
		}
		if err := journal.ApplyEntry(replayed, entry); err != nil {
			b.t.Fatal(err)
		}
		last = entry.Seq
	}
	if last < seq {
		b.t.Fatalf("the journal ends at entry %d, the state is of %d", last, seq)
	}
	if got, want := rowsOf(b.t, replayed), rowsOf(b.t, live); !slices.Equal(got, want) {
		b.t.Errorf("replayed state differs:\n%q\nlive\n%q", got, want)
	}
}

// testConn is a client's connection.
type testConn struct {
	t    testing.TB
	conn net.Conn
	next int32

	client string // its id
}

func (b *testBroker) connect() *testConn {
	client, server := net.Pipe()
	b.server.ServeConn(b.at, server)
	c := &testConn{t: b.t, conn: client, client: "test"}
	b.t.Cleanup(func() { client.Close() })
	return c
}

// send writes a request at its own version.
func (c *testConn) send(req kmsg.Request) {
	c.t.Helper()
	c.next++
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID(c.client)).AppendRequest(nil, req, c.next)
	if _, err := c.conn.Write(frame); err != nil {
		c.t.Fatal(err)
	}
}

// receive reads the answer to req, or fails when the connection is closed.
func (c *testConn) receive(req kmsg.Request) kmsg.Response {
	c.t.Helper()
	frame, err := c.frame()
	if err != nil {
		c.t.Fatalf("no answer to %s: %v", kmsg.NameForKey(req.Key()), err)
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	frame = frame[4:]
	if resp.IsFlexible() && req.Key() != 18 {
		frame = frame[1:]
	}
	if err := resp.ReadFrom(frame); err != nil {
		c.t.Fatal(err)
	}
	return resp
}

func (c *testConn) frame() ([]byte, error) {
	c.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	var size [4]byte
	if _, err := io.ReadFull(c.conn, size[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(c.conn, frame)
	return frame, err
}

func ask[R kmsg.Response](c *testConn, req kmsg.Request) R {
	c.t.Helper()
	c.send(req)
	return c.receive(req).(R)
}
