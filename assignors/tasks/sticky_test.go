package tasks_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"

	"doze/assignors/tasks"
	"doze/assignors/tasks/taskstest"
)

// TestAsKafka compares with what Kafka's own assignor made of the same groups (conformance/cmd/assignors -tasks). Active tasks are never
// less even and standbys never fewer. Which of equals is taken hangs on hash maps there, and where standbys can go hangs on that:
// where processes have different numbers of members, now one side is evener and now the other, in about as many groups. One group
// may move a task or two more than Kafka has it; all together do not.
func TestAsKafka(t *testing.T) {
	recorded, err := os.ReadFile("testdata/kafka-4.3.1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(recorded))
	lines.Buffer(nil, 1<<20)
	compared, equal, evener, ahead := 0, 0, 0, 0
	for lines.Scan() {
		var c taskstest.Case
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		g, kafka := c.Group(), c.Answers()
		ours := tasks.Sticky(g)
		compared++
		if reflect.DeepEqual(ours, kafka) {
			equal++
		}
		mine, theirs := measure(g, ours), measure(g, kafka)
		switch {
		case mine.total > theirs.total:
			evener--
		case mine.total < theirs.total:
			evener++
		}
		if mine.standbys < theirs.standbys || mine.active > theirs.active || mine.most > theirs.most+2 {
			t.Errorf("%s\nours %+v %v\nkafka %+v %v", lines.Text(), mine, ours, theirs, kafka)
		}
		if mine.moved > theirs.moved+2 {
			t.Errorf("%s\n%d active tasks moved, %d of Kafka's", lines.Text(), mine.moved, theirs.moved)
		}
		ahead += theirs.moved + theirs.copied - mine.moved - mine.copied
	}
	if compared < 300 {
		t.Errorf("%d groups compared", compared)
	}
	if evener < -compared/100 {
		t.Errorf("loads are less even in %d groups more than they are evener in", -evener)
	}
	if ahead < 0 {
		t.Errorf("%d tasks moved more than Kafka moves", -ahead)
	}
	t.Logf("%d compared: %d the same, all with %d moves fewer", compared, equal, ahead)
}

// figures are what an assignment is judged by.
type figures struct {
	active, total int // unevenness of loads: smallest when all have the same
	most          int // the largest load
	standbys      int
	moved         int // active tasks that go to a member that had them not
	copied        int // standbys that go to a process that had not the task
}

func measure(g *tasks.Group, all []tasks.Assignment) (f figures) {
	had := map[string]bool{}
	for _, m := range g.Members {
		for t := range list(m.Had) {
			had[m.Process+" "+t.name] = true
		}
	}
	for m, a := range all {
		active, standby := tasks.Count(a.Active), tasks.Count(a.Standby)
		f.active += active * active
		f.total += (active + standby) * (active + standby)
		f.standbys += standby
		f.most = max(f.most, active+standby)
		before := list(g.Members[m].Had)
		for t := range list(a) {
			switch {
			case t.active && !before[t]:
				f.moved++
			case !t.active && !had[g.Members[m].Process+" "+t.name]:
				f.copied++
			}
		}
	}
	return f
}

type placed struct {
	name   string
	active bool
}

func list(a tasks.Assignment) map[placed]bool {
	all := map[placed]bool{}
	for _, active := range []bool{true, false} {
		of := a.Active
		if !active {
			of = a.Standby
		}
		for _, s := range of {
			for _, p := range s.Partitions {
				all[placed{fmt.Sprintf("%s_%d", s.Subtopology, p), active}] = true
			}
		}
	}
	return all
}

// TestWhatHolds checks of many groups what the package promises of every result.
func TestWhatHolds(t *testing.T) {
	for seed := range uint64(3000) {
		c := taskstest.Generate(10_000 + seed)
		g := c.Group()
		all := tasks.Sticky(g)
		if err := check(g, all); err != nil {
			t.Fatalf("seed %d: %v\n%+v\n%v", seed, err, c, all)
		}
		shuffled := *g
		shuffled.Members = slices.Clone(g.Members)
		if again := tasks.Sticky(&shuffled); !reflect.DeepEqual(again, all) {
			t.Fatalf("seed %d: %v, and again %v", seed, all, again)
		}
	}
}

func check(g *tasks.Group, all []tasks.Assignment) error {
	active, inProcess := map[string]int{}, map[string]bool{}
	for m := range all {
		for t := range list(all[m]) {
			key := g.Members[m].Process + " " + t.name
			if inProcess[key] {
				return fmt.Errorf("twice in a process: %s", key)
			}
			inProcess[key] = true
			if t.active {
				active[t.name]++
			}
		}
	}
	want := 0
	for _, s := range g.Subtopologies {
		for p := range s.Tasks {
			want++
			if n := active[fmt.Sprintf("%s_%d", s.ID, p)]; n != 1 {
				return fmt.Errorf("%s_%d is active %d times", s.ID, p, n)
			}
		}
	}
	if len(active) != want {
		return fmt.Errorf("%d tasks are active, there are %d", len(active), want)
	}
	return nil
}

// TestNobody: without members nobody gets anything.
func TestNobody(t *testing.T) {
	if got := tasks.Sticky(&tasks.Group{Subtopologies: []tasks.Subtopology{{ID: "0", Tasks: 1}}}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestSettled: when nobody comes or goes, nothing that is active moves; of a group that has just changed it may take another time.
func TestSettled(t *testing.T) {
	for seed := range uint64(1000) {
		c := taskstest.Generate(seed)
		g := c.Group()
		all := tasks.Sticky(g)
		for range 2 {
			for m := range g.Members {
				g.Members[m].Had = all[m]
			}
			all = tasks.Sticky(g)
		}
		if f := measure(g, all); f.moved != 0 {
			t.Fatalf("seed %d: %d tasks moved", seed, f.moved)
		}
	}
}

func BenchmarkSticky(b *testing.B) {
	g := &tasks.Group{Standbys: 1, Subtopologies: []tasks.Subtopology{{ID: "0", Tasks: 3000, Stateful: true}, {ID: "1", Tasks: 3000}}}
	for i := range 1000 {
		g.Members = append(g.Members, tasks.Member{ID: fmt.Sprintf("%06d", i), Process: fmt.Sprintf("%06d", i/4)})
	}
	for b.Loop() {
		tasks.Sticky(g)
	}
}
