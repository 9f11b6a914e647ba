package segments

import (
	"strings"
	"testing"

	"doze/disk"
)

// renameFS calls back behind each rename of a snapshot to its name: that is the last that finishing a segment does.
type renameFS struct {
	disk.FS
	renamed func()
}

func (f *renameFS) Rename(from, to string) error {
	err := f.FS.Rename(from, to)
	if f.renamed != nil && strings.HasSuffix(to, ".snapshot") {
		f.renamed()
	}
	return err
}

// TestRemovedWhileSegmentsAreFinished removes the topic behind each of the segments that a coarse sync finishes.
func TestRemovedWhileSegmentsAreFinished(t *testing.T) {
	finished := 1
	for n := 1; n <= finished; n++ {
		fsys := &renameFS{FS: disk.NewMem()}
		d := openTest(t, fsys)
		p := d.Partition(ID{topicA, 0}, Config{SegmentBytes: 200})
		for range 6 {
			mustAppend(t, p, made{records: 3})
		}
		finished = len(p.sealed)
		seen := 0
		fsys.renamed = func() {
			if seen++; seen == n {
				if err := d.Remove(topicA); err != nil {
					t.Error(err)
				}
			}
		}
		d.SyncDirty()
		if len(p.sealed) != 0 || seen != n {
			t.Fatalf("%d segments left, %d finished after removal behind number %d", len(p.sealed), seen, n)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if finished < 2 {
		t.Fatal(finished)
	}
}
