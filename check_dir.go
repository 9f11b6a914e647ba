package doze

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"doze/disk"
	"doze/journal"
	"doze/replay"
)

// CheckDataDir says why a broker would refuse to start on the directory, with what to do, and changes nothing. A directory
// that is empty or not there is fine. It reads what a start reads of the journal; records are not looked at.
func CheckDataDir(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := refuseForeign(dir); err != nil {
		return err
	}
	fsys, err := disk.OpenOS(dir)
	if err != nil {
		return err
	}
	defer fsys.Close()
	hasSegments := isDir(fsys, segmentsDir)
	if !isDir(fsys, journalDir) || !hasJournal(fsys) {
		if hasSegments {
			return fmt.Errorf("data directory %s: %w", fsys.Path(), journal.ErrMissing)
		}
		return nil
	}
	reach, _, err := reachOf(fsys) // before the journal, for a broker may be writing both
	if err != nil {
		return inDir(fsys, err)
	}
	result, err := replay.Run(fsys, journalDir, replay.Options{Nearest: true})
	switch {
	case err != nil:
		return fmt.Errorf("data directory %s: %w", fsys.Path(), err)
	case result.Damage != nil:
		return inDir(fsys, result.Damage)
	case result.Status != replay.Replayed:
		return fmt.Errorf("data directory %s: %s", fsys.Path(), result.Verdict)
	}
	err = reach.Check(result.ClusterID, result.LastSeq, journalDir, 0)
	if err == nil {
		err = missingSegments(fsys, result.State.Topics.Len())
	}
	if err != nil {
		return inDir(fsys, err)
	}
	return nil
}

func isDir(fsys disk.FS, name string) bool {
	info, err := fsys.Stat(name)
	return err == nil && info.IsDir()
}

// inDir says which data directory an error is about; damage names the command that repairs it.
func inDir(fsys *disk.OS, err error) error {
	var damage *journal.DamageError
	if errors.As(err, &damage) {
		damage.Dir = fsys.Path()
	}
	return fmt.Errorf("data directory %s: %w", fsys.Path(), err)
}
