package segments

import (
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"doze/disk"
)

// lists are the files of a partition that are lists of aborted transactions.
func lists(t *testing.T, mem *disk.Mem, id ID) (names []string) {
	t.Helper()
	entries, err := mem.ReadDir(path.Join("segments", id.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "."+abortedExt) {
			names = append(names, e.Name())
		}
	}
	return names
}

func isList(name string) bool { return strings.HasSuffix(name, "."+abortedExt) }

// TestListOfAFullDisk: the first lines of a list cannot be written because the disk is full. Once they can they are in the file
// that has its name, and are read also when the file was closed in between.
func TestListOfAFullDisk(t *testing.T) {
	mem := disk.NewMem()
	opt := testOptions()
	opt.MaxOpenFiles, opt.MaxUnsyncedFiles = 4, 4
	d, err := OpenDir(mem, "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	p := d.Partition(ID{topicA, 0}, Config{})
	m := newTxnModel()
	aborted := func() {
		m.append(t, p, 1, true, 1, 0)
		m.finish(t, p, 1, false, 1, 0)
	}
	aborted()
	mem.Inject(&disk.Fault{Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite}, Persistent: true, Match: isList})
	if err := p.SyncTo(context.Background(), m.end()); err != nil && !errors.Is(err, disk.ENOSPC) {
		t.Fatal(err)
	}
	d.SyncDirty()
	mem.Clear()
	aborted()
	d.SyncDirty()
	for i := range int32(20) { // other files take the place of those that are open
		mustAppend(t, d.Partition(ID{topicA, i + 1}, Config{}), made{})
		d.SyncDirty()
	}
	m.checkRead(t, p, 0, 1<<20, "with space again")
	if names := lists(t, mem, ID{topicA, 0}); len(names) != 1 {
		t.Errorf("lists %v", names)
	}
}

// TestListThatIsGone: a list that somebody removes while the broker runs is made anew.
func TestListThatIsGone(t *testing.T) {
	mem := disk.NewMem()
	opt := testOptions()
	opt.MaxOpenFiles, opt.MaxUnsyncedFiles = 4, 4
	d, err := OpenDir(mem, "segments", opt)
	if err != nil {
		t.Fatal(err)
	}
	id := ID{topicA, 0}
	p := d.Partition(id, Config{})
	m := newTxnModel()
	m.append(t, p, 1, true, 1, 0)
	m.finish(t, p, 1, false, 1, 0)
	rolled(t, p)
	if err := mem.Remove(path.Join("segments", id.String(), segmentName(0, abortedExt))); err != nil {
		t.Fatal(err)
	}
	for i := range int32(20) {
		mustAppend(t, d.Partition(ID{topicA, i + 1}, Config{}), made{})
		d.SyncDirty()
	}
	m.checkRead(t, p, 0, 1<<20, "without its list")
	if names := lists(t, mem, id); len(names) != 1 {
		t.Errorf("lists %v", names)
	}
}

// TestListOfASegmentThatIsSetAside: a power failure takes the end of a segment, the next one is set aside, and the list that it
// had says nothing of the segment that takes its place.
func TestListOfASegmentThatIsSetAside(t *testing.T) {
	mem := disk.NewMem()
	open := func(boot string) (*Dir, *Partition) {
		d, _ := openCrashed(t, mem, boot)
		return d, d.Partition(ID{topicA, 1}, Config{})
	}
	_, p := open("one")
	m := newTxnModel()
	for i := range int64(3) {
		m.append(t, p, 10+i, true, 1, 0)
		m.finish(t, p, 10+i, false, 1, 0)
	}
	base := m.end()
	if err := p.roll(1); err != nil { // and nothing is synced
		t.Fatal(err)
	}
	for i := range int64(200) {
		m.append(t, p, 100+i, true, 1, 0)
		m.finish(t, p, 100+i, false, 1, 0)
	}
	id := ID{topicA, 1}
	if names := lists(t, mem, id); len(names) == 0 || names[len(names)-1] != segmentName(base, abortedExt) {
		t.Fatalf("lists %v", names)
	}
	mem = mem.Crash(disk.KillProcess())
	f, err := mem.OpenFile(path.Join("segments", id.String(), segmentName(0, "log")), os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff, 0xff}, 100); err != nil {
		t.Fatal(err)
	}
	d, p := open("two")
	end := offsetsOf(t, p).HighWatermark
	if names := lists(t, mem, id); end >= base || slices.Contains(names, segmentName(base, abortedExt)) {
		t.Fatalf("the log ends at %d, with the lists %v", end, names)
	}
	for i := end; i < base; i++ { // until the next segment begins where the one that was set aside did
		mustAppend(t, p, made{})
	}
	rolled(t, p)
	for range 5 {
		mustAppend(t, p, made{})
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	mem = mem.Crash(disk.KillProcess())
	_, p = open("two")
	s, err := p.Read(Fetch{Offset: base, MaxBytes: 1 << 20, MinOneBatch: true, ReadCommitted: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	if len(s.Aborted) != 0 || offsetsOf(t, p).HighWatermark != base+5 {
		t.Errorf("aborted %v, %+v", s.Aborted, offsetsOf(t, p))
	}
}

func offsetsOf(t *testing.T, p *Partition) Offsets {
	t.Helper()
	o, err := p.Offsets()
	if err != nil {
		t.Fatal(err)
	}
	return o
}
