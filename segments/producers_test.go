package segments

import (
	"errors"
	"fmt"
	"testing"

	"doze/disk"
)

// attempt appends one batch of a producer and says what came of it: the offset, "=" and the offset for a duplicate, or
// the kind of error.
func attempt(t *testing.T, p *Partition, epoch int16, sequence int32, records int) string {
	t.Helper()
	b := made{records: records, producer: 9, epoch: epoch, sequence: sequence}.batch(t)
	a, err := p.Append(b, Admission{Now: 1_000_000})
	if e := (*ProducerError)(nil); errors.As(err, &e) {
		return map[ProducerErrorKind]string{OutOfOrder: "out of order", InvalidEpoch: "invalid epoch"}[e.Kind]
	}
	if err != nil {
		t.Fatal(err)
	}
	if a.Duplicate {
		return fmt.Sprint("=", a.BaseOffset, "..", a.LastOffset)
	}
	return fmt.Sprint(a.BaseOffset)
}

func TestProducerRules(t *testing.T) {
	type step struct {
		epoch    int16
		sequence int32
		records  int
		want     string
	}
	for name, steps := range map[string][]step{
		"unknown producers begin anywhere": {{0, 17, 1, "0"}, {0, 18, 1, "1"}},
		"a gap":                            {{0, 0, 1, "0"}, {0, 2, 1, "out of order"}, {0, 1, 1, "1"}},
		"a repeat": {{0, 0, 3, "0"}, {0, 0, 3, "=0..2"}, {0, 0, 2, "out of order"}, {0, 1, 2, "out of order"},
			{0, 3, 1, "3"}, {0, 0, 3, "=0..2"}},
		"the last five are remembered": {{0, 0, 1, "0"}, {0, 1, 1, "1"}, {0, 2, 1, "2"}, {0, 3, 1, "3"}, {0, 4, 1, "4"},
			{0, 0, 1, "=0..0"}, {0, 5, 1, "5"}, {0, 0, 1, "out of order"}, {0, 1, 1, "=1..1"}, {0, 5, 1, "=5..5"}},
		"an old epoch":                   {{3, 0, 1, "0"}, {2, 1, 1, "invalid epoch"}, {2, 0, 1, "invalid epoch"}, {3, 1, 1, "1"}},
		"a new epoch begins at 0":        {{0, 0, 1, "0"}, {1, 1, 1, "out of order"}, {1, 0, 1, "1"}, {0, 1, 1, "invalid epoch"}},
		"a repeat of the old epoch":      {{0, 0, 1, "0"}, {1, 0, 1, "1"}, {0, 0, 1, "invalid epoch"}, {1, 0, 1, "=1..1"}},
		"a new producer at a high epoch": {{7, 5, 1, "0"}, {7, 6, 1, "1"}},
		"an epoch that is none":          {{-2, 0, 1, "invalid epoch"}, {-1 << 15, 7, 1, "invalid epoch"}, {-1, 7, 1, "0"}, {-2, 8, 1, "invalid epoch"}},
		"sequences wrap": {{0, 1<<31 - 2, 1, "0"}, {0, 1<<31 - 1, 1, "1"}, {0, 0, 1, "2"}, {0, 1<<31 - 1, 1, "=1..1"},
			{0, 1, 1, "3"}},
		"a batch across the wrap": {{0, 1<<31 - 2, 4, "0"}, {0, 1<<31 - 2, 4, "=0..3"}, {0, 2, 1, "4"}},
	} {
		for _, restart := range []string{"none", "kill", "clean", "roll"} {
			t.Run(name+"/"+restart, func(t *testing.T) {
				mem := disk.NewMem()
				config := Config{}
				if restart == "roll" {
					config.SegmentBytes = 120
				}
				d := openTest(t, mem)
				p := d.Partition(ID{topicA, 0}, config)
				for i, s := range steps {
					if got := attempt(t, p, s.epoch, s.sequence, s.records); got != s.want {
						t.Fatalf("step %d %+v: %s", i, s, got)
					}
					switch restart {
					case "none":
						continue
					case "clean":
						if err := d.Close(); err != nil {
							t.Fatal(err)
						}
					case "roll":
						d.SyncDirty()
					}
					mem = mem.Crash(disk.KillProcess())
					d = openTest(t, mem)
					p = d.Partition(ID{topicA, 0}, config)
				}
			})
		}
	}
}

func TestProducersExpire(t *testing.T) {
	now := int64(1_000_000)
	d, err := OpenDir(disk.NewMem(), "segments", Options{Now: func() int64 { return now }, SyncEvery: -1, ProducerExpiryMs: 500})
	if err != nil {
		t.Fatal(err)
	}
	p := d.Partition(ID{topicA, 0}, Config{})
	b := made{producer: 9, base: now}.batch(t)
	if _, err := p.Append(b, Admission{Now: now}); err != nil {
		t.Fatal(err)
	}
	now += 499
	d.ExpireProducers()
	if got := attempt(t, p, 0, 7, 1); got != "out of order" {
		t.Fatal(got)
	}
	now++
	d.ExpireProducers()
	if got := attempt(t, p, 0, 7, 1); got != "1" {
		t.Fatal(got)
	}
}

func TestDuplicateAnswersItsTime(t *testing.T) {
	p := openTest(t, disk.NewMem()).Partition(ID{topicA, 0}, Config{})
	m := made{producer: 9, base: 1234}
	if a := mustAppend(t, p, m); a.AppendTime != -1 {
		t.Fatal(a)
	}
	if a := mustAppend(t, p, m); a.AppendTime != 1234 || !a.Duplicate {
		t.Fatal(a)
	}
	a, err := p.Append(made{base: 1}.batch(t), Admission{Now: 777, LogAppendTime: true})
	if err != nil || a.AppendTime != 777 {
		t.Fatal(a, err)
	}
	h := parseHeader(readAll(t, p, 1, 1))
	if !h.LogAppendTime() || h.MaxTimestamp != 777 {
		t.Fatal(h)
	}
}

func TestEpochs(t *testing.T) {
	var l epochs
	for _, a := range []epochStart{{1, 0}, {1, 5}, {2, 10}, {3, 10}, {5, 20}} {
		l.assign(a.epoch, a.start)
	}
	if got := fmt.Sprint(l); got != "[{1 0} {3 10} {5 20}]" {
		t.Fatal(got)
	}
	for _, c := range []struct {
		ask, epoch int32
		end        int64
	}{{-1, -1, -1}, {0, 0, 0}, {1, 1, 10}, {2, 1, 10}, {3, 3, 20}, {4, 3, 20}, {5, 5, 33}, {6, -1, -1}} {
		if epoch, end := l.end(c.ask, 33); epoch != c.epoch || end != c.end {
			t.Errorf("epoch %d: %d %d", c.ask, epoch, end)
		}
	}
	l.cut(15)
	if got := fmt.Sprint(l); got != "[{3 15} {5 20}]" {
		t.Fatal(got)
	}
	if epoch, end := l.end(2, 33); epoch != 2 || end != 15 {
		t.Fatal(epoch, end)
	}
	l.cut(20)
	if got := fmt.Sprint(l, l.at(19), l.at(20)); got != "[{5 20}] -1 5" {
		t.Fatal(got)
	}
}
