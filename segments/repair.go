package segments

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"doze/disk"
)

// Repair is the way on for one damaged partition: every batch that can be read is kept, and what cannot is set aside.
// Making one changes nothing.
//
// A bad place is stepped over with the index, never by a search in the log: what a client put into a record must not
// become a batch. So without an index entry behind it the rest of that segment is given up.
type Repair struct {
	ID      ID
	GivenUp []Loss
	Kept    string // the directory, within the file system, that will have all files as they were found

	// Lists are lists of aborted transactions that a start would believe although they are not what the log says: what
	// read_committed sees is wrong. A repair makes them anew; so does a start when they are deleted.
	Lists []Problem

	Batches, Records, Bytes int64 // that stay
	Start, End              int64 // first and next offset of what stays

	fs   disk.FS
	root string
	boot string
}

// Loss is a place in a partition that cannot be read.
type Loss struct {
	File     string
	Position int64
	First    int64 // first offset given up
	Next     int64 // the first one behind it that can be read; where nothing says so, -1
	Reason   string
}

func (l Loss) String() string {
	what := fmt.Sprintf("from offset %d on", l.First)
	if l.Next == l.First+1 {
		what = fmt.Sprintf("offset %d", l.First)
	} else if l.Next >= 0 {
		what = fmt.Sprintf("offsets %d to %d", l.First, l.Next-1)
	}
	return fmt.Sprintf("%s at byte %d: %s; given up: %s", l.File, l.Position, l.Reason, what)
}

const (
	damagedSuffix   = ".damaged"
	repairingSuffix = ".repairing" // being written
	repairedSuffix  = ".repaired"  // all of it is on disk
)

