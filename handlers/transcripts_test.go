package handlers

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write transcripts anew")

// transcribed is what a transcript is played against.
type transcribed struct {
	run    func(command string)
	take   func() string // everything that happened since it was called last
	replay func()        // holds a replay of the journal to the state, at the end
}

// TestClassicTranscripts runs testdata/classic/*.txt: blocks of commands, "----", and everything that happened: entries
// with their events, and answers in the order in which they came. README.md beside the transcripts explains the commands.
func TestClassicTranscripts(t *testing.T) {
	runTranscripts(t, "testdata/classic", func(t *testing.T) transcribed {
		b := newGroupBench(t)
		return transcribed{run: b.run, take: b.take, replay: b.replay}
	})
}

// runTranscripts plays every transcript of a directory, each against something new.
func runTranscripts(t *testing.T, dir string, begin func(t *testing.T) transcribed) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runTranscript(t, file, begin(t)) })
	}
}

func runTranscript(t *testing.T, file string, with transcribed) {
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for i, block := range strings.Split(strings.TrimSpace(string(want)), "\n\n") {
		commands, _, ran := strings.Cut(block, "----")
		if i > 0 {
			got.WriteString("\n")
		}
		got.WriteString(strings.TrimRight(commands, "\n") + "\n")
		if !ran && strings.HasPrefix(commands, "#") {
			continue
		}
		got.WriteString("----\n")
		for _, command := range strings.Split(commands, "\n") {
			if command = strings.TrimSpace(command); command != "" && !strings.HasPrefix(command, "#") {
				with.run(command)
			}
		}
		got.WriteString(with.take())
	}
	with.replay()
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got.String() != string(want) {
		t.Errorf("transcript differs (see it with -update and git diff):\n%s", got.String())
	}
}
