package schedules

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Recorded is the outcomes of one protocol, by seed.
type Recorded map[uint64][]string

func fileOf(dir string, protocol Protocol) string {
	return filepath.Join(dir, fmt.Sprintf("v%d.txt", protocol))
}

// LoadRecorded reads what Kafka answered.
func LoadRecorded(dir string, protocol Protocol) (Recorded, error) {
	text, err := os.ReadFile(fileOf(dir, protocol))
	if err != nil {
		return nil, err
	}
	all := Recorded{}
	for _, part := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		lines := strings.Split(part, "\n")
		var seed uint64
		if _, err := fmt.Sscanf(lines[0], "seed %d", &seed); err != nil {
			return nil, fmt.Errorf("read %s: the line %q begins no schedule", fileOf(dir, protocol), lines[0])
		}
		all[seed] = lines[1:]
	}
	return all, nil
}

// Save writes outcomes, in the order in which they are given.
func Save(dir string, protocol Protocol, outcomes []*Outcome) error {
	var b bytes.Buffer
	for i, o := range outcomes {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "seed %d\n%s\n", o.Seed, strings.Join(o.Lines, "\n"))
	}
	return os.WriteFile(fileOf(dir, protocol), b.Bytes(), 0o644)
}

// Compare tells the first line in which an outcome is another than what was recorded; "" when there is none.
func Compare(recorded, got []string) string {
	for i := range max(len(recorded), len(got)) {
		want, have := "(nothing)", "(nothing)"
		if i < len(recorded) {
			want = recorded[i]
		}
		if i < len(got) {
			have = got[i]
		}
		if want != have {
			return fmt.Sprintf("line %d: Kafka %q, here %q", i+1, want, have)
		}
	}
	return ""
}
