package doze

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
)

// data is the broker's directory, or one beside it.
func (v *smallVolume) data(name ...string) string {
	return filepath.Join(append([]string{v.dir, "data"}, name...)...)
}

// keep copies a part of the data directory as it is now, which is what a killed broker leaves and what a backup has.
func (v *smallVolume) keep(part, as string) {
	v.t.Helper()
	if err := os.CopyFS(filepath.Join(v.dir, as), os.DirFS(v.data(part))); err != nil {
		v.t.Fatal(err)
	}
}

// putBack replaces a part of the data directory by a copy.
func (v *smallVolume) putBack(part, from string) {
	v.t.Helper()
	if err := os.RemoveAll(v.data(part)); err != nil {
		v.t.Fatal(err)
	}
	if err := os.CopyFS(v.data(part), os.DirFS(filepath.Join(v.dir, from))); err != nil {
		v.t.Fatal(err)
	}
}

// refused starts the broker, which must say why it does not, and returns that.
func (v *smallVolume) refused() error {
	v.t.Helper()
	b, err := New(Options{DataDir: v.data(), Listeners: []Listener{{Address: "127.0.0.1:0"}}})
	if err == nil {
		v.t.Fatal("the broker starts: ", b.Close())
	}
	if looked := CheckDataDir(v.data()); looked == nil {
		v.t.Error("CheckDataDir finds nothing wrong with what is refused: ", err)
	}
	return err
}

func (v *smallVolume) repair() {
	v.t.Helper()
	r, err := PlanRepair(v.data())
	if err != nil {
		v.t.Fatal(err)
	}
	if !r.Damaged() {
		v.t.Fatal("nothing to repair")
	}
	if _, err := r.Accept(); err != nil {
		v.t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		v.t.Fatal(err)
	}
}

// newProducer asks for a producer id and appends the producer's first record, which must be stored.
func (v *smallVolume) newProducer(c *volumeConn) int64 {
	v.t.Helper()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.Version, req.ProducerID, req.ProducerEpoch = 4, -1, -1
	id := volumeAsk[*kmsg.InitProducerIDResponse](c, req)
	if id.ErrorCode != 0 {
		v.t.Fatal("init producer id: code", id.ErrorCode)
	}
	produce := produceNow(v.t, id.ProducerID, id.ProducerEpoch)
	p := volumeAsk[*kmsg.ProduceResponse](c, produce).Topics[0].Partitions[0]
	if p.ErrorCode != 0 || p.BaseOffset != int64(v.acked) {
		v.t.Fatalf("the first record of producer %d: code %d, offset %d; %d records were acknowledged before", id.ProducerID, p.ErrorCode, p.BaseOffset, v.acked)
	}
	v.acked++
	return id.ProducerID
}

// produceNow has a record of now: one of 1970 ends a segment, and its producer is forgotten at the next open.
func produceNow(t *testing.T, id int64, epoch int16) *kmsg.ProduceRequest {
	t.Helper()
	var b kmsg.RecordBatch
	produce := volumeProduce(-1, 10)
	part := &produce.Topics[0].Partitions[0]
	if err := b.ReadFrom(part.Records); err != nil {
		t.Fatal(err)
	}
	b.FirstTimestamp = time.Now().UnixMilli()
	b.MaxTimestamp = b.FirstTimestamp
	b.ProducerID, b.ProducerEpoch, b.FirstSequence = id, epoch, 0
	if id < 0 {
		b.FirstSequence = -1
	}
	b.CRC = int32(crc32.Checksum(b.AppendTo(nil)[21:], crc32.MakeTable(crc32.Castagnoli)))
	part.Records = b.AppendTo(nil)
	return produce
}

// TestOlderJournal: a journal that is older than the records beside it is refused, for it would give out producer ids that
// the records have, whose first batches would then pass for duplicates. A repair says what is lost, and goes on with other ids.
func TestOlderJournal(t *testing.T) {
	for name, stop := range map[string]func(*smallVolume){
		"stopped": func(v *smallVolume) { v.stop() },
		"killed":  func(v *smallVolume) { v.keep("segments", "late"); v.stop(); v.putBack("segments", "late") },
	} {
		t.Run(name, func(t *testing.T) {
			v := &smallVolume{t: t, dir: t.TempDir()}
			v.start()
			v.mustCreate(v.connect())
			v.stop()
			v.keep("journal", "old")
			v.start()
			v.newProducer(v.connect())
			stop(v)
			v.putBack("journal", "old")
			var damage *journal.DamageError
			if err := v.refused(); !errors.As(err, &damage) {
				t.Fatal("refused for another reason: ", err)
			}
			v.repair()
			v.start()
			c := v.connect()
			if id := v.newProducer(c); id < skippedProducerIDs {
				t.Errorf("producer %d may have been given out before", id)
			}
			v.readable(c)
			v.stop()
		})
	}
}

