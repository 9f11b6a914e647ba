package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"doze/disk"
	"doze/journal"
	"doze/projections"
	"doze/replay"
)

// scriptCommands are what scripts have beside testscript's own.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"await":   await,
	"produce": produce,
	"commit":  commit,
	"abort":   abortTxns,
	"repeat":  repeatLine,
	"damage":  damage,
	"newer":   newer,
	"files":   files,
	"same":    same,
	"status":  status,
	"copy":    copyTree,
	"remove":  remove,
	"empty":   empty,
}

// status N COMMAND... holds that the command ends with status N.
func status(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("status %d, not %s", code, args[0])
	}
}

// same A B holds that the two are equal.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if (args[0] == args[1]) == neg {
		ts.Fatalf("%s and %s", args[0], args[1])
	}
}

// copy FROM TO copies a directory.
func copyTree(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
}

// empty DIR holds that nothing is in the directory.
func empty(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if (len(entries) == 0) == neg {
		ts.Fatalf("%s has %v", args[0], entries)
	}
}

// remove GLOB removes what matches; there must be something.
func remove(ts *testscript.TestScript, neg bool, args []string) {
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(names) == 0 {
		ts.Fatalf("nothing is %s", args[0])
	}
	for _, name := range names {
		ts.Check(os.RemoveAll(name))
	}
}

// produce ADDR TOPIC N makes the topic with two partitions if it is not there, and writes N batches of a record each to
// partition 0.
func produce(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(args[0]), kgo.DefaultProduceTopic(args[1]), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	ts.Check(err)
	defer client.Close()
	_, _ = kadm.NewClient(client).CreateTopic(ctx, 2, 1, nil, args[1]) // it may be there
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	for i := range n {
		ts.Check(client.ProduceSync(ctx, kgo.StringRecord(fmt.Sprint("value ", i))).FirstErr())
	}
}

// commit ADDR GROUP TOPIC OFFSET commits an offset for partition 0.
func commit(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(args[0]))
	ts.Check(err)
	defer client.Close()
	offset, err := strconv.ParseInt(args[3], 10, 64)
	ts.Check(err)
	var offsets kadm.Offsets
	offsets.AddOffset(args[2], 0, offset, -1)
	ts.Check(kadm.NewClient(client).CommitAllOffsets(ctx, args[1], offsets))
}

// abort ADDR TOPIC N aborts N transactions of a record each in partition 0.
func abortTxns(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(args[0]), kgo.DefaultProduceTopic(args[1]), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.TransactionalID("txn"))
	ts.Check(err)
	defer client.Close()
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	for range n {
		ts.Check(client.BeginTransaction())
		ts.Check(client.ProduceSync(ctx, kgo.StringRecord("aborted")).FirstErr())
		ts.Check(client.EndTransaction(ctx, kgo.TryAbort))
	}
}

// repeat GLOB puts the first line of a list of aborted transactions in the place of the second.
func repeatLine(ts *testscript.TestScript, neg bool, args []string) {
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(names) != 1 {
		ts.Fatalf("%s is %d files", args[0], len(names))
	}
	b, err := os.ReadFile(names[0])
	ts.Check(err)
	copy(b[40:80], b[:40])
	ts.Check(os.WriteFile(names[0], b, 0o600))
}

// damage GLOB N changes byte N of the file that matches; from the end when N is negative.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(names) != 1 {
		ts.Fatalf("%s is %d files", args[0], len(names))
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	b, err := os.ReadFile(names[0])
	ts.Check(err)
	if n < 0 {
		n += len(b)
	}
	b[n] ^= 0x24
	ts.Check(os.WriteFile(names[0], b, 0o600))
}

// newer FILE makes a journal's file one of the next format.
func newer(ts *testscript.TestScript, neg bool, args []string) {
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	binary.LittleEndian.PutUint32(b[8:], 2)
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], crc32.MakeTable(crc32.Castagnoli)))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}

