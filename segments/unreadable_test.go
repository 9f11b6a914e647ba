package segments

import (
	"slices"
	"testing"

	"doze/disk"
)

// unreadable is a batch whose head and CRC are right and whose records are not what its codec says.
func unreadable(codec Codec, at int64) *Batch {
	raw := made{records: 2, base: at, value: []byte("value")}.bytes()
	raw[atAttributes+1] |= byte(codec)
	seal(raw)
	return &Batch{Header: parseHeader(raw), raw: raw}
}

// A batch that cannot be read is kept: it is read as it is, over restarts, and who looks inside steps over it.
func TestUnreadableBatchIsKeptAndSteppedOver(t *testing.T) {
	for _, codec := range []Codec{Gzip, Snappy, LZ4, Zstd, 5, 7} {
		mem := disk.NewMem()
		d := openTest(t, mem)
		p := d.Partition(ID{topicA, 0}, Config{})
		mustAppend(t, p, made{records: 2, base: 100})
		bad := unreadable(codec, 500)
		want := slices.Clone(bad.raw)
		if _, err := p.Append(bad, Admission{}); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, p, made{records: 2, base: 300})
		lookPastUnreadable(t, p, want, codec)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		lookPastUnreadable(t, openTest(t, mem).Partition(ID{topicA, 0}, Config{}), want, codec)
		_, crashed := openCrashed(t, mem, "")
		lookPastUnreadable(t, crashed, want, codec)
		if v, err := Verify(mem, "segments/"+p.id.String(), nil); err != nil || v.Damaged() || v.End != 6 {
			t.Fatalf("%s: %+v, %v", codec, v, err)
		}
	}
}

func lookPastUnreadable(t *testing.T, p *Partition, want []byte, codec Codec) {
	t.Helper()
	for ts, offset := range map[int64]int64{100: 0, 101: 1, 102: 4, 301: 5} {
		if found, ok, err := p.OffsetForTime(ts); err != nil || !ok || found.Offset != offset {
			t.Errorf("%s: from %d on: %+v %v %v", codec, ts, found, ok, err)
		}
	}
	if found, ok, err := p.OffsetForTime(400); ok || err != nil {
		t.Errorf("%s: from 400 on: %+v %v", codec, found, err)
	}
	if found, ok, err := p.MaxTimestamp(); err != nil || !ok || found.Offset != 5 || found.Timestamp != 301 {
		t.Errorf("%s: largest: %+v %v %v", codec, found, ok, err)
	}
	batches, err := stored(p)
	if err != nil || len(batches) != 3 || !slices.Equal(batches[1][headerBytes:], want[headerBytes:]) {
		t.Errorf("%s: %d batches, %v", codec, len(batches), err)
	}
}
