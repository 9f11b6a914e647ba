package journal

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"doze/disk"
)

// Repair is the way on after damage: what can be kept, what is given up. Making one changes nothing, Accept does it.
type Repair struct {
	// GivenUp says what is lost, as it will be journaled. Kept is empty before Accept.
	GivenUp []DamageAccepted
	// LastSeq is the last entry that is kept; Resume is the sequence that the journal goes on with.
	LastSeq uint64
	Resume  uint64

	fs      disk.FS
	opt     Options
	list    listing
	stop    *marker
	parts   []part
	cluster [16]byte
	keep    keeping
	start   *DamageError // what ends the entries from the beginning
}

// keeping is the part of a journal that stays: a base, then frames from a place in one file to a place in another.
type keeping struct {
	base  point // of a snapshot; zero: from the first entry
	first int   // index of the first file that stays; len(parts): none
	from  int64 // where its frames begin: later than the header when what is before them is given up
	last  int   // index of the last file that stays
	end   int64 // where its frames end
	salt  uint32

	seq    uint64 // last entry
	at     int64
	chain  uint32
	damage *DamageError // what ends it; nil: nothing does
}

// PlanRepair looks for what can be kept of a journal that Open refuses as damaged: the entries from the beginning, or a
// snapshot and the entries behind it, whichever reaches further. nil: Open does not find it damaged. Errors: what
// Open returns for another reason.
func PlanRepair[S State[S]](fsys disk.FS, opt Options, fresh func() S) (*Repair, error) {
	opt.defaults()
	l, err := list(fsys, opt.Dir)
	if err != nil {
		return nil, err
	}
	o := &opening[S]{fs: fsys, opt: &opt, fresh: fresh, list: l}
	damage, err := o.damage()
	if damage == nil || err != nil {
		return nil, err
	}
	r := &Repair{fs: fsys, opt: opt, list: l, stop: o.stop}
	if r.parts, err = readParts(fsys, opt.Dir, l.journals); err != nil {
		return nil, err
	}
	bases, err := snapshotsThatLoad(o)
	if err != nil {
		return nil, err
	}
	r.cluster = r.clusterOf(bases, opt.IDs)
	if beside := opt.Reach.ClusterID; beside != ([16]byte{}) && beside != r.cluster {
		return nil, ErrForeign
	}
	if err := r.choose(bases); err != nil {
		return nil, err
	}
	return r, r.account(damage)
}

// damage is why Open refuses the journal; nil when it does not.
func (o *opening[S]) damage() (damage *DamageError, err error) {
	if len(o.list.journals) == 0 {
		o.readStop()
		if len(o.list.snapshots) == 0 && o.stop == nil {
			return nil, nil // nothing to keep anything of
		}
		return &DamageError{File: o.opt.Dir, FirstSeq: 1, Reason: "the journal's files are missing"}, nil
	}
	err = o.recover()
	if err == nil || errors.As(err, &damage) {
		return damage, nil
	}
	return nil, err
}

func snapshotsThatLoad[S State[S]](o *opening[S]) (points []point, err error) {
	for _, seq := range o.list.snapshots {
		_, p, _, err := loadSnapshot(o.fs, path.Join(o.opt.Dir, snapshotName(seq)), o.fresh)
		var newer *NewerError
		if errors.As(err, &newer) {
			return nil, err
		}
		if err == nil && p.Seq == seq {
			points = append(points, p)
		}
	}
	return points, nil
}

// ClusterID is that of the journal.
func (r *Repair) ClusterID() [16]byte { return r.cluster }

// clusterOf is the id that most likely is the journal's.
func (r *Repair) clusterOf(bases []point, ids IDs) [16]byte {
	for i := range r.parts {
		if r.parts[i].err == nil {
			return r.parts[i].header.ClusterID
		}
	}
	if r.stop != nil {
		return r.stop.ClusterID
	}
	if len(bases) > 0 {
		return bases[len(bases)-1].ClusterID
	}
	if r.opt.Reach.ClusterID != ([16]byte{}) {
		return r.opt.Reach.ClusterID
	}
	return ids.NewUUID()
}

// choose takes the beginning that reaches furthest, and of equals the one with the most history.
func (r *Repair) choose(bases []point) error {
	best, err := r.fromStart()
	if err != nil {
		return err
	}
	r.start = best.damage
	for _, base := range bases {
		if base.ClusterID != r.cluster {
			continue
		}
		k, err := r.fromSnapshot(base)
		if err != nil {
			return err
		}
		if k.seq > best.seq {
			best = k
		}
	}
	r.keep, r.LastSeq = best, best.seq
	return nil
}

// nothing keeps no file: what is kept is the base alone.
func (r *Repair) nothing(base point) keeping {
	return keeping{base: base, first: len(r.parts), last: len(r.parts) - 1, seq: base.Seq, at: base.At, chain: base.Chain}
}

func (r *Repair) fromStart() (keeping, error) {
	k := r.nothing(point{})
	if len(r.parts) == 0 {
		return k, nil
	}
	first := &r.parts[0]
	if errors.As(first.err, &k.damage) {
		return k, nil
	}
	if before := first.header.before(); before != 0 {
		k.damage = &DamageError{File: first.name, FirstSeq: 1, LastSeq: before, Reason: fmt.Sprintf("the journal begins at entry %d", first.header.FirstSeq)}
		return k, nil
	}
	return r.walk(k, 0, headerSize)
}

