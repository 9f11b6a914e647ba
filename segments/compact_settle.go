package segments

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"doze/disk"
)

// settling is what is to be done with the swap that a directory's file "cleaned" names.
type settling struct {
	fs      disk.FS
	dir     string
	swap    swap
	forward bool     // the cleaned segment is the log
	rename  []string // extensions of its files that still have their own names
	noIndex bool     // its index is lost; what has its name is another's
	stale   []string // names of files that it replaced
}

// settlingOf looks at a directory. The swap counts once the file that names it is on disk, and then its files are too, under
// the one name or the other. A power loss between the renaming and its sync could take the cleaned log under both, on a
// file system that gives less than rename(2) says; then what it replaced is still there, because that is removed only when
// the new names are on disk.
func settlingOf(fsys disk.FS, dir string, s swap) (*settling, error) {
	w := &settling{fs: fsys, dir: dir, swap: s}
	if s.base < 0 {
		return w, nil
	}
	sizes, err := w.sizes()
	if err != nil || len(sizes) == 0 {
		return w, err
	}
	return w, w.choose(sizes)
}

// sizes lists the files of the segments that the swap is about, by name.
func (w *settling) sizes() (map[string]int64, error) {
	entries, err := w.fs.ReadDir(w.dir)
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, e := range entries {
		base, _, ok := parseSegmentName(e.Name())
		if !ok || base < w.swap.base || base >= w.swap.end {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		sizes[e.Name()] = info.Size()
	}
	return sizes, nil
}

func (w *settling) choose(sizes map[string]int64) error {
	log, index := segmentName(w.swap.base, "log"), segmentName(w.swap.base, "index")
	ownIndex, err := w.is(index, sizes, entryPosition(w.swap.entries), w.swap.indexCRC)
	if err != nil {
		return err
	}
	if size, aside := sizes[log+cleanedExt]; aside && size == w.swap.size {
		w.rename = append(w.rename, "log")
	} else if own, err := w.is(log, sizes, w.swap.size, w.swap.logCRC); err != nil || !own {
		if err == nil && ownIndex {
			w.noIndex, err = w.isReplaced(log, sizes)
		}
		return err
	}
	w.forward = true
	if size, aside := sizes[index+cleanedExt]; aside && size == entryPosition(w.swap.entries) {
		w.rename = append(w.rename, "index")
	} else {
		w.noIndex = !ownIndex
	}
	for name := range sizes {
		base, ext, _ := parseSegmentName(name)
		if base > w.swap.base && slices.Contains(segmentExts, ext) {
			w.stale = append(w.stale, name)
		}
	}
	slices.SortFunc(w.stale, func(a, b string) int { return order(a) - order(b) })
	return nil
}

// is tells whether a file has that size and checksum.
func (w *settling) is(name string, sizes map[string]int64, size int64, crc uint32) (bool, error) {
	if has, there := sizes[name]; !there || has != size {
		return false, nil
	}
	f, err := w.fs.OpenFile(path.Join(w.dir, name), os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer f.Close()
	scan, err := newScanner(f, 0)
	if err != nil {
		return false, err
	}
	defer scan.close()
	got, err := scan.crc(0, size)
	return got == crc, err
}

// isReplaced tells whether the log is the one that was to be replaced, and whole: it ends where the next one begins.
func (w *settling) isReplaced(log string, sizes map[string]int64) (bool, error) {
	if _, there := sizes[log]; !there {
		return false, nil
	}
	end := w.swap.end
	for name := range sizes {
		if base, ext, _ := parseSegmentName(name); ext == "log" && base > w.swap.base {
			end = min(end, base)
		}
	}
	f, err := w.fs.OpenFile(path.Join(w.dir, log), os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer f.Close()
	got, err := logEnd(f, w.swap.base)
	return got == end, err
}

// segmentExts end the names of a segment's files, in the order in which they are removed: the log last, as always.
var segmentExts = []string{abortedExt, "snapshot", "index", "log"}

func order(name string) int {
	return slices.Index(segmentExts, strings.TrimPrefix(path.Ext(name), "."))
}

// run finishes the swap.
func (w *settling) run() error {
	if w.noIndex {
		if err := w.remove(segmentName(w.swap.base, "index")); err != nil {
			return err
		}
	}
	if !w.forward {
		return nil
	}
	for _, ext := range w.rename {
		name := path.Join(w.dir, segmentName(w.swap.base, ext))
		if err := w.fs.Rename(name+cleanedExt, name); err != nil {
			return err
		}
	}
	if len(w.rename) == 0 && len(w.stale) == 0 {
		return nil
	}
	if err := w.fs.SyncDir(w.dir); err != nil {
		return err
	}
	for _, name := range w.stale {
		if err := w.remove(name); err != nil {
			return err
		}
	}
	return w.fs.SyncDir(w.dir)
}

func (w *settling) remove(name string) error {
	err := w.fs.Remove(path.Join(w.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// asSettled gives a partition's directory as its next open will make it, without changing it: for those who only look.
func asSettled(fsys disk.FS, dir string) (disk.FS, error) {
	state, err := readCleanState(fsys, dir)
	if err != nil {
		return nil, err
	}
	w, err := settlingOf(fsys, dir, state.swap)
	if err != nil || !w.forward && !w.noIndex {
		return fsys, err
	}
	v := &settledFS{FS: fsys, dir: dir, from: map[string]string{}, gone: map[string]bool{}}
	if w.noIndex {
		v.gone[segmentName(w.swap.base, "index")] = true
	}
	for _, ext := range w.rename {
		name := segmentName(w.swap.base, ext)
		v.from[name] = name + cleanedExt
	}
	for _, name := range w.stale {
		v.gone[name] = true
	}
	return v, nil
}

// settledFS shows files of one directory under other names, and some not at all.
type settledFS struct {
	disk.FS
	dir  string
	from map[string]string
	gone map[string]bool
}

func (v *settledFS) real(name string) (string, bool) {
	if path.Dir(name) != v.dir {
		return name, true
	}
	base := path.Base(name)
	if v.gone[base] {
		return "", false
	}
	if from, ok := v.from[base]; ok {
		return path.Join(v.dir, from), true
	}
	return name, true
}

func (v *settledFS) OpenFile(name string, flag int) (disk.File, error) {
	from, ok := v.real(name)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	}
	return v.FS.OpenFile(from, flag)
}

func (v *settledFS) Stat(name string) (fs.FileInfo, error) {
	from, ok := v.real(name)
	if !ok {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: os.ErrNotExist}
	}
	return v.FS.Stat(from)
}

// ReadDir lists the directory under the names that it shows.
//
//fuzz:not-a-parser it lists a directory
func (v *settledFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := v.FS.ReadDir(name)
	if err != nil || name != v.dir {
		return entries, err
	}
	var out []fs.DirEntry
	for _, e := range entries {
		if v.gone[e.Name()] || v.from[e.Name()] != "" {
			continue
		}
		for shown, from := range v.from {
			if from == e.Name() {
				e = renamedEntry{e, shown}
				break
			}
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int {
		if a.Name() < b.Name() {
			return -1
		}
		return 1
	})
	return out, nil
}

// renamedEntry is a directory entry under another name.
type renamedEntry struct {
	fs.DirEntry
	name string
}

func (e renamedEntry) Name() string { return e.name }

// settle finishes the swap that the partition's file "cleaned" names, and removes what unfinished cleanings left. It tells
// whether that changed the directory.
func (o *opening) settle(found *listing) (changed bool, err error) {
	if !found.noted && len(found.strays) == 0 {
		return false, nil
	}
	fsys, dir := o.p.dir.fs, o.p.path
	if o.cleaned, err = readCleanState(fsys, dir); err != nil {
		return false, err
	}
	w, err := settlingOf(fsys, dir, o.cleaned.swap)
	if err != nil {
		return false, err
	}
	if err := w.run(); err != nil {
		return false, err
	}
	for _, name := range found.strays {
		if err := w.remove(name); err != nil {
			return false, err
		}
	}
	return w.forward || w.noIndex || len(found.strays) > 0, nil
}
