package doze

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"doze/disk"
	"doze/journal"
	"doze/projections"
	"doze/replay"
	"doze/segments"
)

// Repair is the way on for a data directory that is damaged: it says what would be given up, and gives it up only when it
// is accepted. It holds the directory's lock until Close.
type Repair struct {
	fs         *disk.OS
	lock       io.Closer
	reach      journal.Reach   // how far the segments know that it got
	journal    *journal.Repair // nil: the journal is whole
	partitions []*segments.Repair
	topics     map[[16]byte]string
}

// PlanRepair looks through a data directory, all of it, without changing its journal or its records.
func PlanRepair(dir string) (*Repair, error) {
	if err := MustBeDataDir(dir); err != nil {
		return nil, err
	}
	fsys, err := disk.OpenOS(dir)
	if err != nil {
		return nil, err
	}
	r := &Repair{fs: fsys, topics: map[[16]byte]string{}}
	if err := r.plan(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// MustBeDataDir refuses a path at which no broker has kept anything.
func MustBeDataDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("%w; name a data directory", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is a file; name the data directory that it is in", dir)
	}
	for _, name := range []string{journalDir, segmentsDir} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			return nil
		}
	}
	return fmt.Errorf("%s is no data directory: it has neither %s nor %s; name one", dir, journalDir, segmentsDir)
}

func (r *Repair) plan() error {
	lock, err := r.fs.Lock(lockName)
	var held *disk.LockedError
	if errors.As(err, &held) {
		return fmt.Errorf("data directory %s is in use by the broker with pid %d; stop it first", r.fs.Path(), held.PID)
	}
	if err != nil {
		return fmt.Errorf("take data directory %s: %w; run this as a user who may write there", r.fs.Path(), err)
	}
	r.lock = lock
	if r.reach, _, err = reachOf(r.fs); err != nil {
		return fmt.Errorf("data directory %s: %w", r.fs.Path(), err)
	}
	if r.journal, err = journal.PlanRepair(r.fs, r.journalOptions(), projections.New); err != nil {
		return fmt.Errorf("data directory %s: %w", r.fs.Path(), err)
	}
	if r.journal == nil && !hasJournal(r.fs) {
		return fmt.Errorf("data directory %s: %w", r.fs.Path(), journal.ErrMissing)
	}
	r.nameTopics()
	if err := missingSegments(r.fs, len(r.topics)); err != nil && r.journal == nil {
		return inDir(r.fs, err)
	}
	return r.planPartitions()
}

func (r *Repair) journalOptions() journal.Options {
	return journal.Options{Dir: journalDir, Clock: systemClock{}, IDs: randomIDs{}, MustExist: true, Reach: r.reach}
}

func hasJournal(fsys disk.FS) bool {
	entries, err := fsys.ReadDir(journalDir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".journal") })
}

// nameTopics learns the topics' names from what can be read of the journal.
func (r *Repair) nameTopics() {
	result, err := replay.Run(r.fs, journalDir, replay.Options{Nearest: true})
	if err != nil || result.State == nil {
		return
	}
	result.State.Topics.Each("", func(t *projections.Topic) bool {
		r.topics[t.ID] = t.Name
		return true
	})
}

func (r *Repair) planPartitions() error {
	ids, err := segments.Partitions(r.fs, segmentsDir)
	if err != nil {
		return err
	}
	for _, id := range ids {
		p, err := segments.Examine(r.fs, segmentsDir, id, BootID())
		if err != nil {
			return err
		}
		if p.Damaged() && (r.topics[id.Topic] != "" || p.OnDisk()) { // else only the checkpoint remembers a deleted topic
			r.partitions = append(r.partitions, p)
		}
	}
	return nil
}

// Damaged tells whether there is anything to repair.
func (r *Repair) Damaged() bool { return r.journal != nil || len(r.partitions) > 0 }

// String shows to people what would be given up.
func (r *Repair) String() string {
	var b strings.Builder
	if r.journal != nil {
		b.WriteString(r.journal.String())
	}
	for _, p := range r.partitions {
		fmt.Fprintf(&b, "%s:\n", r.name(p.ID))
		for _, loss := range p.GivenUp {
			fmt.Fprintf(&b, "  %s.\n", loss)
		}
		fmt.Fprintf(&b, "  %d batches with %d records are kept; the next offset is %d.\n", p.Batches, p.Records, p.End)
		fmt.Fprintf(&b, "  All files as they are now are kept beside as %s.\n", p.Kept)
	}
	return b.String()
}

func (r *Repair) name(id segments.ID) string {
	if topic, known := r.topics[id.Topic]; known {
		return fmt.Sprintf("partition %d of topic %s", id.Partition, journal.Quoted(topic))
	}
	return fmt.Sprintf("partition %s, of a topic that the journal does not know", id)
}

// Accept gives up what String says, journals that, and returns where the damaged files are kept. When it is stopped in
// between, another repair finishes the work.
func (r *Repair) Accept() (kept []string, err error) {
	if r.journal != nil {
		files, err := r.acceptJournal()
		for _, name := range files {
			kept = append(kept, filepath.Join(r.fs.Path(), journalDir, name))
		}
		if err != nil {
			return kept, err
		}
	}
	store, _, err := journal.Open(r.fs, r.journalOptions(), projections.New)
	if err != nil {
		return kept, err
	}
	if r.journal != nil {
		err = store.Update(context.Background(), journal.Timed("repair"), skipProducerIDs)
	}
	for _, p := range r.partitions {
		if err != nil {
			break
		}
		if err = r.acceptPartition(store, p); err == nil {
			kept = append(kept, filepath.Join(r.fs.Path(), filepath.FromSlash(p.Kept)))
		}
	}
	return kept, errors.Join(err, store.Close())
}

// acceptJournal makes the journal one that can be opened. Before, the segments are told of the entry that passes over
// producer ids, which is the next: a broker does not start without it.
func (r *Repair) acceptJournal() (kept []string, err error) {
	if isDir(r.fs, segmentsDir) {
		next := journal.Reach{ClusterID: r.journal.ClusterID(), Seq: r.journal.Resume + 1}
		if err := journal.WriteReach(r.fs, segmentsDir, besideName, next); err != nil {
			return nil, err
		}
	}
	r.reach = journal.Reach{}
	return r.journal.Accept()
}

// acceptPartition journals the loss first: a loss that is journaled and did not come to pass is found again, one that
// came to pass unseen would not be.
func (r *Repair) acceptPartition(store *journal.Store[*projections.State], p *segments.Repair) error {
	err := store.Update(context.Background(), journal.Timed("repair"), func(tx *journal.Tx[*projections.State]) {
		for _, loss := range p.GivenUp {
			tx.Emit(&journal.DamageAccepted{
				File: loss.File, Offset: loss.Position, FirstSeq: 1, Reason: r.name(p.ID) + ": " + loss.String(), Kept: []string{path.Clean(p.Kept)},
			})
		}
	})
	if err != nil {
		return err
	}
	return p.Accept()
}

// Close lets go of the data directory.
func (r *Repair) Close() error {
	var errs []error
	if r.lock != nil {
		errs = append(errs, r.lock.Close())
	}
	return errors.Join(append(errs, r.fs.Close())...)
}
