package journal

import (
	"testing"

	"doze/disk"
)

// TestTimeGoesOnWhenTheClockIsSetBack: no entry has an earlier time than the one before, time does not stand still either, and
// is the clock's again when that is there.
func TestTimeGoesOnWhenTheClockIsSetBack(t *testing.T) {
	at, clock := moved(1000, 1000, 1010)
	if at != 1010 || clock != 1010 {
		t.Fatal(at, clock)
	}
	if at, clock = moved(at, clock, 10); at != 1010 || clock != 10 {
		t.Fatal(at, clock)
	}
	for now := int64(11); now <= 110; now++ { // entry by entry
		at, clock = moved(at, clock, now)
	}
	if at != 1060 {
		t.Errorf("100 ms after it was set back: %d", at)
	}
	if at, clock = moved(at, clock, 5); at != 1060 || clock != 5 {
		t.Errorf("set back again: %d %d", at, clock)
	}
	if at, _ = moved(at, clock, 1005); at != 1560 {
		t.Errorf("a second later: %d", at)
	}
	if at, clock = moved(at, clock, 2500); at != 2500 || clock != 2500 {
		t.Errorf("when it is there again: %d %d", at, clock)
	}
	if at, _ = moved(5, -1<<63, 1<<62); at != 1<<62 {
		t.Errorf("a clock far off: %d", at)
	}
}

// TestTimeGoesOnWithoutEntries: time that is asked for goes on when the clock was set back and nothing is written, and the next
// entry has no other.
func TestTimeGoesOnWithoutEntries(t *testing.T) {
	opt := testOptions()
	clock := opt.Clock.(*testClock)
	s, _ := open(t, disk.NewMem(), opt)
	defer s.Close()
	emit(t, s, topic("a"))
	at := s.At()
	clock.ms.Add(-3_600_000)
	if now := s.Now(); now != at {
		t.Errorf("set back: %d", now-at)
	}
	clock.ms.Add(1000)
	if now := s.Now(); now != at+500 {
		t.Errorf("a second later: %d", now-at)
	}
	emit(t, s, topic("b"))
	if s.At() != at+500 {
		t.Errorf("an entry: %d", s.At()-at)
	}
	clock.ms.Add(1000)
	if now := s.Now(); now != at+1000 {
		t.Errorf("two seconds later: %d", now-at)
	}
	clock.ms.Add(3_600_000)
	if now := s.Now(); now != clock.ms.Load() {
		t.Errorf("when it is there again: %d", now-clock.ms.Load())
	}
}
