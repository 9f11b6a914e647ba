package shares

import (
	"errors"
	"reflect"
	"testing"
)

var usual = Limits{MaxDeliveries: 5, MaxInFlight: 2000, LockMs: 30_000, Renew: true}

// fetch acquires from a log of batches of these sizes.
func fetch(p *Partition, member string, most int, sizes ...int64) []Range {
	f := Fetched{Member: member, From: p.NextFetchOffset(), MaxRecords: most, BatchSize: 500}
	next := int64(0)
	for _, n := range sizes {
		if b := (LogBatch{next, next + n - 1}); b.Last >= f.From {
			f.Batches = append(f.Batches, b)
		}
		next += n
	}
	return p.Acquire(f, usual)
}

func wantRanges(t *testing.T, got []Range, want ...Range) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("acquired %v, want %v", got, want)
	}
}

func TestBatchesAreAcquiredWhole(t *testing.T) {
	p := Load(0, nil)
	wantRanges(t, fetch(p, "a", 1, 3, 2, 4), Range{0, 2, 1})
	wantRanges(t, fetch(p, "a", 3, 3, 2, 4), Range{3, 8, 1})
	wantRanges(t, fetch(p, "a", 3, 3, 2, 4))
	if p.InFlight() != 9 || p.NextFetchOffset() != 9 {
		t.Errorf("%d in flight, next %d", p.InFlight(), p.NextFetchOffset())
	}
}

func TestTheStartThatIsWrittenIsTheOneBefore(t *testing.T) {
	p := Load(0, nil)
	fetch(p, "a", 100, 3)
	w, refused := p.Acknowledge("a", []Acks{{0, 1, []Type{Take}}}, 0, usual)
	if refused != nil || w.Start != 0 || w.Complete != 2 || p.Start() != 2 || p.Complete() != 0 {
		t.Errorf("wrote %+v (%v), then start %d, %d done", w, refused, p.Start(), p.Complete())
	}
	w, _ = p.Acknowledge("a", []Acks{{2, 2, []Type{Take}}}, 0, usual)
	if w.Start != 2 || w.Complete != 1 || p.Start() != 3 || p.InFlight() != 0 {
		t.Errorf("wrote %+v, then start %d, %d in flight", w, p.Start(), p.InFlight())
	}
}

func TestRefusedAcknowledgementsChangeNothing(t *testing.T) {
	p := Load(0, nil)
	fetch(p, "a", 2, 3)
	fetch(p, "b", 100, 3, 2)
	for name, c := range map[string]struct {
		acks []Acks
		want *Refusal
	}{
		"past the end":       {[]Acks{{0, 9, []Type{Take}}}, ErrLastPast},
		"behind the end":     {[]Acks{{7, 9, []Type{Take}}}, ErrFirstPast},
		"another's":          {[]Acks{{3, 4, []Type{Take}}}, ErrBatchOwner},
		"its own, another's": {[]Acks{{0, 2, []Type{Take}}, {3, 3, []Type{Take}}}, ErrBatchOwner},
		"the same twice":     {[]Acks{{0, 2, []Type{Take}}, {2, 2, []Type{Take}}}, ErrBatchState},
	} {
		q := p.Clone()
		_, refused := q.Acknowledge("a", c.acks, 0, usual)
		if refused != c.want {
			t.Errorf("%s: %v", name, refused)
		}
		if q.InFlight() != p.InFlight() || q.Complete() != 0 || q.Check() != nil {
			t.Errorf("%s: changed to %v", name, q)
		}
	}
	var is *Refusal
	if err := error(ErrLastPast); !errors.As(err, &is) || err.Error() == "" {
		t.Error("a refusal is no error")
	}
}

func TestRenewedLocksEndLater(t *testing.T) {
	p := Load(0, nil)
	fetch(p, "a", 100, 3)
	if _, refused := p.Acknowledge("a", []Acks{{0, 1, []Type{Renew, Take}}}, 10_000, usual); refused != nil {
		t.Fatal(refused)
	}
	if w := p.Expire(30_000, usual); len(w.Batches) != 1 || w.Batches[0].First != 2 {
		t.Errorf("expired %+v", w)
	}
	if until, any := p.NextLock(); !any || until != 40_000 {
		t.Errorf("next lock ends at %d (%t)", until, any)
	}
	no := usual
	no.Renew = false
	if _, refused := p.Acknowledge("a", []Acks{{0, 0, []Type{Renew}}}, 0, no); refused != ErrRenewDisabled {
		t.Errorf("renewed though it is disabled: %v", refused)
	}
}

func TestOftenDeliveredComesInPortions(t *testing.T) {
	p := Load(0, nil)
	for range 3 {
		fetch(p, "a", 100, 8)
		p.Release("a", usual)
	}
	wantRanges(t, fetch(p, "a", 100, 8), Range{0, 3, 4}) // half
	p.Release("a", usual)
	wantRanges(t, fetch(p, "a", 100, 8), Range{0, 0, 5}) // alone
	w := p.Release("a", usual)
	if len(w.Batches) != 1 || w.Batches[0].State != Archived || p.Start() != 1 {
		t.Errorf("wrote %+v, start %d", w, p.Start())
	}
}

func TestTheGapBehindAStartIsFilled(t *testing.T) {
	p := Load(0, []StateBatch{{2, 3, Acknowledged, 1}, {6, 7, Available, 2}})
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	wantRanges(t, fetch(p, "a", 100, 10), Range{0, 1, 1}, Range{4, 5, 1}, Range{6, 7, 3}, Range{8, 9, 1})
}

func TestTooManyPiecesAreRefused(t *testing.T) {
	p := Load(0, nil)
	const n = 4 * maxPieces
	f := Fetched{Member: "a", Batches: []LogBatch{{0, n - 1}}, MaxRecords: 1, BatchSize: 500}
	if got := p.Acquire(f, usual); len(got) != 1 {
		t.Fatalf("acquired %v", got)
	}
	types := make([]Type, n)
	for i := range types {
		types[i] = Take + Type(i%2)
	}
	if _, refused := p.Acknowledge("a", []Acks{{0, n - 1, types}}, 0, usual); refused != ErrTooManyPieces {
		t.Errorf("refused: %v", refused)
	}
	if err := p.Check(); err != nil || p.pieces() > 1 {
		t.Errorf("%d pieces, %v", p.pieces(), err)
	}
}
