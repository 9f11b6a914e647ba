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
// The file is written before any partition is, and not synced: a start is to be quick. A process that is killed leaves
// it as it was written, so a file that does not say this run's id means a power loss (or a clean stop, and then there is
// nothing to recover).
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
	d.powerLost = before != id
	content := id
	if d.powerLost && !d.wasClean {
		content += bootLost
	}
	if content == before {
		return nil
	}
	f, err := d.fs.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(content), 0)
	return errors.Join(err, f.Close())
}

// forgetBoot is for a clean stop of all partitions: whatever happens to the machine now, nothing was under way.
func (d *Dir) forgetBoot() error {
	if d.opt.BootID == "" {
		return nil
	}
	return disk.WriteFile(d.fs, d.root, path.Join(d.root, bootName), []byte(bootClean))
}