// TestOlderJournalOfTheSameRun: a copy of a running broker's directory has the journal of a moment before the records.
func TestOlderJournalOfTheSameRun(t *testing.T) {
	copied := func(t *testing.T) *smallVolume {
		v := &smallVolume{t: t, dir: t.TempDir()}
		v.start()
		c := v.connect()
		v.mustCreate(c)
		v.keep("journal", "early")
		v.newProducer(c)
		for range 300 { // more than an index holds back
			if code, _ := v.produce(c, 1, 10); code != 0 {
				t.Fatal("produce: code", code)
			}
		}
		v.keep("segments", "late")
		v.stop()
		v.putBack("journal", "early")
		v.putBack("segments", "late")
		return v
	}
	t.Run("killed", func(t *testing.T) {
		v := copied(t)
		var damage *journal.DamageError
		if err := v.refused(); !errors.As(err, &damage) {
			t.Fatal("refused for another reason: ", err)
		}
		v.repair()
		v.start()
		if id := v.newProducer(v.connect()); id < skippedProducerIDs {
			t.Errorf("producer %d may have been given out before", id)
		}
		v.stop()
	})
	t.Run("power lost", func(t *testing.T) { // or on another machine: entries that were not synced may be gone
		v := copied(t)
		if err := os.WriteFile(v.data("segments", "boot"), []byte("another"), 0o600); err != nil {
			t.Fatal(err)
		}
		v.start()
		if id := v.newProducer(v.connect()); id < skippedProducerIDs {
			t.Errorf("producer %d may have been given out before", id)
		}
		v.stop()
	})
}

// TestMixedDirectories: segments of one cluster beside the journal of another are refused.
func TestMixedDirectories(t *testing.T) {
	v, other := &smallVolume{t: t, dir: t.TempDir()}, &smallVolume{t: t, dir: t.TempDir()}
	for _, v := range []*smallVolume{v, other} {
		v.start()
		v.mustCreate(v.connect())
		v.newProducer(v.connect())
		v.stop()
	}
	other.keep("segments", "segments")
	v.putBack("segments", filepath.Join("..", filepath.Base(other.dir), "segments"))
	if err := v.refused(); !errors.Is(err, journal.ErrForeign) {
		t.Fatal("refused for another reason: ", err)
	}
	if _, err := PlanRepair(v.data()); !errors.Is(err, journal.ErrForeign) {
		t.Fatal("repair: ", err)
	}
	v.damageJournal(2) // which is no reason to take it
	if err := v.refused(); err == nil {
		t.Fatal("not refused")
	}
	if _, err := PlanRepair(v.data()); !errors.Is(err, journal.ErrForeign) {
		t.Fatal("repair of a damaged one: ", err)
	}
}

// TestOlderJournalDamaged: what a repair gives up of a journal that is damaged, and older than the records too, reaches as far
// as the records know: the next start, on records of a broker that was killed, finds nothing against it.
func TestOlderJournalDamaged(t *testing.T) {
	v := &smallVolume{t: t, dir: t.TempDir()}
	v.start()
	v.mustCreate(v.connect())
	_, seq := v.broker.store.View()
	v.stop()
	v.keep("journal", "old")
	v.start()
	c := v.connect()
	v.commits(c)
	for range 300 { // more than an index holds back
		v.newProducer(c)
	}
	v.keep("segments", "late")
	v.stop()
	v.putBack("journal", "old")
	v.putBack("segments", "late")
	v.damageJournal(seq)
	if err := v.refused(); err == nil {
		t.Fatal("not refused")
	}
	v.repair()
	v.start()
	if _, resumed := v.broker.store.View(); resumed < manyEntries {
		t.Errorf("the journal goes on with entry %d, which the records know already", resumed)
	}
	v.stop()
}

