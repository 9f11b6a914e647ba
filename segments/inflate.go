package segments

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Codec is a compression type of Kafka.
type Codec uint8

const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

var codecNames = [...]string{"none", "gzip", "snappy", "lz4", "zstd"}

func (c Codec) String() string {
	if int(c) < len(codecNames) {
		return codecNames[c]
	}
	return "unknown"
}

const (
	chunkBytes      = 64 << 10
	windowBytesMax  = 8 << 20 // of history that a stream may refer back to
	sourcesPerCore  = 2
	sourcesAtLeast  = 4
	sourcesAtMost   = 12      // a window of 8 MiB and room to slide it each: under 256 MiB in all
	emptyChunksMost = 1 << 10 // a stream of empty blocks must end
)

// source gives inflated bytes. A chunk is valid until the next call; io.EOF ends it. Errors are io.EOF or *CheckError.
type source interface {
	next() ([]byte, error)
	close()
}

// inflating bounds how many streams are open at once, and with them what they hold: at most a window and a buffer each.
var inflating = make(chan struct{}, min(max(sourcesAtLeast, sourcesPerCore*runtime.GOMAXPROCS(0)), sourcesAtMost))

// openSource starts to inflate; it waits while as many streams as may be are open.
//
//fuzz:parser class=inflate FuzzInflate
func openSource(codec Codec, compressed []byte) (source, error) {
	inflating <- struct{}{}
	src, err := newSource(codec, compressed)
	if err != nil {
		<-inflating
		return nil, err
	}
	return src, nil
}

func newSource(codec Codec, compressed []byte) (source, error) {
	switch codec {
	case Gzip:
		return openGzip(compressed)
	case Snappy:
		if len(compressed) == 0 {
			return nil, refuse(Undecodable, "snappy stream of no bytes")
		}
		return openSnappy(compressed), nil
	case LZ4:
		return openLZ4(compressed)
	case Zstd:
		return openZstd(compressed)
	}
	return nil, refuse(UnknownCodec, "compression type %d", codec)
}

// reading is a source over a decoder that is an io.Reader.
type reading struct {
	in     bytes.Reader
	all    []byte // what in began with
	buffer []byte
	dec    io.Reader
	pool   *sync.Pool
	reset  func(*reading) error
}

func (s *reading) next() ([]byte, error) {
	for range emptyChunksMost {
		n, err := s.dec.Read(s.buffer)
		if n > 0 {
			return s.buffer[:n], nil
		}
		if err == io.EOF {
			return nil, io.EOF
		}
		if err != nil {
			return nil, s.undecodable(err)
		}
	}
	return nil, refuse(Undecodable, "the stream gives nothing")
}

func (s *reading) undecodable(err error) error {
	tooLarge := errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded)
	if tooLarge && !beyondKafka(s.all) {
		return refuse(InflateLimit, "inflate records: %v", err)
	}
	return refuse(Undecodable, "inflate records: %v", err)
}

// kafkaWindowMost is the largest window that Kafka's zstd takes.
const kafkaWindowMost = 128 << 20

// beyondKafka tells whether a zstd frame needs a larger window than Kafka takes.
//
//fuzz:parser class=inflate FuzzInflate
func beyondKafka(frame []byte) bool {
	var h zstd.Header
	return h.Decode(frame) == nil && h.WindowSize > kafkaWindowMost
}

func (s *reading) close() {
	s.all = nil
	s.in.Reset(nil)
	s.pool.Put(s)
	<-inflating
}

func openReading(pool *sync.Pool, compressed []byte) (source, error) {
	s := pool.Get().(*reading)
	s.all = compressed
	s.in.Reset(compressed)
	if err := s.reset(s); err != nil {
		err = s.undecodable(err)
		s.all = nil
		pool.Put(s)
		return nil, err
	}
	return s, nil
}

var gzips, zstds sync.Pool // of *reading

func init() {
	gzips.New = func() any {
		return &reading{buffer: make([]byte, chunkBytes), dec: new(gzip.Reader), pool: &gzips,
			reset: func(s *reading) error { return s.dec.(*gzip.Reader).Reset(&s.in) }}
	}
	zstds.New = func() any {
		dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(windowBytesMax), zstd.WithDecoderMaxMemory(DefaultInflateBytes))
		if err != nil {
			panic("segments: zstd options: " + err.Error()) // they are constants
		}
		return &reading{buffer: make([]byte, chunkBytes), dec: dec, pool: &zstds,
			reset: func(s *reading) error { return s.dec.(*zstd.Decoder).Reset(&s.in) }}
	}
}

func openGzip(compressed []byte) (source, error) { return openReading(&gzips, compressed) }
func openZstd(compressed []byte) (source, error) { return openReading(&zstds, compressed) }
