package conformance

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"doze/conformance/recording"
)

// onFullDisk is what Kafka answers to the first request on a full disk, and to the second: codes, or that the connection
// was closed. doze's codes are those of TestDiskThatTakesNoWrites of handlers; where they are not Kafka's it says so.
var onFullDisk = []struct{ name, first, second, doze string }{
	{"produce-acks-1", "56", "56", ""},
	{"produce-acks-all", "56", "closed", ""},
	{"produce-acks-0", "closed", "closed", ""},
	{"offset-commit", "16", "16", ""},
	{"join-group", "closed", "gone", "16"}, // a group's first generation is written: the broker ends on the way
	{"sync-group", "16", "27", "16"},
	{"leave-group", "16", "25", "16"}, // told that nothing was done, and then that it was
	{"heartbeat", "0", "0", ""},
	{"create-topics", "0", "36", "56"},
	{"metadata-that-creates", "3", "3", ""},
	{"delete-topics", "0", "3", "56"},
	{"create-partitions", "0", "37", "56"},
	{"incremental-alter-configs", "0", "0", "56"},
	{"delete-records", "0", "56", "56"},
	{"delete-groups", "16", "closed", "56"},
	{"offset-delete", "16", "closed", "56"},
	{"init-producer-id", "0", "0", ""}, // of the ids that the broker has in hand
	{"init-producer-id-transactional", "16", "closed", ""},
	{"add-partitions-to-txn", "16", "closed", ""},
	{"add-offsets-to-txn", "16", "16", ""},
	{"end-txn", "16", "16", ""},
	{"consumer-group-heartbeat", "closed", "gone", "16"},
}

var answeredCode = regexp.MustCompile(`"ErrorCode":(-?[0-9]+)`)

// TestFullDisk: the recordings of cmd/fulldisk say what the table says.
func TestFullDisk(t *testing.T) {
	scenarios, names := map[string]Scenario{}, map[string]bool{}
	for _, s := range FullDiskScenarios() {
		scenarios[s.Name] = s
	}
	for _, row := range onFullDisk {
		name := "full-disk-" + row.name
		names[name] = true
		rec, err := recording.Load(filepath.Join("recordings", "full-disk"), name)
		if err != nil {
			t.Error(err)
			continue
		}
		if scenarios[name].Claim != rec.Claim {
			t.Errorf("%s: the recording is of another scenario: %s", name, rec.Claim)
		}
		if first, second := outcome(t, rec, "first"), outcome(t, rec, "second"); first != row.first || second != row.second {
			t.Errorf("%s: Kafka answers %s, then %s; the table says %s, then %s", name, first, second, row.first, row.second)
		}
	}
	for name := range scenarios {
		if !names[name] {
			t.Errorf("%s is not in the table", name)
		}
	}
}

// outcome is the worst code of a step's answer, or "closed", or "gone" when the broker was no more.
func outcome(t *testing.T, rec *recording.Recording, step string) string {
	t.Helper()
	for _, s := range rec.Steps {
		if s.Name != step && s.Name != step+", what follows" || s.Outcome == "no answer" {
			continue
		}
		if s.Outcome != "" {
			return s.Outcome
		}
		text, err := recording.Object(s.Answer).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		worst := "gone"
		for _, m := range answeredCode.FindAllStringSubmatch(strings.ReplaceAll(string(text), " ", ""), -1) {
			if worst == "gone" || worst == "0" {
				worst = m[1]
			}
		}
		return worst
	}
	return fmt.Sprint("no step ", step)
}
