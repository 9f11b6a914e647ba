package segments

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// encoder writes the records of a batch in a codec's format to an output. It is given blocks of blockBytes, of which
// only the last may be smaller. After close it may not be used.
type encoder interface {
	blockBytes() int
	write(block []byte) error
	end() error
	close()
}

func openEncoder(c Compression, out *output) encoder {
	switch c.Codec {
	case Gzip:
		return openStream(&gzipWriters[gzipLevel(c.Level)], out)
	case Snappy:
		return openSnappyWriter(out)
	case LZ4:
		return openLZ4Writer(c.Level, out)
	case Zstd:
		effort := zstd.EncoderLevelFromZstd(c.Level)
		if effort == zstd.SpeedBestCompression {
			out.takeThorough()
		}
		return openStream(&zstdWriters[effort], out)
	}
	return plainWriter{out}
}

// plainWriter leaves records uncompressed.
type plainWriter struct{ out *output }

func (e plainWriter) blockBytes() int { return chunkBytes / 2 }
func (e plainWriter) end() error      { return nil }
func (e plainWriter) close()          {}

func (e plainWriter) write(block []byte) error {
	_, err := e.out.Write(block)
	return err
}

// snappyWriter writes snappy in snappy-java's framing, which all clients of Kafka read.
type snappyWriter struct {
	out     *output
	scratch []byte // four bytes of length, and room for a block
}

const snappyBlockBytes = 32 << 10 // as snappy-java's

var snappyWriters = sync.Pool{New: func() any {
	return &snappyWriter{scratch: make([]byte, 4+s2.MaxEncodedLen(snappyBlockBytes))}
}}

func openSnappyWriter(out *output) *snappyWriter {
	e := snappyWriters.Get().(*snappyWriter)
	e.out = out
	_, _ = out.Write(xerialMagic)
	_, _ = out.Write([]byte{0, 0, 0, 1, 0, 0, 0, 1})
	return e
}

func (e *snappyWriter) blockBytes() int { return snappyBlockBytes }
func (e *snappyWriter) end() error      { return nil }

func (e *snappyWriter) write(block []byte) error {
	n := len(s2.EncodeSnappy(e.scratch[4:], block))
	binary.BigEndian.PutUint32(e.scratch, uint32(n))
	_, err := e.out.Write(e.scratch[:4+n])
	return err
}

func (e *snappyWriter) close() {
	e.out = nil
	snappyWriters.Put(e)
}

// lz4Writer writes an LZ4 frame of independent blocks of 64 KiB without checksums, as Kafka does.
type lz4Writer struct {
	out     *output
	level   int
	fast    lz4.Compressor
	hard    lz4.CompressorHC
	scratch []byte // four bytes of size, and a block that became smaller
}

const (
	lz4BlockBytes = 64 << 10
	lz4BlockCode  = 4 << 4 // for that size in the frame's descriptor
	lz4FastLevel  = 9      // the default, for which Kafka takes the fast compressor; others are efforts of the thorough one
)

var lz4Writers = sync.Pool{New: func() any { return &lz4Writer{scratch: make([]byte, 4+lz4BlockBytes)} }}

func openLZ4Writer(level int, out *output) *lz4Writer {
	e := lz4Writers.Get().(*lz4Writer)
	e.out, e.level = out, level
	e.hard.Level = 1 << (8 + min(max(level, 1), 9))
	head := append(binary.LittleEndian.AppendUint32(nil, lz4Magic), lz4FlagsWant, lz4BlockCode)
	_, _ = out.Write(append(head, byte(xxhash32(head[4:])>>8)))
	return e
}

func (e *lz4Writer) blockBytes() int { return lz4BlockBytes }

func (e *lz4Writer) write(block []byte) error {
	n, err := e.compress(e.scratch[4:], block)
	if err != nil || n == 0 || n >= len(block) {
		n = copy(e.scratch[4:], block)
		binary.LittleEndian.PutUint32(e.scratch, uint32(n)|lz4Stored)
	} else {
		binary.LittleEndian.PutUint32(e.scratch, uint32(n))
	}
	_, err = e.out.Write(e.scratch[:4+n])
	return err
}

// compress gives 0 or an error when the block does not become smaller than the room for it.
func (e *lz4Writer) compress(room, block []byte) (int, error) {
	if e.level == lz4FastLevel {
		return e.fast.CompressBlock(block, room)
	}
	return e.hard.CompressBlock(block, room)
}

func (e *lz4Writer) end() error {
	_, err := e.out.Write([]byte{0, 0, 0, 0})
	return err
}

func (e *lz4Writer) close() {
	e.out = nil
	lz4Writers.Put(e)
}

// streamWriter is an encoder over a library's writer.
type streamWriter struct {
	w    resetter
	pool *sync.Pool
}

type resetter interface {
	io.WriteCloser
	Reset(io.Writer)
}

var (
	gzipWriters [gzip.BestCompression + 1]sync.Pool      // by level, 0 for the library's own
	zstdWriters [zstd.SpeedBestCompression + 1]sync.Pool // by effort
	zstdWindows = [...]int{zstd.SpeedFastest: 1 << 20, zstd.SpeedDefault: 2 << 20, zstd.SpeedBetterCompression: 4 << 20, zstd.SpeedBestCompression: windowBytesMax}
)

func init() {
	for level := range gzipWriters {
		gzipWriters[level].New = func() any { return newStream(&gzipWriters[level], newGzip(level)) }
	}
	for effort := zstd.SpeedFastest; effort <= zstd.SpeedBestCompression; effort++ {
		zstdWriters[effort].New = func() any { return newStream(&zstdWriters[effort], newZstd(effort)) }
	}
}

// gzipLevel is the place of a level's writers: Kafka has 1 to 9, and -1 for the library's own.
func gzipLevel(level int) int { return min(max(level, 0), gzip.BestCompression) }

func newGzip(level int) resetter {
	if level == 0 {
		level = gzip.DefaultCompression
	}
	w, err := gzip.NewWriterLevel(nil, level)
	if err != nil {
		panic(fmt.Sprintf("segments: gzip level %d: %v", level, err))
	}
	return w
}

func newZstd(effort zstd.EncoderLevel) resetter {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(effort), zstd.WithWindowSize(zstdWindows[effort]),
		zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(fmt.Sprintf("segments: zstd effort %v: %v", effort, err))
	}
	return w
}

func newStream(pool *sync.Pool, w resetter) *streamWriter { return &streamWriter{w: w, pool: pool} }

func openStream(pool *sync.Pool, out *output) *streamWriter {
	e := pool.Get().(*streamWriter)
	e.w.Reset(out)
	return e
}

func (e *streamWriter) blockBytes() int { return chunkBytes / 2 }
func (e *streamWriter) end() error      { return e.w.Close() }

func (e *streamWriter) write(block []byte) error {
	_, err := e.w.Write(block)
	return err
}

func (e *streamWriter) close() {
	e.w.Reset(nil)
	e.pool.Put(e)
}
