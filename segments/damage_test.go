package segments

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"doze/disk"
)

// twoSegments is a partition with a full segment, finished, and one that is written; stopped cleanly or killed.
func twoSegments(t *testing.T, clean bool) (*disk.Mem, *model) {
	t.Helper()
	mem := disk.NewMem()
	d, p := openCrashed(t, mem, "")
	p.Configure(Config{SegmentBytes: 150})
	m := &model{}
	for i := range 3 {
		b := made{value: []byte{byte(i)}, producer: 9, sequence: int32(i)}.batch(t)
		if _, err := p.Append(b, Admission{Now: 1}); err != nil {
			t.Fatal(err)
		}
		m.acked = append(m.acked, slices.Clone(b.Bytes()))
	}
	d.SyncDirty()
	if clean {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return mem.Crash(disk.KillProcess()), m
}

// filesOf lists the files below the root.
func filesOf(t *testing.T, mem *disk.Mem) (names []string) {
	t.Helper()
	partition := path.Join("segments", ID{topicA, 0}.String())
	for _, dir := range []string{"segments", partition} {
		entries, err := mem.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, path.Join(dir, e.Name()))
			}
		}
	}
	return names
}

// TestEveryBitOfEveryFile flips each bit of each file of a partition, and cuts each file at each byte. The verdict is that
// of README.md: what is a fold of the logs costs nothing, a log that was changed is found by the check and served, refused or
// cut and kept by what vouches for it (see TestFlippedAnywhere), and no log is ever deleted.
func TestEveryBitOfEveryFile(t *testing.T) {
	for _, clean := range []bool{true, false} {
		image, m := twoSegments(t, clean)
		kinds := map[string]bool{}
		for _, name := range filesOf(t, image) {
			kinds[path.Ext(name)] = true
			content, err := disk.ReadFile(image, name, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			size := int64(len(strings.TrimRight(string(content), "\x00"))) // without reserved space
			for at := range size {
				for bit := range 8 {
					if clean && bit != int(at%8) { // the same bytes: one bit of each
						continue
					}
					hurt := image.Crash(disk.KillProcess())
					flip(t, hurt, name, at, 1<<bit)
					judgeHurt(t, hurt, m, name, fmt.Sprintf("clean %v, %s: bit %d of byte %d", clean, name, bit, at))
				}
				hurt := image.Crash(disk.KillProcess())
				f, err := hurt.OpenFile(name, 2)
				if err == nil {
					err = f.Truncate(at)
				}
				if err != nil {
					t.Fatal(err)
				}
				judgeHurt(t, hurt, m, name, fmt.Sprintf("clean %v, %s: cut at %d", clean, name, at))
			}
		}
		for _, want := range []string{".log", ".index", ".snapshot", ""} {
			if !kinds[want] && (clean || want != "") { // the checkpoint is written by a clean stop
				t.Fatalf("clean %v: no file %q among %v", clean, want, kinds)
			}
		}
	}
}

func judgeHurt(t *testing.T, hurt *disk.Mem, m *model, name, note string) {
	t.Helper()
	isLog := strings.HasSuffix(name, ".log")
	dir := path.Join("segments", ID{topicA, 0}.String())
	checked, err := Verify(hurt, dir, nil)
	if err != nil {
		t.Fatal(note, err)
	}
	d, p := openCrashed(t, hurt, "")
	defer func() { _ = d.Close() }() // what could not be opened cannot be put in order
	if isLog {                       // refused, cut and kept, or served as it is: the batch's own checksum tells who reads it
		if len(checked.Problems) == 0 {
			t.Fatalf("%s: the check finds nothing", note)
		}
		for offset := range int64(len(m.acked)) {
			span, err := p.Read(Fetch{Offset: offset, MaxBytes: 1, MinOneBatch: true})
			if err == nil {
				span.Release()
			} else if !errors.Is(err, ErrStorage) && !errors.Is(err, ErrOffsetOutOfRange) {
				t.Fatal(note, err)
			}
		}
	} else {
		m.mustHave(t, p, len(m.acked), note)
	}
	logs := 0
	for _, file := range filesOf(t, hurt) {
		if strings.HasSuffix(file, ".log") {
			logs++
		}
	}
	if logs != 2 {
		t.Fatalf("%s: %d logs are left: %v", note, logs, filesOf(t, hurt))
	}
}
