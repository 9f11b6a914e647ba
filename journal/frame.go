package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A frame, little endian:
//
//	 0  4  sync word "dzJ1"
//	 4  4  length of the body
//	 8  8  sequence of the entry
//	16  8  durable-upto: the highest sequence known to be fsynced when this frame was written
//	24  4  CRC32C of the file's salt and bytes 0 to 24
//	28  n  body
//	 +  4  chain: CRC32C of the previous frame's chain (4 bytes; the file header's for the first), bytes 0 to 28, body
//
// A vouch is a head alone, of length 0, that repeats the sequence of the frame before it. It is written where the next
// frame will be, after an fsync that no frame follows, and says that everything before it was on disk: without it, damage
// to the last entries could not be told from what a crash leaves. The next frame overwrites it.
const (
	frameSync     = 0x314a7a64
	frameHead     = 28
	frameTail     = 4
	frameOverhead = frameHead + frameTail
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameHeader is the part of a frame that can be trusted before its body has been read.
type frameHeader struct {
	Length  int
	Seq     uint64
	Durable uint64
}

// beginFrame appends room for a frame's head; the body follows, then sealFrame.
func beginFrame(b []byte) []byte {
	return append(b, make([]byte, frameHead)...)
}

// sealFrame completes the frame that begins at start and ends with b. It returns b and the new chain.
func sealFrame(b []byte, start int, h frameHeader, salt, chain uint32) ([]byte, uint32) {
	h.Length = len(b) - start - frameHead
	h.put(b[start:], salt)
	chain = chainOver(chain, b[start:])
	return binary.LittleEndian.AppendUint32(b, chain), chain
}

func (h frameHeader) put(b []byte, salt uint32) {
	binary.LittleEndian.PutUint32(b[0:], frameSync)
	binary.LittleEndian.PutUint32(b[4:], uint32(h.Length))
	binary.LittleEndian.PutUint64(b[8:], h.Seq)
	binary.LittleEndian.PutUint64(b[16:], h.Durable)
	binary.LittleEndian.PutUint32(b[24:], headSum(b, salt))
}

// headSum is the checksum of a head. The salt is the file's own, so that no client can put bytes into an event that look
// like a frame.
func headSum(b []byte, salt uint32) uint32 {
	return crc32.Update(salt, castagnoli, b[:24])
}

// vouch gives the head that says: all up to seq is on disk.
func vouch(seq uint64, salt uint32) []byte {
	b := make([]byte, frameHead)
	frameHeader{Seq: seq, Durable: seq}.put(b, salt)
	return b
}

// chainOver is the chain after a frame: headAndBody is all of it but its own chain.
func chainOver(previous uint32, headAndBody []byte) uint32 {
	var p [4]byte
	binary.LittleEndian.PutUint32(p[:], previous)
	return crc32.Update(crc32.Checksum(p[:], castagnoli), castagnoli, headAndBody)
}

var (
	errFrameSync   = errors.New("no frame begins here")
	errFrameHead   = errors.New("checksum of the frame's head differs")
	errFrameLength = fmt.Errorf("body longer than %d bytes", MaxBody)
	errFrameShort  = errors.New("file ends inside a frame")
	errFrameChain  = errors.New("checksum of the frame, or of what precedes it, differs")
)

// parseFrameHeader reads a frame's head from at least frameHead bytes.
//
//fuzz:parser class=journal FuzzFrame
func parseFrameHeader(b []byte, salt uint32) (frameHeader, error) {
	if len(b) < frameHead {
		return frameHeader{}, errFrameShort
	}
	if binary.LittleEndian.Uint32(b) != frameSync {
		return frameHeader{}, errFrameSync
	}
	if headSum(b, salt) != binary.LittleEndian.Uint32(b[24:]) {
		return frameHeader{}, errFrameHead
	}
	length := binary.LittleEndian.Uint32(b[4:])
	if length > MaxBody {
		return frameHeader{}, errFrameLength
	}
	return frameHeader{
		Length:  int(length),
		Seq:     binary.LittleEndian.Uint64(b[8:]),
		Durable: binary.LittleEndian.Uint64(b[16:]),
	}, nil
}

// checkFrame verifies the chain of a whole frame and returns the new one.
func checkFrame(frame []byte, chain uint32) (uint32, error) {
	end := len(frame) - frameTail
	chain = chainOver(chain, frame[:end])
	if binary.LittleEndian.Uint32(frame[end:]) != chain {
		return 0, errFrameChain
	}
	return chain, nil
}
