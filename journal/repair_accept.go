package journal

import (
	"fmt"
	"io"
	"path"
	"strings"
)

// moved lists the files that are replaced or removed; each is kept beside under another name.
func (r *Repair) moved() (names []string) {
	for i := range r.list.journals {
		if i < r.keep.first || i > r.keep.last || r.rebuilt(i) || r.cut(i) {
			names = append(names, r.journal(i))
		}
	}
	for _, seq := range r.list.snapshots {
		if seq > r.LastSeq {
			names = append(names, snapshotName(seq))
		}
	}
	return names
}

// rebuilt says whether a file is replaced by one that begins later.
func (r *Repair) rebuilt(i int) bool { return i == r.keep.first && r.keep.from > headerSize }

// cut says whether a file is cut where its good frames end.
func (r *Repair) cut(i int) bool {
	return i == r.keep.last && i >= r.keep.first && r.parts[i].size > r.keep.end
}

func (r *Repair) damagedName(name string) string {
	return fmt.Sprintf("%s-%d%s", name, r.Resume, damagedSuffix)
}

// Accept makes the journal one that Open takes, and journals what was given up. Whatever stops it half way, Open goes on
// refusing the journal, and another PlanRepair and Accept finish the work:
//
//  1. The marker is made to say that the journal reaches the entry of step 4: it does not, so that Open refuses.
//  2. Files that do not stay are renamed.
//  3. Of files of which a part stays, the part is written; then the whole, which was copied or is renamed, is replaced.
//  4. A last file with the entry DamageAccepted appears under its name.
func (r *Repair) Accept() ([]string, error) {
	last := FileHeader{Version: formatVersion, ClusterID: r.cluster, FirstSeq: r.Resume, Chain: r.keep.chain, Salt: salt(r.opt.IDs), Skipped: uint32(r.Resume - 1 - r.LastSeq)}
	if err := r.fs.MkdirAll(r.opt.Dir); err != nil {
		return nil, fmt.Errorf("make journal directory: %w", err)
	}
	m := marker{ClusterID: r.cluster, FirstSeq: r.Resume, Seq: r.Resume}
	if err := writeMarker(r.fs, r.opt.Dir, m); err != nil {
		return nil, err
	}
	if err := r.setAside(); err != nil {
		return nil, err
	}
	kept, err := r.damagedFiles()
	if err != nil {
		return nil, err
	}
	if err := r.writeLast(last, kept); err != nil {
		return nil, err
	}
	return kept, nil
}

// setAside does steps 2 and 3.
func (r *Repair) setAside() error {
	for _, name := range r.moved() {
		if r.partStays(name) {
			continue
		}
		if err := r.rename(name); err != nil {
			return err
		}
	}
	k := &r.keep
	if k.first < len(r.parts) && r.rebuilt(k.first) {
		if err := r.rebuild(); err != nil {
			return err
		}
		if err := r.rename(r.journal(k.first)); err != nil {
			return err
		}
	}
	if k.last >= k.first && r.cut(k.last) && !r.rebuilt(k.last) {
		if err := r.keepBeside(r.journal(k.last)); err != nil {
			return err
		}
		if err := r.copyPart(k.last, r.journal(k.last), nil, 0, k.end); err != nil {
			return err
		}
	}
	return r.fs.SyncDir(r.opt.Dir)
}

func (r *Repair) journal(i int) string { return journalName(r.list.journals[i]) }

func (r *Repair) path(name string) string { return path.Join(r.opt.Dir, name) }

func (r *Repair) rename(name string) error {
	if err := r.fs.Rename(r.path(name), r.path(r.damagedName(name))); err != nil {
		return fmt.Errorf("keep %s beside: %w", name, err)
	}
	return nil
}

// partStays says whether the journal goes on with a part of the file.
func (r *Repair) partStays(name string) bool {
	k := &r.keep
	return k.last >= k.first && (name == r.journal(k.first) || name == r.journal(k.last))
}

// keepBeside copies a file to its name beside.
func (r *Repair) keepBeside(name string) error {
	f, err := r.fs.OpenFile(r.path(name), readOnly)
	if err != nil {
		return fmt.Errorf("keep %s beside: %w", name, err)
	}
	defer f.Close()
	size, err := f.Size()
	if err == nil {
		err = writeAside(r.fs, r.opt.Dir, r.damagedName(name), func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(f, 0, size))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("keep %s beside: %w", name, err)
	}
	return nil
}

// rebuild writes the good frames of the first file that stays as a file that begins with them.
func (r *Repair) rebuild() error {
	k := &r.keep
	end := r.parts[k.first].size
	if k.first == k.last {
		end = k.end
	}
	h := FileHeader{Version: formatVersion, ClusterID: r.cluster, FirstSeq: k.base.Seq + 1, Chain: k.base.Chain, Salt: k.salt}
	return r.copyPart(k.first, journalName(h.FirstSeq), h.encode(), k.from, end)
}

// copyPart writes head and the bytes from from to end of a file under a name.
func (r *Repair) copyPart(i int, name string, head []byte, from, end int64) error {
	f, err := r.fs.OpenFile(r.parts[i].name, readOnly)
	if err != nil {
		return fmt.Errorf("read %s: %w", r.parts[i].name, err)
	}
	defer f.Close()
	err = writeAside(r.fs, r.opt.Dir, name, func(w io.Writer) error {
		if _, err := w.Write(head); err != nil {
			return err
		}
		_, err := io.Copy(w, io.NewSectionReader(f, from, end-from))
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// damagedFiles lists all that is kept beside in the directory, by earlier attempts too.
func (r *Repair) damagedFiles() (names []string, err error) {
	entries, err := r.fs.ReadDir(r.opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("list journal directory: %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), damagedSuffix) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// writeLast makes the file that the journal goes on with.
func (r *Repair) writeLast(h FileHeader, kept []string) error {
	e := Entry{Seq: r.Resume, At: max(r.keep.at, r.opt.Clock.NowMillis()), Cause: Timed("repair")}
	for _, g := range r.GivenUp {
		g.Kept = kept
		e.Events = append(e.Events, &g)
	}
	b := h.encode()
	b, err := appendBody(beginFrame(b), &e)
	if err != nil {
		return err
	}
	b, _ = sealFrame(b, headerSize, frameHeader{Seq: e.Seq, Durable: e.Seq - 1}, h.Salt, h.Chain)
	err = writeAside(r.fs, r.opt.Dir, journalName(h.FirstSeq), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return fmt.Errorf("write journal file %s: %w", journalName(h.FirstSeq), err)
	}
	return nil
}