// fromSnapshot finds the entry after the snapshot's and what follows it: in a file that begins there, else inside one.
func (r *Repair) fromSnapshot(base point) (keeping, error) {
	k := r.nothing(base)
	for i := range r.parts {
		p := &r.parts[i]
		if p.err == nil && p.header.before() == base.Seq && p.header.Chain == base.Chain {
			return r.walk(k, i, headerSize)
		}
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.err != nil || p.header.FirstSeq > base.Seq {
			continue
		}
		at, err := findFrame(r.fs, p.name, base)
		if err != nil {
			return k, err
		}
		if at > 0 {
			return r.walk(k, i, at)
		}
	}
	return k, nil
}

// maxCandidates bounds how often a hostile file can make us read a frame that is none.
const maxCandidates = 64

// findFrame gives the place in the file of the frame that follows the base; 0 when it is not there.
func findFrame(fsys disk.FS, name string, base point) (int64, error) {
	s, err := openScanner(fsys, name)
	if err != nil {
		return 0, err
	}
	defer s.close()
	var candidates []int64
	err = s.heads(headerSize, func(off int64, h frameHeader) bool {
		if h.Length > 0 && h.Seq == base.Seq+1 {
			candidates = append(candidates, off)
		}
		return len(candidates) < maxCandidates
	})
	if err != nil {
		return 0, err
	}
	for _, off := range candidates {
		s.pos, s.seq, s.chain = off, base.Seq, base.Chain
		if _, _, err := s.next(); err == nil {
			return off, nil
		}
	}
	return 0, nil
}

// walk follows the frames from a place in a file as far as they go.
func (r *Repair) walk(k keeping, first int, from int64) (keeping, error) {
	t := &trail{fs: r.fs, parts: r.parts, i: first}
	defer t.close()
	s, err := openScanner(r.fs, r.parts[first].name)
	if err != nil {
		return k, err
	}
	t.s = s
	s.pos, s.seq, s.chain = from, k.seq, k.chain
	k.first, k.from, k.salt = first, from, s.header.Salt
	var last []byte
	for {
		body, err := t.next()
		if err == nil {
			last = append(last[:0], body...)
			continue
		}
		if err != io.EOF && !errors.As(err, &k.damage) {
			return k, err
		}
		k.last, k.end, k.seq, k.chain = t.i, t.s.pos, t.s.seq, t.s.chain
		return k, k.timeOf(last)
	}
}

// timeOf takes the time of the last entry.
func (k *keeping) timeOf(body []byte) error {
	if len(body) == 0 {
		return nil
	}
	e, err := newDecoder().decode(body)
	k.at = e.At
	return err
}

// account says what is given up.
func (r *Repair) account(damage *DamageError) error {
	known, err := r.known(damage)
	if err != nil {
		return err
	}
	known = min(max(known, r.LastSeq), r.LastSeq+1<<32-1)
	r.Resume = known + 1
	if known > r.LastSeq {
		d := r.keep.damage
		if d == nil {
			d = damage
		}
		r.GivenUp = append(r.GivenUp, DamageAccepted{File: path.Base(d.File), Offset: d.Offset, FirstSeq: r.LastSeq + 1, LastSeq: known, Reason: d.Reason})
	}
	k := &r.keep
	if lost := k.base.Seq > 0 && (k.first > 0 || k.from > headerSize); lost || len(r.GivenUp) == 0 {
		if lost && r.start != nil {
			damage = r.start
		}
		r.GivenUp = append(r.GivenUp, DamageAccepted{File: path.Base(damage.File), Offset: damage.Offset, FirstSeq: damage.FirstSeq, LastSeq: damage.FirstSeq - 1, Reason: damage.Reason})
	}
	return nil
}

// known is the last entry that anything here says was written.
func (r *Repair) known(damage *DamageError) (uint64, error) {
	known := max(damage.LastSeq, r.opt.Reach.Seq)
	if r.keep.damage != nil {
		known = max(known, r.keep.damage.LastSeq)
	}
	if r.stop != nil {
		known = max(known, r.stop.Seq)
	}
	if n := len(r.list.snapshots); n > 0 {
		known = max(known, r.list.snapshots[n-1])
	}
	for i := max(r.keep.last, 0); i < len(r.parts); i++ {
		known = max(known, r.list.journals[i]-1)
		if r.parts[i].err != nil {
			continue
		}
		s, err := openScanner(r.fs, r.parts[i].name)
		if err != nil {
			return 0, err
		}
		rest, err := s.after()
		s.close()
		if err != nil {
			return 0, err
		}
		known = max(known, rest.lastSeq, rest.vouched)
	}
	return known, nil
}

// String shows to people what would be given up.
func (r *Repair) String() string {
	var b strings.Builder
	for _, g := range r.GivenUp {
		fmt.Fprintf(&b, "%s is damaged at byte %d: %s.\n", g.File, g.Offset, g.Reason)
		if g.LastSeq < g.FirstSeq {
			b.WriteString("  No state is lost.")
			if base := r.keep.base.Seq; base > 0 {
				fmt.Fprintf(&b, " The snapshot of entry %d holds what the entries before it made; replaying them is given up.", base)
			}
			b.WriteByte('\n')
		} else {
			fmt.Fprintf(&b, "  Entries %d to %d are given up, with every change that they made.\n", g.FirstSeq, g.LastSeq)
		}
	}
	if r.LastSeq == 0 {
		b.WriteString("Nothing can be kept: the broker would start empty, and data without a topic would be set aside.\n")
	} else {
		fmt.Fprintf(&b, "The state after entry %d is kept; the journal goes on with entry %d.\n", r.LastSeq, r.Resume)
	}
	for _, name := range r.moved() {
		fmt.Fprintf(&b, "  %s is kept beside as %s.\n", name, r.damagedName(name))
	}
	return b.String()
}
