package segments

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// ID names a partition by its topic's id, so that a topic that is created again never meets old bytes.
type ID struct {
	Topic     [16]byte
	Partition int32
}

// String is the name of the partition's directory.
func (id ID) String() string {
	return hex.EncodeToString(id.Topic[:]) + "-" + strconv.Itoa(int(id.Partition))
}

// ParseID reads a name that String gave.
//
//fuzz:not-a-parser a name is taken only when String gives it back
func ParseID(name string) (ID, bool) {
	var id ID
	topic, number, found := strings.Cut(name, "-")
	if !found || len(topic) != 32 {
		return ID{}, false
	}
	if _, err := hex.Decode(id.Topic[:], []byte(topic)); err != nil {
		return ID{}, false
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 0 {
		return ID{}, false
	}
	id.Partition = int32(n)
	return id, id.String() == name
}

// Config is what the rest of the broker decides about a partition.
type Config struct {
	SegmentBytes int64 // segment.bytes; 0: 128 MiB
	SegmentMs    int64 // segment.ms; 0: never
	LogStart     int64 // from the journal: records below were deleted
	// FlushMessages and FlushMs are how many records, and how long, an append may stay unsynced; 0: no bound beside
	// Options.SyncEvery.
	FlushMessages, FlushMs int64
	LeaderEpoch            int32 // that the partition is led with
}

const defaultSegmentBytes = 128 << 20

// ErrStorage is wrapped by every error of the disk, and is what a partition answers from a failed sync or found damage
// until the next start. Kafka: KAFKA_STORAGE_ERROR.
var ErrStorage = errors.New("storage error")

// ErrOffsetOutOfRange: the offset is below the log's start or above its end.
var ErrOffsetOutOfRange = errors.New("offset out of range")

// ErrRemoved: the partition's topic was removed. Kafka: UNKNOWN_TOPIC_OR_PARTITION.
var ErrRemoved = errors.New("partition was removed")

// ErrLargerThanSegment: a batch that no segment can hold. Kafka: RECORD_LIST_TOO_LARGE.
var ErrLargerThanSegment = errors.New("batch is larger than a segment may be")

// Partition is one log. All methods may be called from any goroutine. Nothing of it is open or on disk before its first
// use.
//
// Two locks, and a third: shape is held by who takes segments away (deletion, compaction), so that neither meets the other
// half way; it comes before both. write is held by whoever changes the log (open, append, roll, deletion) across its disk writes; mu guards
// what readers look at. Under mu no batch is written and nothing is synced, so a reader never waits for an append or a
// sync. But a file of a segment may be opened under it, a few entries read from its index, and deleted segments
// unlinked. The order is write, then mu. Fields marked (w) change under both and may be read under either; those of
// segments say it themselves.
//
// The caller of a method that ends in Locked holds the lock (mu; where the method says so, write) and keeps it; one that
// ends in AndUnlock is called with mu held and returns without.
type Partition struct {
	dir  *Dir
	id   ID
	path string

	shape  sync.Mutex
	write  sync.Mutex
	opened atomic.Bool

	finishing sync.Mutex    // held by who finishes full segments; after write, before mu
	told      atomic.Uint32 // a bit for each Cause that was reported

	unsettled atomic.Bool   // Options.Unfinished has not returned yet
	settling  sync.Once     // starts it
	settle    chan struct{} // closed when it has returned; nil: nothing to ask

	mu        sync.Mutex
	config    Config     // (w)
	segments  []*segment // (w) by base offset; the last one is written
	start     int64      // (w) log start
	end       int64      // (w) next offset; also the high watermark, there being one replica
	found     int64      // end when the partition was opened
	open      openTxns   // (w)
	survey    survey
	listed    atomic.Pointer[abortedBlock]
	epochs    epochs        // (w)
	producers producers     // (w)
	verifying verifications // (w)
	failed    error         // nothing is written any more
	damage    error         // (w) found at open: nothing is read either
	removed   bool          // (w)
	waiters   []*Waiter

	touched  bool          // (w) changed since it was opened
	dirty    bool          // queued for the coarse sync
	synced   int64         // everything below is on disk
	pending  []*segment    // written since their last sync
	sealed   []*segment    // full, waiting for the coarse sync to finish them
	newFiles bool          // directory entries wait for a sync
	newDir   bool          // the partition's directory itself too
	flushing bool          // a sync for FlushMs is on its way
	round    chan struct{} // closed when the sync that is under way ends

	cleaned  cleanState // (w) how far the log is compacted
	swapping bool       // under shape: the last swap is not done, see compact_swap.go
	leftover []int64    // under shape: bases of segments that were replaced and are not removed yet
	stuck    error      // under shape: nothing is compacted any more until the next open
}

// Offsets are the bounds of a log.
type Offsets struct {
	LogStart      int64
	HighWatermark int64 // next offset: one replica, so all that is written is committed
	LastStable    int64 // what read_committed may see up to
}

// ID returns the partition's identity.
func (p *Partition) ID() ID { return p.id }

// Configure changes the configuration; a new leader epoch begins at the log's end. It does not open the partition.
func (p *Partition) Configure(c Config) {
	p.write.Lock()
	defer p.write.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.config = c.withDefaults()
	if p.opened.Load() {
		p.epochs.assign(c.LeaderEpoch, p.end)
	}
}

// ready opens the partition when that has not happened and returns what stands against using it.
func (p *Partition) ready() error {
	if !p.opened.Load() {
		p.write.Lock()
		err := p.openLocked()
		p.write.Unlock()
		if err != nil {
			return err
		}
	}
	if p.unsettled.Load() {
		p.tellUnfinished()
	}
	return nil
}

// usable is asked under mu.
func (p *Partition) usable() error {
	if p.removed {
		return ErrRemoved
	}
	return p.damage
}

// Offsets opens the partition when needed.
func (p *Partition) Offsets() (Offsets, error) {
	if err := p.ready(); err != nil {
		return Offsets{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.offsetsLocked(), p.usable()
}

func (p *Partition) offsetsLocked() Offsets {
	return Offsets{LogStart: p.start, HighWatermark: p.end, LastStable: max(p.open.stable(p.end), p.start)}
}

// EndAtOpen is where the log ended when it was opened: of what was written before, nothing lies at or behind it.
func (p *Partition) EndAtOpen() (int64, error) {
	if err := p.ready(); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found, p.usable()
}

// Size is how many bytes of batches the partition has on disk.
func (p *Partition) Size() (int64, error) {
	if err := p.ready(); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var n int64
	for _, s := range p.segments {
		n += s.size
	}
	return n, p.usable()
}

// Producers lists what is remembered of producers, by id.
func (p *Partition) Producers() ([]Producer, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.producers.list(), p.usable()
}

// EndOfEpoch answers OffsetForLeaderEpoch as Kafka does: the largest known epoch up to the one asked for and the offset
// where it ends; (-1, -1) when that is not known.
func (p *Partition) EndOfEpoch(epoch int32) (int32, int64, error) {
	if err := p.ready(); err != nil {
		return -1, -1, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	found, end := p.epochs.end(epoch, p.end)
	return found, end, p.usable()
}

// LatestEpoch is the epoch at the log's end, -1 when none is known.
func (p *Partition) LatestEpoch() (int32, error) {
	if err := p.ready(); err != nil {
		return -1, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.epochs.latest(), p.usable()
}

// StartEpoch is the epoch at the log's start, -1 when none is known.
func (p *Partition) StartEpoch() (int32, error) {
	if err := p.ready(); err != nil {
		return -1, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.epochs.at(p.start), p.usable()
}

// fail latches the first error that the partition cannot go on after.
func (p *Partition) fail(c Cause, err error) {
	p.tell(c, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = fmt.Errorf("partition %s: %w: %w", p.id, ErrStorage, err)
	}
}
