package disk

import (
	"io"
	"io/fs"
	"os"
	"slices"
)

type memFile struct {
	m        *Mem
	n        *memNode
	name     string
	writable bool
	closed   bool
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return 0, pathError("read", f.name, fs.ErrClosed)
	}
	if _, err := f.m.step(OpRead, f.name, 0); err != nil {
		return 0, pathError("read", f.name, err)
	}
	if off >= f.n.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), f.n.size-off))
	have := 0
	if off < int64(len(f.n.data)) {
		have = copy(p[:n], f.n.data[off:])
	}
	clear(p[have:n])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("write"); err != nil {
		return 0, err
	}
	short, err := f.m.stepIn(OpWrite, f.name, len(p), off+int64(len(p)) > f.n.size)
	if err != nil {
		if short > 0 {
			f.n.write(p[:short], off)
		}
		return short, pathError("write", f.name, err)
	}
	f.n.write(p, off)
	return len(p), nil
}

func (f *memFile) Truncate(size int64) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("truncate"); err != nil {
		return err
	}
	if _, err := f.m.step(OpTruncate, f.name, int(size)); err != nil {
		return pathError("truncate", f.name, err)
	}
	f.n.truncate(size)
	return nil
}

func (f *memFile) Preallocate(size int64) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("fallocate"); err != nil {
		return err
	}
	if _, err := f.m.stepIn(OpPreallocate, f.name, int(size), size > f.n.size); err != nil {
		return pathError("fallocate", f.name, err)
	}
	f.n.size = max(f.n.size, size)
	return nil
}

// NextData does not look into the content: every byte is one that may be other than zero.
func (f *memFile) NextData(off int64) (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return 0, pathError("lseek", f.name, fs.ErrClosed)
	}
	return off, nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return pathError("sync", f.name, fs.ErrClosed)
	}
	if _, err := f.m.step(OpSync, f.name, 0); err != nil {
		// As Linux does: the pages count as clean from now on, so a second sync that succeeds proves nothing.
		f.n.dirtyFrom, f.n.dirtyTo = 0, 0
		return pathError("sync", f.name, err)
	}
	f.n.sync()
	return nil
}

func (f *memFile) Size() (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return 0, pathError("stat", f.name, fs.ErrClosed)
	}
	return f.n.size, nil
}

func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return pathError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	return nil
}

func (f *memFile) OS() *os.File { return nil }

func (f *memFile) check(op string) error {
	if f.closed {
		return pathError(op, f.name, fs.ErrClosed)
	}
	if !f.writable {
		return pathError(op, f.name, fs.ErrPermission)
	}
	return nil
}

func (n *memNode) write(p []byte, off int64) {
	end := off + int64(len(p))
	if grow := end - int64(len(n.data)); grow > 0 {
		n.data = slices.Grow(n.data, int(grow))
		old := len(n.data)
		n.data = n.data[:end]
		clear(n.data[old:])
	}
	copy(n.data[off:], p)
	n.size = max(n.size, end)
	n.markDirty(off, end)
}

func (n *memNode) truncate(size int64) {
	if size < int64(len(n.data)) {
		n.markDirty(size, int64(len(n.data)))
		n.data = n.data[:size]
	}
	n.size = size
}

func (n *memNode) markDirty(from, to int64) {
	if n.dirtyFrom == n.dirtyTo {
		n.dirtyFrom, n.dirtyTo = from, to
		return
	}
	n.dirtyFrom, n.dirtyTo = min(n.dirtyFrom, from), max(n.dirtyTo, to)
}

// sync copies what changed into the durable image.
func (n *memNode) sync() {
	have := int64(len(n.data))
	if int64(len(n.durable)) > have {
		n.durable = n.durable[:have]
	}
	if grow := have - int64(len(n.durable)); grow > 0 {
		n.durable = append(n.durable, make([]byte, grow)...)
	}
	if from, to := n.dirtyFrom, min(n.dirtyTo, have); from < to {
		copy(n.durable[from:to], n.data[from:to])
	}
	n.durableSize = n.size
	n.dirtyFrom, n.dirtyTo = 0, 0
}
