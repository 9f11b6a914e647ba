package credentials

import (
	"bytes"
	"testing"

	"doze/disk"
)

func open(t *testing.T, fs disk.FS) *Store {
	t.Helper()
	s, err := Open(fs, "data/credentials")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	fs := disk.NewMem()
	if err := fs.MkdirAll("data"); err != nil {
		t.Fatal(err)
	}
	s := open(t, fs)
	a, errA := s.Put([]byte("secret a"))
	b, errB := s.Put([]byte("secret b"))
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if _, err := s.Put(make([]byte, Max+1)); err == nil {
		t.Error("a long one is taken")
	}
	decoy, err := s.Decoy()
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, fs)
	if again, err := s.Decoy(); err != nil || again != decoy {
		t.Errorf("the decoy's secret is another after a start: %v", err)
	}
	if got, ok := s.Get(a); !ok || string(got) != "secret a" {
		t.Errorf("a is %q", got)
	}
	if n, err := s.Sweep(map[Ref]bool{a: true}); n != 1 || err != nil {
		t.Errorf("swept %d: %v", n, err)
	}
	if _, ok := s.Get(b); ok {
		t.Error("b is there after the sweep")
	}
	s = open(t, fs)
	if _, ok := s.Get(a); !ok || len(s.files) != 1 {
		t.Errorf("%d files are left", len(s.files))
	}
	if err := s.Remove(a); err != nil {
		t.Error(err)
	}
	if err := s.Remove(a); err != nil {
		t.Errorf("removed again: %v", err)
	}
}

// A power loss after Put returned loses nothing, whatever was not synced.
func TestPutOutlastsAPowerLoss(t *testing.T) {
	fs := disk.NewMem()
	if err := fs.MkdirAll("data"); err != nil {
		t.Fatal(err)
	}
	if err := fs.SyncDir("."); err != nil {
		t.Fatal(err)
	}
	ref, err := open(t, fs).Put([]byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := open(t, fs.Crash(disk.Loss{})).Get(ref); !ok || string(got) != "secret" {
		t.Errorf("after a power loss: %q", got)
	}
}

func TestDamagedCredentialIsNotKnown(t *testing.T) {
	whole := encode([]byte("secret"))
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 1
		if _, err := decode(damaged); err == nil {
			t.Errorf("a flipped bit of byte %d passes", i)
		}
		if _, err := decode(whole[:i]); err == nil {
			t.Errorf("%d of %d bytes pass", i, len(whole))
		}
	}
}

func FuzzCredential(f *testing.F) {
	f.Add(encode([]byte("secret")))
	f.Add([]byte(magic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if body, err := decode(b); err == nil && !bytes.Equal(encode(body), b) {
			t.Fatalf("%q is read as %q", b, body)
		}
	})
}
