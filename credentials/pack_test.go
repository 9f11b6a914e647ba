package credentials

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"doze/disk"
)

func manyBodies(n int) [][]byte {
	bodies := make([][]byte, n)
	for i := range bodies {
		bodies[i] = fmt.Appendf(nil, "secret %d", i)
	}
	return bodies
}

func synced(t *testing.T) *disk.Mem {
	t.Helper()
	fs := disk.NewMem()
	if err := fs.MkdirAll("data"); err != nil {
		t.Fatal(err)
	}
	if err := fs.SyncDir("."); err != nil {
		t.Fatal(err)
	}
	return fs
}

func putAll(t *testing.T, s *Store, n int) []Ref {
	t.Helper()
	refs, err := s.PutAll(manyBodies(n))
	if err != nil || len(refs) != n {
		t.Fatalf("%d references: %v", len(refs), err)
	}
	return refs
}

func wantAll(t *testing.T, s *Store, refs []Ref, there func(i int) bool) {
	t.Helper()
	for i, ref := range refs {
		body, ok := s.Get(ref)
		if ok != there(i) || ok && string(body) != fmt.Sprintf("secret %d", i) {
			t.Fatalf("credential %d is %q, %v", i, body, ok)
		}
	}
}

func always(int) bool { return true }

// Many credentials take few files and few syncs, and are all there after a power loss.
func TestManyOutlastAPowerLoss(t *testing.T) {
	fs := synced(t)
	refs := putAll(t, open(t, fs), 1000)
	crashed := fs.Crash(disk.Loss{})
	wantAll(t, open(t, crashed), refs, always)
	files, err := crashed.ReadDir("data/credentials")
	if err != nil || len(files) != 4 {
		t.Errorf("%d files: %v", len(files), err)
	}
}

// What is removed is on no disk, what is not stays, over a crash at any time of it.
func TestRemovedOnesLeaveTheirPack(t *testing.T) {
	fs := synced(t)
	s := open(t, fs)
	refs := putAll(t, s, 600)
	var gone []Ref
	odd := func(i int) bool { return i%2 == 1 && i < 512 }
	for i, ref := range refs {
		if !odd(i) {
			gone = append(gone, ref)
		}
	}
	if err := s.Remove(gone...); err != nil {
		t.Fatal(err)
	}
	wantAll(t, s, refs, odd)
	if err := s.Remove(gone...); err != nil {
		t.Errorf("removed again: %v", err)
	}
	wantAll(t, open(t, fs), refs, odd)
	files, err := fs.ReadDir("data/credentials")
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, f := range files {
		content, err := disk.ReadFile(fs, "data/credentials/"+f.Name(), packBytes)
		if err != nil || bytes.Contains(content, []byte("secret 100")) || !bytes.Contains(content, []byte("secret ")) {
			t.Errorf("%s holds what was removed: %v", f.Name(), err)
		}
	}
	crashed := open(t, fs.Crash(disk.Loss{})) // a removal may be lost, and is swept then
	for i, ref := range refs {
		if _, ok := crashed.Get(ref); odd(i) && !ok {
			t.Errorf("credential %d is lost", i)
		}
	}
}

func TestSweepTakesUnnamedOnesOutOfPacks(t *testing.T) {
	fs := synced(t)
	refs := putAll(t, open(t, fs), 10)
	s := open(t, fs)
	if n, err := s.Sweep(map[Ref]bool{refs[3]: true}); n != 9 || err != nil {
		t.Fatalf("swept %d: %v", n, err)
	}
	wantAll(t, open(t, fs), refs, func(i int) bool { return i == 3 })
}

// A damaged pack lets nobody in. It stays as long as somebody may be in it.
func TestDamagedPack(t *testing.T) {
	fs := synced(t)
	refs := putAll(t, open(t, fs), 3)
	name := "data/credentials/" + refs[0].String() + packSuffix
	content, err := disk.ReadFile(fs, name, packBytes)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := disk.WriteFile(fs, "data/credentials", name, content); err != nil {
		t.Fatal(err)
	}
	s := open(t, fs)
	wantAll(t, s, refs, func(int) bool { return false })
	for _, named := range []map[Ref]bool{{refs[1]: true}, {}} {
		if _, err := s.Sweep(named); err != nil {
			t.Fatal(err)
		}
		_, err := disk.ReadFile(fs, name, packBytes)
		if kept := err == nil; kept != (len(named) > 0) {
			t.Errorf("with %d named it is there: %v", len(named), kept)
		}
	}
}

func FuzzPack(f *testing.F) {
	f.Add(encodePack([]packed{{Ref{1}, []byte("secret")}, {Ref{2}, nil}}))
	f.Add([]byte(packMagic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := decodePack(b)
		if err == nil && !bytes.Equal(encodePack(list), b) {
			t.Fatalf("%q is read as %v", b, list)
		}
		if slices.ContainsFunc(list, func(p packed) bool { return len(p.body) > Max }) || len(list) > packMax {
			t.Fatalf("%d credentials are too many, or too long", len(list))
		}
	})
}
