//go:build linux

package brokers

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// floorServer does the least that each request makes any broker do:
//
//	Metadata     names itself, so that it counts as started
//	Produce      reads the frame, CRC32C over it, appends it to one file, answers
//	Fetch        sends partition-max-bytes of that file from the offset (here a position), by sendfile
//	DeleteTopics empties the file
//	others       an answer of a few bytes: what a request costs that asks for nothing
//
// It keeps no order between connections and checks nothing: it is a floor, not a broker.
type floorServer struct {
	addr string
	mu   sync.Mutex
	file *os.File
	size int64
}

// ServeFloor serves on addr until the process ends.
func ServeFloor(addr, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	file, err := os.Create(filepath.Join(dir, "floor"))
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s := &floorServer{addr: addr, file: file}
	for {
		c, err := l.Accept()
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		go s.serve(c.(*net.TCPConn))
	}
}

const floorFrameMax = 128 << 20

func (s *floorServer) serve(c *net.TCPConn) {
	defer c.Close()
	in := bufio.NewReaderSize(c, 512)
	var frame []byte
	for {
		var head [4]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return
		}
		size := binary.BigEndian.Uint32(head[:])
		if size > floorFrameMax {
			return
		}
		if int(size) > cap(frame) {
			frame = make([]byte, size)
		}
		frame = frame[:size]
		if _, err := io.ReadFull(in, frame); err != nil {
			return
		}
		if len(frame) < 8 || s.answer(c, frame) != nil {
			return
		}
	}
}

func (s *floorServer) answer(c *net.TCPConn, frame []byte) error {
	switch kmsg.Key(binary.BigEndian.Uint16(frame)) {
	case kmsg.Metadata:
		return reply(c, frame, s.metadata())
	case kmsg.Produce:
		if err := s.append(frame); err != nil {
			return err
		}
	case kmsg.Fetch:
		return s.send(c, frame)
	case kmsg.DeleteTopics:
		if err := s.empty(); err != nil {
			return err
		}
	}
	return reply(c, frame, make([]byte, 32))
}

func reply(c *net.TCPConn, frame, body []byte) error {
	out := make([]byte, 0, 8+len(body))
	out = binary.BigEndian.AppendUint32(out, uint32(4+len(body)))
	out = append(out, frame[4:8]...)
	_, err := c.Write(append(out, body...))
	return err
}

// metadata is an answer at version 12 with this one broker.
func (s *floorServer) metadata() []byte {
	resp := kmsg.NewPtrMetadataResponse()
	resp.SetVersion(12)
	b := kmsg.NewMetadataResponseBroker()
	b.Host = s.addr
	resp.Brokers = append(resp.Brokers, b)
	return resp.AppendTo([]byte{0})
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s *floorServer) append(frame []byte) error {
	crc32.Checksum(frame, castagnoli)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.file.WriteAt(frame, s.size)
	s.size += int64(len(frame))
	return err
}

func (s *floorServer) empty() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = 0
	return s.file.Truncate(0)
}

func (s *floorServer) send(c *net.TCPConn, frame []byte) error {
	position, size, err := fetchRange(frame)
	if err != nil {
		return err
	}
	s.mu.Lock()
	size = max(0, min(size, s.size-position))
	s.mu.Unlock()
	section, err := os.Open(s.file.Name())
	if err != nil {
		return err
	}
	defer section.Close()
	if _, err := section.Seek(position, io.SeekStart); err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(4+size))
	if _, err := c.Write(append(head, frame[4:8]...)); err != nil {
		return err
	}
	_, err = io.CopyN(c, section, size)
	return err
}

// fetchRange reads the position and the size from a Fetch request with one partition.
func fetchRange(frame []byte) (position, size int64, err error) {
	req := kmsg.NewPtrFetchRequest()
	req.SetVersion(int16(binary.BigEndian.Uint16(frame[2:])))
	client := int(binary.BigEndian.Uint16(frame[8:]))
	if err := req.ReadFrom(frame[11+client:]); err != nil {
		return 0, 0, err
	}
	if len(req.Topics) != 1 || len(req.Topics[0].Partitions) != 1 {
		return 0, 0, fmt.Errorf("fetch of other than one partition")
	}
	p := req.Topics[0].Partitions[0]
	return p.FetchOffset, int64(p.PartitionMaxBytes), nil
}
