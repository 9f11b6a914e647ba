//go:build unix

package segments

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// jsonBatch is a batch of JSON records of about 1,000 bytes each, compressed as a client does.
func jsonBatch(codec Codec, size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"order", "customer", "payment", "shipped", "pending", "warehouse", "berlin", "oslo", "lyon", "porto", "standard", "express"}
	var payload []byte
	n := 0
	for ; len(payload) < size; n++ {
		doc := map[string]any{"id": random.Uint64(), "customer": fmt.Sprintf("c-%08d", random.IntN(1e8)), "amount": random.IntN(1e6)}
		for j := range 14 {
			doc[fmt.Sprintf("attribute_%d", j)] = words[random.IntN(len(words))] + " " + words[random.IntN(len(words))]
			doc[fmt.Sprintf("measure_%d", j)] = random.IntN(1e9)
		}
		value, _ := json.Marshal(doc)
		payload = appendRecord(payload, &made{value: value}, n, 0)
	}
	b := made{records: n}.bytes()[:headerBytes]
	switch codec {
	case Zstd: // as franz-go
		w, _ := zstd.NewWriter(nil, zstd.WithWindowSize(64<<10), zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
		b = w.EncodeAll(payload, b)
	default:
		b = append(b, compress(codec, false, payload)...)
	}
	put32(atLength, uint32(len(b)-logOverhead))(b)
	return put16(atAttributes, uint16(codec))(b)
}

func BenchmarkCheckJSON(b *testing.B) {
	for codec := None; codec <= Zstd; codec++ {
		for _, size := range []int{1_000, 10_000, 100_000, 1_000_000} {
			raw := jsonBatch(codec, size)
			b.Run(fmt.Sprintf("%s/%dKB", codec, size/1000), func(b *testing.B) {
				b.SetBytes(int64(size)) // inflated
				b.ReportAllocs()
				before := cpuTime(b)
				for range b.N {
					if _, err := CheckBatch(raw, &Rules{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((cpuTime(b)-before).Milliseconds())*1e6/float64(b.N)/float64(size), "cpu-s/GB")
			})
		}
	}
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
