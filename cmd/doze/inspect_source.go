package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"doze"
	"doze/disk"
	"doze/projections"
	"doze/replay"
)

// source is where to look: files, and the broker that runs on them, if one does.
type source struct {
	dir     string // as people see it
	fs      *disk.OS
	journal string       // name of the journal in fs
	data    bool         // fs is a data directory: there may be segments
	broker  *http.Client // over the control socket; nil: none runs
	above   string       // of a journal without its data directory: that directory, when a broker runs on it
}

// openSource finds the target: a path, or the address of a broker, which is asked where its data is.
func openSource(target string) (*source, error) {
	if _, err := os.Stat(target); err != nil && isAddress(target) {
		dir, err := askForDir(target)
		if err != nil {
			return nil, err
		}
		if target, err = dir, nil; !hasControl(dir) {
			return nil, fmt.Errorf("the broker keeps its data in %s, and no doze on this machine does so; run doze inspect where the broker runs", dir)
		}
	}
	fsys, name, err := openPath(target)
	if err != nil {
		return nil, err
	}
	s := &source{dir: target, fs: fsys, journal: name, data: name == "journal"}
	if abs, err := filepath.Abs(target); err == nil {
		s.dir = abs
	}
	if !s.data && isDataDir(fsys) {
		s.data, s.journal = true, "journal" // segments whose journal is missing
	}
	if s.data && hasControl(s.dir) {
		s.broker = controlClient(s.dir)
	}
	if !s.data {
		s.above = ranBy(s.dir)
	}
	return s, nil
}

// ranBy is the data directory of a journal or of a file in it, when a broker runs there.
func ranBy(path string) string {
	for range 2 {
		path = filepath.Dir(path)
		if hasControl(path) {
			return path
		}
	}
	return ""
}

func isDataDir(fsys *disk.OS) bool {
	info, err := fsys.Stat("segments")
	return err == nil && info.IsDir()
}

func (s *source) close() { s.fs.Close() }

// askForDir asks a broker for its data directory.
func askForDir(address string) (string, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.RetryTimeout(answerLimit), kgo.RequestRetries(1))
	if err != nil {
		return "", fmt.Errorf("address %s: %w", address, err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	if err := client.Ping(ctx); keptOut(err) {
		return "", fmt.Errorf("ask the broker at %s for its data directory: it wants TLS or a login; name its data directory", address)
	} else if err != nil {
		return "", fmt.Errorf("ask the broker at %s for its data directory: %w; is it running, and is that its address?", address, err)
	}
	answers, err := kadm.NewClient(client).DescribeAllLogDirs(ctx, nil)
	if err != nil {
		return "", fmt.Errorf("ask the broker at %s for its data directory: %w; name its data directory", address, err)
	}
	for _, dirs := range answers {
		for dir := range dirs {
			return dir, nil
		}
	}
	return "", fmt.Errorf("the broker at %s does not say where its data is; name its data directory", address)
}

// answerLimit is how long a broker may take to answer.
const answerLimit = 5 * time.Second

// control opens a connection to the control socket of a directory. The path may be a link to a shorter one.
func control(ctx context.Context, dir string) (net.Conn, error) {
	path := filepath.Join(dir, doze.ControlSocket)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}

// hasControl tells whether a broker answers in the directory.
func hasControl(dir string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	conn, err := control(ctx, dir)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func controlClient(dir string) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return control(ctx, dir) }}}
}

// get asks the broker over its control socket.
func (s *source) get(query string) (*http.Response, error) {
	resp, err := s.broker.Get("http://doze" + query)
	if err != nil {
		return nil, fmt.Errorf("ask the broker on %s: %w; try again, it may have stopped just now", s.dir, err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("ask the broker on %s for %s: %s; use the version of doze that it runs", s.dir, query, resp.Status)
	}
	return resp, nil
}

// pid of the broker that runs on the directory, 0 when it cannot be seen.
func (s *source) pid() int {
	b, err := disk.ReadFile(s.fs, "lock", 32)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

// look is a state to be shown.
type look struct {
	src      *source
	state    *projections.State // nil: nothing of the journal can be folded
	seq      uint64
	time     int64 // of entry seq, ms; -1: not known
	at       bool  // it is the state as of seq, not the latest
	replayed *replay.Result
}

// look takes the state: the running broker's, or the journal's up to a bound.
func (s *source) look(at string) (*look, error) {
	if at == "" && s.broker != nil {
		return s.lookLive()
	}
	opt := replay.Options{Nearest: true}
	var err error
	if at != "" {
		if opt.Until, err = replay.ParseBound(at); err != nil {
			return nil, usageError{err}
		}
	}
	result, err := replay.Run(s.fs, s.journal, opt)
	if err != nil {
		return nil, s.explain(err)
	}
	nameDamaged(result, s.dir, s.data)
	l := &look{src: s, state: result.State, seq: max(result.LastSeq, result.Base), time: result.LastAt, at: at != "", replayed: result}
	if seq, err := strconv.ParseUint(at, 10, 64); err == nil && seq > l.seq && result.Status == replay.Replayed {
		return nil, fmt.Errorf("there is no entry %d: the journal of %s ends at entry %d", seq, s.dir, l.seq)
	}
	if result.LastSeq < result.Base || result.LastAt == 0 {
		l.time = -1
	}
	return l, nil
}

// explain adds what to do to an error of reading the journal.
func (s *source) explain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no journal (%w); name a data directory that a broker has used", s.dir, err)
	}
	return fmt.Errorf("%s: %w", s.dir, err)
}
