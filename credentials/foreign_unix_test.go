//go:build unix

package credentials

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"doze/disk"
)

// What lies in the directory and is no file is left alone: a pipe would hold the start for ever.
func TestForeignThingsAmongCredentials(t *testing.T) {
	dir := t.TempDir()
	fs, err := disk.OpenOS(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "credentials", "x.new", "y"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "credentials", Ref{1}.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(fs, "credentials"); err != nil {
		t.Error(err)
	}
}