// TestNoteUnreadable: what is no note keeps the broker from starting only when it cannot be read at all, and then says so.
func TestNoteUnreadable(t *testing.T) {
	v := &smallVolume{t: t, dir: t.TempDir()}
	v.start()
	v.mustCreate(v.connect())
	v.stop()
	note := v.data("segments", "journal")
	if err := os.WriteFile(note, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v.start()
	v.stop()
	if err := errors.Join(os.Remove(note), os.Mkdir(note, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := v.refused(); !strings.Contains(err.Error(), "segments/journal") || !strings.Contains(err.Error(), "remove it") {
		t.Error("it does not say what to do: ", err)
	}
	if err := os.Remove(note); err != nil {
		t.Fatal(err)
	}
	v.start()
	v.stop()
}

// TestMissingSegments: a journal with topics beside no segments is refused; who makes an empty directory goes on without.
func TestMissingSegments(t *testing.T) {
	v := &smallVolume{t: t, dir: t.TempDir()}
	v.start()
	v.mustCreate(v.connect())
	v.newProducer(v.connect())
	v.stop()
	if err := os.RemoveAll(v.data("segments")); err != nil {
		t.Fatal(err)
	}
	if err := v.refused(); !strings.Contains(err.Error(), "segments") {
		t.Fatal("refused for another reason: ", err)
	}
	v.refused() // what was refused is refused again
	if _, err := PlanRepair(v.data()); err == nil {
		t.Error("a repair finds nothing wrong")
	}
	if err := os.Mkdir(v.data("segments"), 0o700); err != nil {
		t.Fatal(err)
	}
	v.start()
	v.acked = 0
	v.newProducer(v.connect())
	v.stop()
}

// TestRepairSkipsProducerIDs: what a repair gives up of a journal may have given out producer ids.
func TestRepairSkipsProducerIDs(t *testing.T) {
	v := &smallVolume{t: t, dir: t.TempDir()}
	v.start()
	c := v.connect()
	v.mustCreate(c)
	_, seq := v.broker.store.View()
	v.newProducer(c)
	v.stop()
	v.damageJournal(seq + 1)
	if err := v.refused(); err == nil {
		t.Fatal("not refused")
	}
	v.repair()
	v.start()
	c = v.connect()
	if id := v.newProducer(c); id < skippedProducerIDs {
		t.Errorf("producer %d may have been given out before", id)
	}
	v.readable(c)
	v.stop()
}

func (v *smallVolume) snapshots() []string {
	names, err := filepath.Glob(v.data("journal", "*.snapshot"))
	if err != nil || len(names) == 0 {
		v.t.Fatal("no snapshots: ", err)
	}
	return names
}

// damageJournal damages an entry, and takes the snapshots away, else nothing is lost.
func (v *smallVolume) damageJournal(seq uint64) {
	v.t.Helper()
	for _, name := range v.snapshots() {
		if err := os.Remove(name); err != nil {
			v.t.Fatal(err)
		}
	}
	damageEntry(v.t, v.data("journal", "00000000000000000001.journal"), seq)
}

// damageEntry flips a bit of an entry's body.
func damageEntry(t *testing.T, name string, seq uint64) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := 64 // behind the header; each frame has its length at 4 and its sequence at 8, and its body at 28
	for binary.LittleEndian.Uint64(b[at+8:]) != seq {
		at += 32 + int(binary.LittleEndian.Uint32(b[at+4:]))
	}
	b[at+28] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

const manyEntries = 50

// commits makes entries of the journal that are buffered.
func (v *smallVolume) commits(c *volumeConn) {
	v.t.Helper()
	for i := range manyEntries {
		if code := v.commit(c, strings.Repeat("x", i)); code != 0 {
			v.t.Fatal("commit: code", code)
		}
	}
}

// killed makes the directory what a broker that was killed now leaves.
func (v *smallVolume) killed(as string) {
	v.t.Helper()
	v.keep("segments", as+"-segments")
	v.keep("journal", as+"-journal")
	v.stop()
	v.putBack("segments", as+"-segments")
	v.putBack("journal", as+"-journal")
}

// TestKilledAfterPowerLoss: the entries that a power failure took are known to the records for ever, and the journal gives
// their numbers out again. No later start may take that for a journal that is older than its records.
func TestKilledAfterPowerLoss(t *testing.T) {
	v := &smallVolume{t: t, dir: t.TempDir()}
	v.start()
	c := v.connect()
	v.mustCreate(c)
	v.keep("journal", "early")
	v.commits(c)
	for range 300 { // more than an index holds back
		p := volumeAsk[*kmsg.ProduceResponse](c, produceNow(t, -1, -1)).Topics[0].Partitions[0]
		if p.ErrorCode != 0 {
			t.Fatal("produce: code", p.ErrorCode)
		}
		v.acked++
	}
	v.keep("segments", "late")
	v.stop()
	v.putBack("journal", "early")
	v.putBack("segments", "late")
	if err := os.WriteFile(v.data("segments", "boot"), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	v.start()
	v.newProducer(v.connect())
	v.killed("at once")
	v.start()
	v.newProducer(v.connect())
	v.stop()
	for _, as := range []string{"after a clean stop", "again"} {
		v.start()
		v.newProducer(v.connect())
		v.killed(as)
		if err := CheckDataDir(v.data()); err != nil {
			t.Fatal("the doctor: ", err)
		}
	}
	v.start()
	v.readable(v.connect())
	v.stop()
}
