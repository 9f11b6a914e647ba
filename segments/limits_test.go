package segments

import (
	"bytes"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"doze/disk"
)

// However many connections send bombs of whichever codec at once, what they take stays below 256 MiB in all.
func TestInflatingIsBoundedForAll(t *testing.T) {
	if cap(inflating) > sourcesAtMost || sourcesAtMost*(windowBytesMax+historyMost) > 256<<20 {
		t.Errorf("%d streams of %d bytes each", cap(inflating), windowBytesMax+historyMost)
	}
	plain := make([]byte, 10<<20)
	var wide bytes.Buffer
	w, err := zstd.NewWriter(&wide, zstd.WithWindowSize(windowBytesMax), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(plain)
	_ = w.Close()
	bombs := map[Codec][]byte{Gzip: compress(Gzip, false, plain), Snappy: compress(Snappy, false, plain), LZ4: compress(LZ4, false, plain), Zstd: wide.Bytes()}
	plain = nil
	w = nil
	runtime.GC()
	before := heapObjects()
	var peak atomic.Uint64
	var all sync.WaitGroup
	for i := range 16 {
		codec := Gzip + Codec(i%4)
		all.Go(func() { inflateAway(t, codec, bombs[codec], &peak) })
	}
	all.Wait()
	if used := int64(peak.Load()) - int64(before); used > 256<<20 {
		t.Errorf("16 connections took %d MiB", used>>20)
	}
}

// inflateAway reads a stream to its end and notes how large the heap becomes meanwhile.
func inflateAway(t *testing.T, codec Codec, b []byte, peak *atomic.Uint64) {
	src, err := openSource(codec, b)
	if err != nil {
		t.Error(codec, err)
		return
	}
	defer src.close()
	for i := 0; ; i++ {
		if _, err := src.next(); err != nil {
			return
		}
		if i%32 == 0 {
			for now, was := heapObjects(), peak.Load(); now > was && !peak.CompareAndSwap(was, now); was = peak.Load() {
			}
		}
	}
}

func heapObjects() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// A full table forgets who wrote longest ago, whatever the batches say of their time; open transactions stay.
func TestProducersOfAPartitionAreBounded(t *testing.T) {
	table := producers{}
	write := func(id, offset int64, attributes uint16) {
		table.apply(&entry{producerID: id, offset: offset, maxTime: -offset, attributes: attributes}, &openTxns{})
	}
	write(1, 0, attrTransactional)
	for i := range int64(3 * producersMost) {
		write(100+i, 1+i, 0)
		write(2, 1+i, 0) // writes all the time
		if len(table) > producersMost {
			t.Fatalf("%d producers after %d", len(table), i)
		}
	}
	newest := 100 + int64(3*producersMost) - 1
	if table[1] == nil || table[2] == nil || table[newest] == nil || table[100] != nil {
		t.Errorf("open transaction %v, busy %v, newest %v, oldest %v", table[1], table[2], table[newest], table[100])
	}
}

// What was forgotten before a kill is forgotten after it: the table is a fold over the batches.
func TestForgottenProducersStayForgotten(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{})
	for i := range int64(producersMost + 1) {
		b := made{records: 1, producer: 100 + i}.batch(t)
		if _, err := p.Append(b, Admission{Now: 1_000_000}); err != nil {
			t.Fatal(err)
		}
	}
	live, err := p.Producers()
	if err != nil || len(live) != producersMost-producersMost/10+1 {
		t.Fatalf("%d producers, %v", len(live), err)
	}
	again, err := openTest(t, mem.Crash(disk.KillProcess())).Partition(ID{topicA, 0}, Config{}).Producers()
	if err != nil || len(again) != len(live) || again[0].ID != live[0].ID {
		t.Errorf("after a kill %d producers, %v", len(again), err)
	}
}
