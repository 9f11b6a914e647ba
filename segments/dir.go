package segments

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"doze/disk"
)

// Options of a directory of partitions.
type Options struct {
	// Now is the clock, in ms. Default: the system's.
	Now func() int64
	// MaxOpenFiles bounds the descriptors that are kept open. Default 400.
	MaxOpenFiles int
	// MaxUnsyncedFiles bounds those that are open because their log waits for its sync. Default 4 * MaxOpenFiles.
	MaxUnsyncedFiles int
	// SyncEvery is how long a batch that nobody waits for may stay unsynced. Default 1 s; below 0: only SyncDirty does it.
	SyncEvery time.Duration
	// ProducerExpiryMs is how long a silent producer is remembered. Default 24 h.
	ProducerExpiryMs int64
	// BootID names this run of the machine (Linux: /proc/sys/kernel/random/boot_id). When it is another one than at the
	// last start that was not stopped cleanly, the machine may have lost power, and what was not synced may have come
	// back in pieces. Empty: not known, pieces count as damage.
	BootID string
	// Report is told what recovery found, and once a partition and cause that the storage failed. It must not call into
	// this package.
	Report func(Report)
	// Unfinished is told which transactions a partition had open when it was opened, so that those that nobody knows can be
	// ended with a marker; the oldest first, and never none. It is called from a goroutine of its own, without locks; until
	// it returns Append and StartVerification wait, and no others do. May be nil.
	Unfinished func(*Partition, []OpenTxn)
}

func (o *Options) defaults() {
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	if o.MaxOpenFiles <= 0 {
		o.MaxOpenFiles = 400
	}
	if o.MaxUnsyncedFiles <= 0 {
		o.MaxUnsyncedFiles = unsyncedMost * o.MaxOpenFiles
	}
	if o.SyncEvery == 0 {
		o.SyncEvery = time.Second
	}
	if o.ProducerExpiryMs <= 0 {
		o.ProducerExpiryMs = 24 * 60 * 60 * 1000
	}
	if o.Report == nil {
		o.Report = func(Report) {}
	}
}

// Dir is the directory of all partitions.
type Dir struct {
	fs         disk.FS
	root       string
	opt        Options
	files      files
	checkpoint checkpoint
	powerLost  bool
	wasClean   bool // the last session ended with all partitions as their rows say
	doubted    atomic.Bool

	producerExpiryMs atomic.Int64

	mu         sync.RWMutex
	partitions map[ID]*Partition
	atStart    map[ID]bool       // partitions that had a directory or a row at the start, and were not taken away since
	gone       map[[16]byte]bool // topics that were removed: who still has an old view of them gets a handle that answers ErrRemoved
	closed     atomic.Bool       // set under mu
	asides     int
	single     sync.Map // ID of partitions that are not open and have one segment

	dirty      []*Partition
	timer      *time.Timer // set while something is dirty
	syncing    sync.Mutex  // held by a coarse sync and by Close
	background sync.WaitGroup
}

// Suffixes of directories that are no partitions any more.
const (
	removedSuffix    = ".removed"
	quarantineSuffix = ".orphan"
)

// OpenDir opens the directory root, making it when it is missing. It reads the list of names and one table; partitions
// are opened at their first use.
func OpenDir(fsys disk.FS, root string, opt Options) (*Dir, error) {
	opt.defaults()
	d := &Dir{fs: fsys, root: root, opt: opt, partitions: map[ID]*Partition{}, atStart: map[ID]bool{}, gone: map[[16]byte]bool{}}
	d.producerExpiryMs.Store(opt.ProducerExpiryMs)
	d.files = files{fs: fsys, limit: opt.MaxOpenFiles, unsyncedLimit: opt.MaxUnsyncedFiles}
	if err := makeRoot(fsys, root); err != nil {
		return nil, fmt.Errorf("create segments directory: %w", err)
	}
	entries, err := fsys.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("list segments directory: %w", err)
	}
	var leftovers, repaired []string
	for _, e := range entries {
		if id, ok := ParseID(e.Name()); ok { // nobody else makes such names: asking what each is would cost a stat
			d.atStart[id] = true
		} else if strings.Contains(e.Name(), removedSuffix) && e.IsDir() {
			leftovers = append(leftovers, path.Join(root, e.Name()))
		} else if strings.HasSuffix(e.Name(), repairedSuffix) {
			repaired = append(repaired, e.Name())
		}
	}
	if err := d.finishRepairs(repaired); err != nil {
		return nil, err
	}
	if d.checkpoint, err = openCheckpoint(fsys, path.Join(root, checkpointName)); err != nil {
		return nil, fmt.Errorf("open checkpoint: %w", err)
	}
	for _, id := range d.checkpoint.ids() {
		d.atStart[id] = true
	}
	if err := d.noteBoot(); err != nil {
		return nil, fmt.Errorf("note boot: %w", err)
	}
	d.erase(leftovers)
	return d, nil
}

