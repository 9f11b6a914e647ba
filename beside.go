package doze

import (
	"context"
	"fmt"

	"doze/disk"
	"doze/journal"
	"doze/projections"
	"doze/segments"
)

// besideName is the note in the segments' directory of the journal that they were written beside.
const besideName = "journal"

// skippedProducerIDs are passed over when entries of the journal are gone that may have given some out: a producer with a
// number that a partition knows already would be told that its first records are there.
const skippedProducerIDs = 1 << 30

// reachOf is how far the journal got, as the segments know it. ahead: as far as records know, it got there, but it need not have:
// power was lost, and entries with it that were not promised to be on disk; or a version that left no note stopped, and
// power may have been lost before.
func reachOf(fsys disk.FS) (r journal.Reach, ahead uint64, err error) {
	if !isDir(fsys, segmentsDir) {
		return r, 0, nil
	}
	if r, err = journal.ReadReach(fsys, segmentsDir, besideName); err != nil {
		return r, 0, fmt.Errorf("%w; make it a file that can be read, or remove it", err)
	}
	clean, lost, err := segments.LastStop(fsys, segmentsDir, BootID())
	if err != nil || clean && r != (journal.Reach{}) {
		return r, 0, err
	}
	newest, err := segments.Newest(fsys, segmentsDir)
	if clean || lost {
		return r, newest, err
	}
	if newest > r.Ahead {
		r.Seq = max(r.Seq, newest)
	}
	return r, 0, err
}

// missingSegments refuses a journal that has topics beside no directory of records: that is made before the first topic is.
func missingSegments(fsys disk.FS, topics int) error {
	if topics == 0 || isDir(fsys, segmentsDir) {
		return nil
	}
	return fmt.Errorf("the journal has %d topics, but the directory %s with their records is missing; restore it, or make an empty one to go on without the records", topics, segmentsDir)
}

// noteBeside leaves the note for the next start. Without it, on a full disk say, the next start knows less; an older one
// stays true.
func (b *Broker) noteBeside(seq uint64) error {
	if b.opt.Ephemeral {
		return nil
	}
	return journal.WriteReach(b.fs, segmentsDir, besideName, journal.Reach{ClusterID: b.store.ClusterID(), Seq: seq, Ahead: b.ahead})
}

// noteStarted notes how far the journal has got by this start. Nobody waits for that but the close. While the note does not
// say which entries power took, the stop is not a clean one: the next start finds that out anew.
func (b *Broker) noteStarted() {
	noted := make(chan struct{})
	go func() {
		defer close(noted)
		if b.noteBeside(b.started) != nil && b.lostEntries {
			b.logs.DoubtStop()
		}
	}()
	b.onClose(func() error { <-noted; return nil })
}

// closeLogs closes the logs. They are not told that the stop is a clean one before the journal that they know of is on disk:
// it may be lost with the power before, or for good when its fsync fails.
func (b *Broker) closeLogs() error {
	_, seq := b.store.View()
	if !b.opt.Ephemeral && b.store.SyncTo(seq)(context.Background()) != nil { // closing the journal says why
		b.logs.DoubtStop()
	}
	return b.logs.Close()
}

// closeJournal closes the journal, the logs being closed already, and notes how far it got.
func (b *Broker) closeJournal() error {
	_, seq := b.store.View()
	err := b.store.Close()
	if err == nil && b.logs != nil { // all up to seq is on disk
		_ = b.noteBeside(seq)
	}
	return err
}

// skipProducerIDs passes over numbers that lost entries may have given out.
func skipProducerIDs(tx *journal.Tx[*projections.State]) {
	tx.Emit(&journal.ProducerIDsAllocated{First: tx.State.NextProducerID, Count: skippedProducerIDs})
}
