package doze

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSweepEphemeral: only a directory that carries mark and lock, the lock free, is removed.
func TestSweepEphemeral(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	make := func(name string, files ...string) string {
		dir := filepath.Join(temp, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f), []byte("1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	dead := make("doze-1", lockName, ephemeralMark)
	kept := []string{make("doze-2", lockName), make("doze-3", ephemeralMark), make("doze-4x", lockName, ephemeralMark), make("doze-5")}
	link := filepath.Join(temp, "doze-6")
	target := make("elsewhere", lockName, ephemeralMark)
	if err := os.Symlink(target, link); err != nil {
		t.Log("no links here:", err)
	}
	o := Options{Ephemeral: true, Listeners: []Listener{{Address: "127.0.0.1:0"}}}
	first, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	second, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(kept, target, first.opt.DataDir, second.opt.DataDir) {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("swept: %v", err)
		}
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("the dead one's directory is there")
	}
	first.Abandon()
	for _, b := range []*Broker{first, second} {
		_ = b.Close() // the first one's files are gone
		if _, err := os.Stat(b.opt.DataDir); err == nil {
			t.Error("it left its directory")
		}
	}
}