func makeRoot(fsys disk.FS, root string) error {
	if _, err := fsys.Stat(root); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := fsys.MkdirAll(root); err != nil {
		return err
	}
	return fsys.SyncDir(path.Dir(root))
}

// List returns the partitions that have a directory, or had one at the last clean stop, in no order.
func (d *Dir) List() []ID {
	d.mu.RLock()
	defer d.mu.RUnlock()
	ids := make([]ID, 0, len(d.atStart))
	for id := range d.atStart {
		ids = append(ids, id)
	}
	for id, p := range d.partitions {
		if !d.atStart[id] && p.onDisk() {
			ids = append(ids, id)
		}
	}
	return ids
}

func (p *Partition) onDisk() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.segments) > 0
}

// Known returns the handle of a partition when there is one already, else nil.
func (d *Dir) Known(id ID) *Partition {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.partitions[id]
}

// Partition returns the handle of a partition, making it with the configuration when there is none yet. Nothing is
// opened or created on disk.
func (d *Dir) Partition(id ID, c Config) *Partition {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.partitions[id]; p != nil {
		return p
	}
	p := &Partition{dir: d, id: id, path: path.Join(d.root, id.String()), config: c.withDefaults(), cleaned: cleanState{swap: noSwap}}
	if d.closed.Load() || d.gone[id.Topic] {
		p.removed = true
		p.opened.Store(true)
		return p // not kept: each that asks gets one of its own
	}
	d.partitions[id] = p
	return p
}

func (c Config) withDefaults() Config {
	if c.SegmentBytes <= 0 {
		c.SegmentBytes = defaultSegmentBytes
	}
	return c
}

func (d *Dir) wasAtStart(id ID) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.atStart[id]
}

func (d *Dir) report(r Report) { d.opt.Report(r) }

// Remove takes a topic's partitions away: their directories are renamed aside at once and erased in the background.
// Spans that are held stay readable.
func (d *Dir) Remove(topic [16]byte) error {
	d.mu.Lock()
	d.gone[topic] = true
	var ids []ID
	for id := range d.partitions {
		if id.Topic == topic {
			ids = append(ids, id)
		}
	}
	for id := range d.atStart {
		if id.Topic == topic && d.partitions[id] == nil {
			ids = append(ids, id)
		}
	}
	d.mu.Unlock()
	var asides []string
	var errs []error
	for _, id := range ids {
		aside, err := d.takeAway(id, removedSuffix)
		if err != nil {
			errs = append(errs, err)
		} else if aside != "" {
			asides = append(asides, aside)
		}
	}
	d.erase(asides)
	return errors.Join(errs...)
}

// Quarantine renames the directory of a partition that nobody knows, and returns the new name, "" when it has none. It
// never deletes.
func (d *Dir) Quarantine(id ID) (string, error) {
	name, err := d.takeAway(id, quarantineSuffix)
	if err != nil || name == "" {
		return name, err
	}
	return name, d.fs.SyncDir(d.root)
}

// takeAway ends a partition's life here and renames its directory; "" when it has none. It is forgotten last: as long as
// its directory has the name, whoever asks for the partition gets a handle that is retired, or waits for it to be.
func (d *Dir) takeAway(id ID, suffix string) (string, error) {
	p := d.Partition(id, Config{})
	p.write.Lock()
	defer p.write.Unlock()
	p.retire()
	aside, err := d.renameAside(id, suffix)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.partitions, id)
	delete(d.atStart, id)
	return aside, err
}

