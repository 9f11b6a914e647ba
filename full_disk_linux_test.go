package doze

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// onSmallVolume makes the test's binary run one test in namespaces of its own, where it may mount.
const onSmallVolume = "DOZE_TEST_SMALL_VOLUME"

// TestFullDisk runs a broker on a small tmpfs that is filled, emptied, and filled again over a restart. It needs a mount
// namespace, which ordinary users have where user namespaces are allowed. Where they are not it says so; what each API
// answers is held by the tests of handlers on a disk in memory in any case.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(onSmallVolume); dir != "" {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
			t.Fatal(err)
		}
		fullDisk(t, dir)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), onSmallVolume+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Logf("NOT RUN: no namespace to mount a small volume in: %v", err)
		return
	}
	defer func() { t.Log(out.String()) }()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
}

// smallVolume is a broker on a volume that can be filled.
type smallVolume struct {
	t      *testing.T
	dir    string
	broker *Broker
	done   chan error
	acked  int // records of the topic "full"
	topics int
}

func fullDisk(t *testing.T, dir string) {
	v := &smallVolume{t: t, dir: dir}
	v.start()
	c := v.connect()
	v.mustCreate(c)
	for range 50 {
		if code, _ := v.produce(c, -1, 1000); code != 0 {
			t.Fatal("produce: code", code)
		}
	}
	if code := v.commit(c, "before"); code != 0 {
		t.Fatal("commit: code", code)
	}
	v.fill()
	v.untilRefused(c)
	v.readable(c)
	v.stop() // it cannot put everything in order
	v.fill() // what it gave back
	v.start()
	c = v.connect()
	v.readable(c)
	v.untilRefused(c)
	v.free()
	v.works(c) // without a restart
	v.stop()
	v.start()
	v.readable(v.connect())
	v.works(v.connect())
	v.stop()
}

func (v *smallVolume) start() {
	v.t.Helper()
	broker, err := New(Options{DataDir: filepath.Join(v.dir, "data"), Listeners: []Listener{{Address: "127.0.0.1:0"}}})
	if err != nil {
		v.t.Fatal("start: ", err)
	}
	v.broker, v.done = broker, make(chan error, 1)
	go func() { v.done <- broker.Run(v.t.Context()) }()
}

// stop ends the broker; on a full disk it says what it could not write.
func (v *smallVolume) stop() {
	v.t.Helper()
	if err := errors.Join(v.broker.Close(), <-v.done); err != nil && !errors.Is(err, syscall.ENOSPC) {
		v.t.Fatal("stop: ", err)
	}
}

func (v *smallVolume) filler() string { return filepath.Join(v.dir, "filler") }

// fill takes the last block.
func (v *smallVolume) fill() {
	v.t.Helper()
	f, err := os.OpenFile(v.filler(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		v.t.Fatal(err)
	}
	defer f.Close()
	for n := 1 << 20; n > 0; {
		if _, err := f.Write(make([]byte, n)); errors.Is(err, syscall.ENOSPC) {
			n /= 2
		} else if err != nil {
			v.t.Fatal(err)
		}
	}
}

func (v *smallVolume) free() {
	v.t.Helper()
	if err := os.Remove(v.filler()); err != nil {
		v.t.Fatal(err)
	}
}

// untilRefused uses up the space that the broker has reserved, with each kind of write, and sees that it is refused.
func (v *smallVolume) untilRefused(c *volumeConn) {
	v.t.Helper()
	v.until("produce, acks=1", 56, func() int16 { code, _ := v.produce(c, 1, 100_000); return code })
	v.until("produce, acks=all", 56, func() int16 { code, _ := v.produce(c, -1, 10_000); return code })
	v.until("commit", 16, func() int16 { return v.commit(c, strings.Repeat("much metadata ", 250)) })
	v.until("a small commit", 16, func() int16 { return v.commit(c, "") })
	v.until("create topics", 56, func() int16 { return v.create(c) })
	silent := v.connect()
	silent.send(volumeProduce(0, 500_000))
	if _, err := silent.receive(); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		v.t.Errorf("acks=0: %v, not a closed connection", err)
	}
}

func (v *smallVolume) until(what string, want int16, ask func() int16) {
	v.t.Helper()
	const most = 3000
	for range most {
		switch code := ask(); code {
		case 0:
		case want:
			if again := ask(); again != want {
				v.t.Errorf("%s: code %d, then %d", what, want, again)
			}
			return
		default:
			v.t.Fatalf("%s: code %d on a full disk, want %d", what, code, want)
		}
	}
	v.t.Fatalf("%s: never refused", what)
}

func (v *smallVolume) works(c *volumeConn) {
	v.t.Helper()
	v.mustCreate(c)
	for _, acks := range []int16{1, -1} {
		if code, offset := v.produce(c, acks, 10_000); code != 0 || offset < 0 {
			v.t.Fatal("produce: code", code)
		}
	}
	if code := v.commit(c, "after"); code != 0 {
		v.t.Fatal("commit: code", code)
	}
	v.readable(c)
}

