package segments

import (
	"bytes"
	"testing"
)

// FuzzKeyedRecords: whatever the bytes, the records lie within them, one behind the other, and written again at their own
// times they are the same, but for attributes.
func FuzzKeyedRecords(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b[headerBytes:], int32(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, count int32) {
		var again []byte
		ok := eachKeyed(b, min(max(count, 0), 1000), func(r *keyedRecord) bool {
			again = append(again, r.whole...)
			if whole := r.appendAt(nil, r.timestampDelta); r.attributes == 0 && !bytes.Equal(whole, r.whole) {
				t.Fatal("not the record that was there")
			}
			var moved keyedRecord
			if n := moved.parse(r.appendAt(nil, r.timestampDelta+1)); n > 0 && (!bytes.Equal(moved.key, r.key) || moved.offsetDelta != r.offsetDelta) {
				t.Fatal("another time made it another record")
			}
			return true
		})
		if ok && !bytes.Equal(again, b) || !bytes.HasPrefix(b, again) {
			t.Fatal("not the records that were there")
		}
	})
}

// FuzzCleanState: what is taken has one encoding.
func FuzzCleanState(f *testing.F) {
	f.Add(cleanState{clean: 5, rewritten: 7, swap: swap{base: 1, end: 7, size: 100, entries: 2, logCRC: 3, indexCRC: 4}}.encode())
	f.Add(cleanState{swap: noSwap}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := decodeCleanState(b); err == nil && !bytes.Equal(c.encode(), b) {
			t.Fatal("another encoding")
		}
	})
}
