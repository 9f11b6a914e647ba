package segments

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"doze/disk"
)

const (
	bootName   = "boot"
	bootMost   = 256
	bootIDMost = 128
	bootClean  = "clean\n"
	bootLost   = "\npower lost\n" // behind the id: power was lost, and not every partition was opened since
)

// noteBoot finds out whether the machine may have lost power under the last start, and leaves this run's id for the next.
//
// The file is written and synced before any partition is, so one that has another run's id means a power loss. One that
// is missing or says clean excuses nothing.
func (d *Dir) noteBoot() error {
	id := strings.TrimSpace(d.opt.BootID)
	if id == "" || len(id) > bootIDMost {
		return nil
	}
	name := path.Join(d.root, bootName)
	b, err := disk.ReadFile(d.fs, name, bootMost)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before := string(b)
	d.wasClean = before == bootClean || len(d.atStart) == 0
	d.powerLost = lostPower(before, id)
	content := id
	if d.powerLost && !d.wasClean {
		content += bootLost
	}
	if content == before {
		return nil
	}
	return d.writeBoot(name, content, before == "")
}

func (d *Dir) writeBoot(name, content string, fresh bool) error {
	f, err := d.fs.OpenFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt([]byte(content), 0); err == nil {
		err = f.Truncate(int64(len(content)))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil && fresh {
		err = d.fs.SyncDir(d.root)
	}
	return err
}

// lostPower judges what the file says.
func lostPower(says, id string) bool {
	return says != "" && says != bootClean && says != id
}

// DoubtStop makes the next start look at this stop as at a crash, should power be lost by then: what the records were written
// beside may not be on disk.
func (d *Dir) DoubtStop() { d.doubted.Store(true) }

// forgetBoot is for a clean stop of all partitions: whatever happens to the machine now, nothing was under way.
func (d *Dir) forgetBoot() error {
	if d.opt.BootID == "" {
		return nil
	}
	return disk.WriteFile(d.fs, d.root, path.Join(d.root, bootName), []byte(bootClean))
}