// readable checks that everything that was acknowledged is there, and nothing else.
func (v *smallVolume) readable(c *volumeConn) {
	v.t.Helper()
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version, req.ReplicaID = 5, -1
	req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "full", Partitions: []kmsg.ListOffsetsRequestTopicPartition{{CurrentLeaderEpoch: -1, Timestamp: -1}}}}
	p := volumeAsk[*kmsg.ListOffsetsResponse](c, req).Topics[0].Partitions[0]
	if p.ErrorCode != 0 || p.Offset != int64(v.acked) {
		v.t.Fatalf("the log ends at %d (code %d), %d records were acknowledged", p.Offset, p.ErrorCode, v.acked)
	}
	for at := int64(0); at < p.Offset; {
		at = v.readFrom(c, at)
	}
}

func (v *smallVolume) readFrom(c *volumeConn, at int64) int64 {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxBytes, req.SessionEpoch = 11, 1<<20, -1
	req.Topics = []kmsg.FetchRequestTopic{{Topic: "full", Partitions: []kmsg.FetchRequestTopicPartition{{CurrentLeaderEpoch: -1, FetchOffset: at, PartitionMaxBytes: 1 << 20}}}}
	p := volumeAsk[*kmsg.FetchResponse](c, req).Topics[0].Partitions[0]
	var b kmsg.RecordBatch
	if err := b.ReadFrom(p.RecordBatches); p.ErrorCode != 0 || err != nil || b.FirstOffset != at {
		v.t.Fatalf("fetch from %d: code %d, %v, batch at %d", at, p.ErrorCode, err, b.FirstOffset)
	}
	return at + int64(b.NumRecords)
}

// produce appends a batch of one record.
func (v *smallVolume) produce(c *volumeConn, acks int16, bytes int) (code int16, offset int64) {
	p := volumeAsk[*kmsg.ProduceResponse](c, volumeProduce(acks, bytes)).Topics[0].Partitions[0]
	if p.ErrorCode == 0 {
		v.acked++
	} else if p.BaseOffset != -1 {
		v.t.Errorf("refused with an offset: %+v", p)
	}
	return p.ErrorCode, p.BaseOffset
}

func volumeProduce(acks int16, bytes int) *kmsg.ProduceRequest {
	record := kmsg.Record{Value: make([]byte, bytes)}
	body := record.AppendTo(nil)[1:] // behind a length of 0
	b := kmsg.RecordBatch{PartitionLeaderEpoch: -1, Magic: 2, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: 1,
		Records: append(binary.AppendVarint(nil, int64(len(body))), body...)}
	b.Length = int32(49 + len(b.Records))
	b.CRC = int32(crc32.Checksum(b.AppendTo(nil)[21:], crc32.MakeTable(crc32.Castagnoli)))
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, acks, 10_000
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: "full", Partitions: []kmsg.ProduceRequestTopicPartition{{Records: b.AppendTo(nil)}}}}
	return req
}

// create creates a topic, the first one "full".
func (v *smallVolume) create(c *volumeConn) int16 {
	name := "full"
	if v.topics > 0 {
		name = fmt.Sprintf("%s-%d", strings.Repeat("long", 50), v.topics)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 4, 10_000
	req.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: name, NumPartitions: 1, ReplicationFactor: 1}}
	code := volumeAsk[*kmsg.CreateTopicsResponse](c, req).Topics[0].ErrorCode
	if code == 0 {
		v.topics++
	}
	return code
}

func (v *smallVolume) mustCreate(c *volumeConn) {
	v.t.Helper()
	if code := v.create(c); code != 0 {
		v.t.Fatal("create a topic: code", code)
	}
}

func (v *smallVolume) commit(c *volumeConn, metadata string) int16 {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group, req.Generation = 7, "full", -1
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "full", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: 1, LeaderEpoch: -1, Metadata: &metadata}}}}
	return volumeAsk[*kmsg.OffsetCommitResponse](c, req).Topics[0].Partitions[0].ErrorCode
}

// volumeConn is a client's connection.
type volumeConn struct {
	t    *testing.T
	conn net.Conn
}

func (v *smallVolume) connect() *volumeConn {
	v.t.Helper()
	conn, err := net.Dial("tcp", v.broker.Addr())
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { conn.Close() })
	return &volumeConn{v.t, conn}
}

func (c *volumeConn) send(req kmsg.Request) {
	c.t.Helper()
	if _, err := c.conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *volumeConn) receive() ([]byte, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(c.conn, size[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(c.conn, frame)
	return frame, err
}

func volumeAsk[R kmsg.Response](c *volumeConn, req kmsg.Request) R {
	c.t.Helper()
	c.send(req)
	frame, err := c.receive()
	if err != nil {
		c.t.Fatalf("%s: %v", kmsg.NameForKey(req.Key()), err)
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	frame = frame[4:]
	if resp.IsFlexible() {
		frame = frame[1:]
	}
	if err := resp.ReadFrom(frame); err != nil {
		c.t.Fatal(err)
	}
	return resp.(R)
}
