package quotas

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the transcripts anew")

// TestTranscripts plays testdata/*.txt: a line that begins with > is what the line before it came to.
//
//	windows rate|bucket COUNT SECONDS           a meter
//	limit user|client|both [USER] [CLIENT] N    a limit; * is the default, - takes it away
//	at MS                                       the time
//	use USER CLIENT N                           Record: how long to wait
//	fetch USER CLIENT N                         Record, and Unrecord when it is to wait
//	try USER CLIENT N                           TryTake
//	most USER CLIENT                            Most
//	scopes                                      how many there are
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := playTranscript(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("came to\n%s", got)
			}
		})
	}
}

type script struct {
	t      *testing.T
	meter  *Meter
	limits map[Entity]float64
	now    int64
}

func playTranscript(t *testing.T, text string) string {
	s := &script{t: t, limits: map[Entity]float64{}}
	var out strings.Builder
	in := bufio.NewScanner(strings.NewReader(text))
	for in.Scan() {
		line := in.Text()
		if strings.HasPrefix(line, ">") {
			continue
		}
		fmt.Fprintln(&out, line)
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			if result := s.do(words); result != "" {
				fmt.Fprintln(&out, ">", result)
			}
		}
	}
	return out.String()
}

func (s *script) do(w []string) string {
	for i := range w {
		w[i] = strings.Trim(w[i], `"`) // "" is an empty name
	}
	switch w[0] {
	case "windows":
		windows := Windows{Count: int(s.number(w[2])), Size: int64(s.number(w[3])) * 1000}
		s.meter, s.limits = NewRate(windows), map[Entity]float64{}
		if w[1] == "bucket" {
			s.meter = NewBucket(windows)
		}
	case "limit":
		s.limit(w[1], w[2:])
	case "at":
		s.now = int64(s.number(w[1]))
	case "use":
		return fmt.Sprint(s.meter.Record(w[1], w[2], s.number(w[3]), s.now))
	case "fetch":
		wait := s.meter.Record(w[1], w[2], s.number(w[3]), s.now)
		if wait > 0 {
			s.meter.Unrecord(w[1], w[2], s.number(w[3]), s.now)
		}
		return fmt.Sprint(wait)
	case "try":
		return fmt.Sprint(s.meter.TryTake(w[1], w[2], s.number(w[3]), s.now))
	case "most":
		return fmt.Sprint(s.meter.Most(w[1], w[2]))
	case "scopes":
		return fmt.Sprint(len(s.meter.gauges))
	default:
		s.t.Fatalf("no such command: %v", w)
	}
	return ""
}

func (s *script) limit(kind string, w []string) {
	var e Entity
	if kind != "client" {
		e.User, w = nameOf(w[0]), w[1:]
	}
	if kind != "user" {
		e.Client, w = nameOf(w[0]), w[1:]
	}
	if w[0] == "-" {
		delete(s.limits, e)
	} else {
		s.limits[e] = s.number(w[0])
	}
	of := map[Entity]float64{}
	for e, l := range s.limits {
		of[e] = l
	}
	s.meter.SetLimits(NewLimits(of))
}

func nameOf(s string) Name {
	if s == "*" {
		return byDefault
	}
	return named(s)
}

func (s *script) number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
