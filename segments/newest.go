package segments

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"doze/disk"
)

// LastStop tells how the last run ended. clean: nothing was under way, or nothing is known of it. lost: the machine may have
// lost power, and the journal with it entries that records were written after.
func LastStop(fsys disk.FS, root, bootID string) (clean, lost bool, err error) {
	b, err := disk.ReadFile(fsys, path.Join(root, bootName), bootMost)
	if errors.Is(err, fs.ErrNotExist) || err == nil && string(b) == bootClean {
		return true, false, nil
	}
	return false, powerLost(fsys, root, bootID), err
}

// Newest is the highest journal stamp of the partitions in root: of each the last entry of its index. What cannot be read
// is passed over, for its partition is judged when it is opened.
func Newest(fsys disk.FS, root string) (stamp uint64, err error) {
	entries, err := fsys.ReadDir(root)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if _, ok := ParseID(e.Name()); ok {
			stamp = max(stamp, newestOf(fsys, path.Join(root, e.Name())))
		}
	}
	return stamp, nil
}

// newestOf is the highest stamp of a partition: stamps never fall, so that of its last entry.
func newestOf(fsys disk.FS, dir string) uint64 {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return 0
	}
	for i := len(entries) - 1; i >= 0; i-- { // names that come later have higher bases
		if _, ext, ok := parseSegmentName(entries[i].Name()); !ok || ext != "index" || !entries[i].Type().IsRegular() {
			continue
		}
		if stamp := lastStamp(fsys, path.Join(dir, entries[i].Name())); stamp > 0 {
			return stamp
		}
	}
	return 0
}

// lastStamp is that of an index's last whole entry, 0 when there is none.
//
//fuzz:parser class=index FuzzIndex
func lastStamp(fsys disk.FS, name string) uint64 {
	f, err := fsys.OpenFile(name, os.O_RDONLY)
	if err != nil {
		return 0
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return 0
	}
	n := int((size - indexHeaderBytes) / entryBytes)
	for i := n - 1; i >= max(0, n-2); i-- { // the write of the last may be what a crash ended
		if e, err := oneEntry(f, i); err == nil {
			return e.stamp
		}
	}
	return 0
}

// powerLost tells whether the machine may have lost power under the last run.
func powerLost(fsys disk.FS, root, bootID string) bool {
	b, err := disk.ReadFile(fsys, path.Join(root, bootName), bootMost)
	id := strings.TrimSpace(bootID)
	return err == nil && id != "" && len(id) <= bootIDMost && lostPower(string(b), id)
}
