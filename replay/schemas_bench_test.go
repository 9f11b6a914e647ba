package replay

import (
	"context"
	"crypto/md5"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"doze/journal"
	"doze/projections"
)

// BenchmarkStartOfSchemas is a start after a clean stop with 100,000 schemas of some 500 bytes, a subject for each.
func BenchmarkStartOfSchemas(b *testing.B) {
	store, fsys, opt := committing(b)
	text := `{"type":"record","name":"Order%d","fields":[` + strings.Repeat(`{"name":"a","type":["null","string"]},`, 12) + `]}`
	for from := int32(0); from < 100_000; from += 1000 {
		err := store.Update(context.Background(), journal.Timed("schemas"), func(tx *journal.Tx[*projections.State]) {
			for id := from + 1; id <= from+1000; id++ {
				e := &journal.SchemaRegistered{Subject: fmt.Sprintf("topic-%d-value", id), Version: 1, ID: id, Type: "AVRO", Schema: fmt.Sprintf(text, id)}
				e.GUID = md5.Sum([]byte(e.Schema))
				tx.Emit(e)
			}
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		runtime.GC()
		began := time.Now()
		store, rec, err := journal.Open(fsys, opt, projections.New)
		if err != nil || rec.SnapshotSeq == 0 || rec.Applied > 10 {
			b.Fatalf("%+v, %v", rec, err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/start")
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
