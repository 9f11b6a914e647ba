// Package vectors lends tests what others' registries and parsers answered. The files are not part of this project: they are read
// where they lie, in the directory that DOZE_REGISTRY_VECTORS names, else in shared/registry/vectors beside the project.
package vectors

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Read gives a file. A test that asks for it says so, and does nothing more, when there is no such directory; a directory
// without the file is a failure.
func Read(t *testing.T, name string) []byte {
	t.Helper()
	dir, found := directory()
	if !found {
		t.Skip("the test vectors of others are not here (DOZE_REGISTRY_VECTORS names their directory): nothing is compared with them")
	}
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func directory() (dir string, found bool) {
	if dir := os.Getenv("DOZE_REGISTRY_VECTORS"); dir != "" {
		return dir, true
	}
	root, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(root) == root {
			return "", false
		}
		root = filepath.Dir(root)
	}
	dir = filepath.Join(filepath.Dir(root), "shared", "registry", "vectors")
	_, err = os.Stat(dir)
	return dir, !errors.Is(err, fs.ErrNotExist)
}
