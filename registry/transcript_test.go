package registry

import (
	"bytes"
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"doze/disk"
	"doze/journal"
	"doze/projections"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/transcripts")

// harness is a registry over a journal in memory.
type harness struct {
	tb    testing.TB
	fs    *disk.Mem
	now   atomic.Int64 // ms: one more with every request
	ids   byte
	store *journal.Store[*projections.State]
	*Registry
}

func (h *harness) NowMillis() int64 { return h.now.Load() }

func (h *harness) NewUUID() [16]byte { h.ids++; return [16]byte{h.ids} }

func newHarness(tb testing.TB) *harness {
	tb.Helper()
	h := &harness{tb: tb, fs: disk.NewMem()}
	h.now.Store(1_764_444_798_000)
	h.open()
	tb.Cleanup(h.close)
	return h
}

func (h *harness) open() {
	h.tb.Helper()
	store, _, err := journal.Open(h.fs, journal.Options{Clock: h, IDs: h}, projections.New)
	if err != nil {
		h.tb.Fatal(err)
	}
	h.store = store
	h.Registry = New(Options{Store: store, Report: func(err error) { h.tb.Errorf("reported: %v", err) }})
}

// restart closes the journal and opens it again: the state must be the same, and hold together.
func (h *harness) restart() {
	h.tb.Helper()
	before := rows(h.tb, h.view())
	if err := h.store.Close(); err != nil {
		h.tb.Fatal(err)
	}
	h.open()
	if after := rows(h.tb, h.view()); !slices.EqualFunc(before, after, bytes.Equal) {
		h.tb.Errorf("rows after a restart are\n%q\nwere\n%q", after, before)
	}
	if err := h.view().Check(); err != nil {
		h.tb.Error(err)
	}
}

func (h *harness) close() {
	h.restart()
	if err := h.store.Close(); err != nil {
		h.tb.Error(err)
	}
}

func rows(tb testing.TB, s *projections.State) (all [][]byte) {
	tb.Helper()
	if err := s.Rows(func(row []byte) error { all = append(all, bytes.Clone(row)); return nil }); err != nil {
		tb.Fatal(err)
	}
	return all
}

// do sends one request and gives the status and the body.
func (h *harness) do(method, path, body string, headers ...string) (int, string) {
	h.tb.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, "http://registry"+path, strings.NewReader(body))
	if err != nil {
		h.tb.Fatalf("%s %s: %v", method, path, err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.RequestURI = path // as a server has it; kept answers are found by it
	w := httptest.NewRecorder()
	h.now.Add(1)
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// Transcripts: a request a line, below it the answer. "#" begins a comment, "restart" opens the journal anew.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d transcripts: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := newHarness(t).play(string(raw))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(raw) {
				t.Errorf("the answers are\n%s", difference(string(raw), got))
			}
		})
	}
}

func (h *harness) play(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		method, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "restart":
			h.restart()
		case method == "" || method[0] == '#' || method == "HEAD":
		case method[0] >= 'A' && method[0] <= 'Z':
			path, body, _ := strings.Cut(rest, " ")
			status, answer := h.do(method, path, body)
			b.WriteString(line + "\n" + strconv.Itoa(status) + " " + strings.ReplaceAll(answer, "\n", `\n`) + "\n")
			continue
		default:
			continue // an answer of before
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// difference shows the lines that are not the same.
func difference(want, got string) string {
	var b strings.Builder
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		at := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return ""
		}
		if at(w) != at(g) {
			b.WriteString(at(g[:i]) + "line " + strconv.Itoa(i+1) + " " + at(g) + "\nwant   " + at(w) + "\n")
		}
	}
	return b.String()
}
