package schedules

import (
	"context"
	"fmt"
	"testing"

	"doze"
)

// seeds of a test: enough to be broad, and done in seconds. The command plays all that are recorded, and any other.
const seeds = 40

func start(t *testing.T) string {
	t.Helper()
	b, err := doze.New(doze.Options{DataDir: t.TempDir(), Listeners: []doze.Listener{{Address: "127.0.0.1:0"}}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- b.Run(context.Background()) }()
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return b.Addr()
}

// By the first protocol late requests have the effects that they have at Kafka; by the second none on other transactions.
func TestSchedulesEndAsKafkas(t *testing.T) {
	addr := start(t)
	for _, protocol := range []Protocol{V1, V2} {
		recorded, err := LoadRecorded("recorded", protocol)
		if err != nil {
			t.Fatal(err)
		}
		for seed := uint64(1); seed <= seeds; seed++ {
			t.Run(fmt.Sprintf("v%d/%d", protocol, seed), func(t *testing.T) {
				t.Parallel()
				got, err := Play(addr, protocol, seed)
				if err != nil {
					t.Fatal(err)
				}
				for _, fault := range got.Faults {
					t.Error(fault)
				}
				if difference := Compare(recorded[seed], got.Lines); difference != "" {
					t.Error(difference)
				}
			})
		}
	}
}

// The judge of the second protocol finds what a late request could do to another transaction.
func TestTheJudgeFindsEverySpoiledPartition(t *testing.T) {
	s := &schedule{protocol: V2, clients: []*producer{
		{name: "A", committed: []sent{{0, "A1.0"}, {0, "A3.0"}, {1, "A3.1"}}}, {name: "B", committed: []sent{{0, "B1.0"}}},
	}}
	if faults := s.judge(0, []string{"A1.0", "B1.0", "A3.0"}); len(faults) > 0 {
		t.Fatalf("a good partition has faults: %q", faults)
	}
	for name, got := range map[string][]string{
		"a record twice":                 {"A1.0", "A1.0", "B1.0", "A3.0"},
		"a record of an aborted one":     {"A1.0", "A2.0", "B1.0", "A3.0"},
		"a record lost":                  {"A1.0", "B1.0"},
		"records in another order":       {"A3.0", "B1.0", "A1.0"},
		"a record of another partition":  {"A1.0", "A3.1", "B1.0", "A3.0"},
		"the whole of a producer's lost": {"A1.0", "A3.0"},
		"nothing":                        {},
	} {
		if len(s.judge(0, got)) == 0 {
			t.Errorf("%s was not found", name)
		}
	}
	if Compare([]string{"a", "b"}, []string{"a"}) == "" || Compare([]string{"a"}, []string{"a", "b"}) == "" || Compare([]string{"a"}, []string{"b"}) == "" {
		t.Error("two outcomes that differ are taken for the same")
	}
}