// files DIR VARIABLE sets the variable to what all files below the directory are, so that a script can hold that nothing
// was changed. What a broker's lock says counts as nothing.
func files(ts *testscript.TestScript, neg bool, args []string) {
	sum := sha256.New()
	root := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %d %x\n", strings.TrimPrefix(path, root), len(b), sha256.Sum256(b))
		return err
	}))
	ts.Setenv(args[1], fmt.Sprintf("%x", sum.Sum(nil)))
}

func TestInspectTakesTargetAndNamesApart(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args   []string
		target string
		names  int
		refuse string
	}{
		{nil, "", 0, ""},
		{[]string{dir}, dir, 0, ""},
		{[]string{"topics", "groups"}, "", 2, ""},
		{[]string{"127.0.0.1:9092", "offsets"}, "127.0.0.1:9092", 1, ""},
		{[]string{dir, "all"}, dir, len(inspectNames()), ""},
		{[]string{dir, "nothing"}, "", 0, `there is no "nothing" to show; there are broker, topics`},
		{[]string{"nothing"}, "", 0, "neither a path that is there, nor HOST:PORT, nor one of broker, topics"},
	} {
		target, names, err := splitInspectArgs(c.args)
		switch {
		case c.refuse != "":
			if err == nil || !strings.Contains(err.Error(), c.refuse) {
				t.Errorf("%q: %v", c.args, err)
			}
		case err != nil || target != c.target || len(names) != c.names:
			t.Errorf("%q: %q, %q, %v", c.args, target, names, err)
		}
	}
}

func TestInText(t *testing.T) {
	at := time.Date(2026, 11, 29, 19, 53, 28, 5e6, time.UTC).UnixMilli()
	for _, c := range []struct {
		field field
		want  string
	}{
		{field{Name: "bytes", Value: int64(1023)}, "1023 B"},
		{field{Name: "bytes", Value: int64(1536)}, "1.5 KiB"},
		{field{Name: "bytes", Value: int64(3 << 30)}, "3.0 GiB"},
		{field{Name: "created-at", Value: at}, "2026-11-29T19:53:28.005Z"},
		{field{Name: "expires-at", Value: int64(-1)}, "-"},
		{field{Name: "topic", Value: "a\x1b[1m"}, `"a\x1b[1m"`},
		{field{Name: "subscribed", Value: []string{"a", "b c"}}, `a "b c"`},
		{field{Name: "static", Value: false}, "no"},
	} {
		if got, _ := inText(c.field); got != c.want {
			t.Errorf("%v: %s, want %s", c.field, got, c.want)
		}
	}
}

// A journal whose hashes are not those of its state is told by the exit status 3.
func TestInspectCheckFindsAHashThatDiffers(t *testing.T) {
	dir := t.TempDir()
	fsys, err := disk.OpenOS(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	store, _, err := journal.Open(fsys, journal.Options{Clock: fixed{}, IDs: fixed{}}, projections.New)
	if err != nil {
		t.Fatal(err)
	}
	err = store.Update(t.Context(), journal.Timed("test"), func(tx *journal.Tx[*projections.State]) {
		tx.Emit(&journal.BrokerStarted{Version: "test"})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Update(t.Context(), journal.Timed("test"), func(tx *journal.Tx[*projections.State]) {
		tx.Emit(&journal.StateHashed{Seq: 1, Hash: [32]byte{1}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"inspect", dir, "--check"}, nil, &stdout, &stderr); code != replay.Differs || !strings.Contains(stdout.String(), "verdict          differs\n") {
		t.Errorf("exit %d\n%s%s", code, &stdout, &stderr)
	}
}

// fixed is a clock that stands, and ids that are all one.
type fixed struct{}

func (fixed) NowMillis() int64  { return 1_764_000_000_000 }
func (fixed) NewUUID() [16]byte { return [16]byte{1} }
