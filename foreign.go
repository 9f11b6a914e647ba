package doze

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// refuseForeign refuses a directory that has files of somebody else and nothing of a broker: a broker would make its own
// among them. What a file system or a person keeps in an empty directory is no hindrance: lost+found, hidden files, a
// doze.toml. Nothing is made before this has been asked.
func refuseForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read data directory: %w; give a data directory that you may write to", err)
	}
	var foreign []string
	for _, e := range entries {
		switch name := e.Name(); {
		case name == journalDir || name == segmentsDir:
			return nil
		case name == lockName || name == ControlSocket || name == "lost+found" || name == "doze.toml" || strings.HasPrefix(name, "."):
		default:
			foreign = append(foreign, name)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	what := foreign[0]
	if len(foreign) > 1 {
		what = fmt.Sprintf("%s and %d more", what, len(foreign)-1)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = dir
	}
	return fmt.Errorf("data directory %s has other files (%s) and nothing of doze; give an empty directory, or one that is not there yet", abs, what)
}