// renameAside gives the partition's directory a name that no other has; "" when it has no directory.
func (d *Dir) renameAside(id ID, suffix string) (string, error) {
	from := path.Join(d.root, id.String())
	for {
		d.mu.Lock()
		d.asides++
		to := fmt.Sprintf("%s%s-%d", from, suffix, d.asides)
		d.mu.Unlock()
		if _, err := d.fs.Stat(to); err == nil {
			continue
		}
		err := d.fs.Rename(from, to)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("rename partition %s aside: %w", id, err)
		}
		return to, nil
	}
}

// retire makes every later use of the partition answer ErrRemoved; the caller holds write.
func (p *Partition) retire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removed = true
	p.opened.Store(true)
	for _, s := range p.segments {
		s.log.forget()
		s.index.forget()
		s.aborted.file.forget()
	}
	p.segments, p.pending, p.sealed = nil, nil, nil
	p.producers, p.epochs, p.open, p.verifying, p.survey = nil, nil, nil, nil, survey{}
	p.notifyLocked()
}

// erase deletes directories in the background. What it does not come to is erased at the next start.
func (d *Dir) erase(names []string) {
	if len(names) == 0 {
		return
	}
	d.background.Add(1)
	go func() {
		defer d.background.Done()
		for _, name := range names {
			_ = d.fs.RemoveAll(name)
		}
	}()
}

// SetProducerExpiry changes ProducerExpiryMs.
func (d *Dir) SetProducerExpiry(ms int64) { d.producerExpiryMs.Store(ms) }

// ExpireProducers forgets producers that were silent for ProducerExpiryMs, in the partitions that are open; the others
// do it when they are opened. Kafka does it every ten minutes (producer.id.expiration.check.interval.ms).
func (d *Dir) ExpireProducers() {
	now := d.opt.Now()
	for _, p := range d.opened() {
		p.write.Lock()
		p.mu.Lock()
		p.producers.expire(now, d.producerExpiryMs.Load())
		p.verifying.expire(now, d.producerExpiryMs.Load())
		p.mu.Unlock()
		p.write.Unlock()
	}
}

func (d *Dir) opened() []*Partition {
	d.mu.RLock()
	defer d.mu.RUnlock()
	out := make([]*Partition, 0, len(d.partitions))
	for _, p := range d.partitions {
		if p.opened.Load() {
			out = append(out, p)
		}
	}
	return out
}

// queue notes a partition for the coarse sync. The timer runs only while there is one: an idle broker does nothing.
func (d *Dir) queue(p *Partition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dirty = append(d.dirty, p)
	if d.timer == nil && d.opt.SyncEvery > 0 && !d.closed.Load() {
		d.timer = time.AfterFunc(d.opt.SyncEvery, d.SyncDirty)
	}
}

// SyncDirty syncs every partition that was written since the last time. It runs by itself every SyncEvery.
func (d *Dir) SyncDirty() {
	d.syncing.Lock()
	defer d.syncing.Unlock()
	d.syncDirty()
}

func (d *Dir) syncDirty() {
	d.mu.Lock()
	dirty := d.dirty
	d.dirty, d.timer = nil, nil
	d.mu.Unlock()
	d.syncNewDirs(dirty)
	var wg sync.WaitGroup
	for i := range min(syncWorkers, len(dirty)) {
		wg.Go(func() {
			for j := i; j < len(dirty); j += syncWorkers {
				dirty[j].coarseSync()
			}
		})
	}
	wg.Wait()
}

// syncWorkers is how many partitions are synced at once: file systems join syncs that come together.
const syncWorkers = 8

// syncNewDirs makes the directories of new partitions durable with one sync of the root. When it fails each partition
// tries for itself, and fails for itself.
func (d *Dir) syncNewDirs(dirty []*Partition) {
	var fresh []*Partition
	for _, p := range dirty {
		p.mu.Lock()
		if p.newDir && !p.removed {
			fresh = append(fresh, p)
		}
		p.mu.Unlock()
	}
	if len(fresh) == 0 || d.syncDir(d.root) != nil {
		return
	}
	for _, p := range fresh {
		p.mu.Lock()
		p.newDir = false
		p.mu.Unlock()
	}
}