// Partitions lists the partitions that have a directory below root or had one at the last clean stop. It finishes nothing
// and changes nothing.
func Partitions(fsys disk.FS, root string) (ids []ID, err error) {
	entries, err := fsys.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list segments directory: %w", err)
	}
	c, err := openCheckpoint(fsys, path.Join(root, checkpointName))
	if err != nil {
		return nil, fmt.Errorf("open checkpoint: %w", err)
	}
	defer c.close()
	missing := map[ID]bool{}
	for _, id := range c.ids() {
		missing[id] = true
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), repairedSuffix)
		if id, ok := ParseID(name); ok && (len(ids) == 0 || ids[len(ids)-1] != id) {
			ids = append(ids, id)
			delete(missing, id)
		}
	}
	for _, id := range c.ids() {
		if missing[id] {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Examine reads all of a partition and tells what a repair would keep of it, without changing anything. bootID is as in
// Options: what a power loss explains is no damage, a start puts it right.
func Examine(fsys disk.FS, root string, id ID, bootID string) (*Repair, error) {
	r := &Repair{ID: id, fs: fsys, root: root, boot: bootID}
	if err := r.look(); err != nil {
		return nil, fmt.Errorf("examine partition %s: %w", id, err)
	}
	return r, nil
}

// OnDisk tells whether the partition has anything on disk but its row of the checkpoint.
func (r *Repair) OnDisk() bool {
	for _, name := range []string{r.dir(), r.dir() + repairedSuffix} {
		if _, err := r.fs.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// Damaged tells whether there is anything to repair.
func (r *Repair) Damaged() bool { return len(r.GivenUp) > 0 }

func (r *Repair) look() error {
	dir := r.dir()
	if _, err := r.fs.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if _, err := r.fs.Stat(dir + repairedSuffix); err == nil {
			dir += repairedSuffix // a start moves it here
		}
	}
	s := r.salvage()
	s.dir = dir
	s.lists = newVerifyAborted(r.fs, dir, func(p Problem) {
		if !p.Harmless && len(r.Lists) < maxProblems {
			r.Lists = append(r.Lists, p)
		}
	})
	if err := s.run(); err != nil {
		return err
	}
	r.GivenUp, r.Start, r.End = s.lost, s.start, s.end
	for n := 1; ; n++ {
		r.Kept = fmt.Sprintf("%s%s-%d", r.dir(), damagedSuffix, n)
		if _, err := r.fs.Stat(r.Kept); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (r *Repair) dir() string { return path.Join(r.root, r.ID.String()) }

func (r *Repair) salvage() *salvage {
	return &salvage{fs: r.fs, dir: r.dir(), forgive: powerLost(r.fs, r.root, r.boot), row: rowOf(r.fs, r.root, r.ID),
		take: func(_ int64, h *Header, _ int64, _ *entry) error {
			r.Batches, r.Records, r.Bytes = r.Batches+1, r.Records+int64(h.Records), r.Bytes+int64(h.Size)
			return nil
		}}
}

// rowOf reads a partition's row of the checkpoint; nil when there is none.
func rowOf(fsys disk.FS, root string, id ID) *row {
	c, err := openCheckpoint(fsys, path.Join(root, checkpointName))
	if err != nil {
		return nil
	}
	defer c.close()
	found, ok := c.row(id)
	if !ok {
		return nil
	}
	return &found
}

// Accept replaces the partition's directory by one that has only what can be read. It needs room for that copy. What it
// leaves when it stops in between:
//
//  1. The checkpoint is written without the partition's row. Its other files say that it is damaged.
//  2. What can be read is written to ID.repairing and synced: removed by the next attempt.
//  3. ID.repairing becomes ID.repaired: the same.
//  4. ID becomes ID.damaged-N: the next start, or attempt, goes on with step 5.
//  5. ID.repaired becomes ID.
func (r *Repair) Accept() error {
	if err := finishRepair(r.fs, r.root, r.ID.String()+repairedSuffix); err != nil {
		return err
	}
	if err := r.forgetRow(); err != nil {
		return err
	}
	fresh, ready := r.dir()+repairingSuffix, r.dir()+repairedSuffix
	if err := errors.Join(r.fs.RemoveAll(fresh), r.fs.RemoveAll(ready)); err != nil {
		return fmt.Errorf("remove an unfinished repair: %w", err)
	}
	if err := r.write(fresh); err != nil {
		return fmt.Errorf("write what can be read of partition %s: %w", r.ID, err)
	}
	for _, names := range [][2]string{{fresh, ready}, {r.dir(), r.Kept}, {ready, r.dir()}} {
		err := r.fs.Rename(names[0], names[1])
		if names[0] == r.dir() && errors.Is(err, fs.ErrNotExist) {
			continue // it is what was missing
		}
		if err != nil {
			return fmt.Errorf("rename %s to %s: %w", names[0], names[1], err)
		}
		if err := r.fs.SyncDir(r.root); err != nil {
			return fmt.Errorf("sync segments directory: %w", err)
		}
	}
	return nil
}

// finishRepairs does the last step of repairs that were stopped before it.
func (d *Dir) finishRepairs(names []string) error {
	for _, name := range names {
		if id, ok := ParseID(strings.TrimSuffix(name, repairedSuffix)); ok {
			if err := finishRepair(d.fs, d.root, name); err != nil {
				return err
			}
			d.atStart[id] = true
		}
	}
	return nil
}

// finishRepair puts a directory that is ID.repaired in the place of an ID that has been moved away.
func finishRepair(fsys disk.FS, root, name string) error {
	id := strings.TrimSuffix(name, repairedSuffix)
	if _, err := fsys.Stat(path.Join(root, id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := fsys.Rename(path.Join(root, name), path.Join(root, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finish the repair of partition %s: %w", id, err)
	}
	return fsys.SyncDir(root)
}

// forgetRow writes the checkpoint without the partition.
func (r *Repair) forgetRow() error {
	name := path.Join(r.root, checkpointName)
	c, err := openCheckpoint(r.fs, name)
	if err != nil {
		return fmt.Errorf("open checkpoint: %w", err)
	}
	defer c.close()
	if _, ok := c.raw(r.ID); !ok {
		return nil
	}
	var rows []checkpointRow
	for _, id := range c.ids() {
		if raw, ok := c.raw(id); ok && id != r.ID {
			rows = append(rows, checkpointRow{id, raw})
		}
	}
	return writeCheckpoint(r.fs, r.root, name, rows)
}
