package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"doze": main})
}

// TestScripts runs the command as a person does.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			return os.MkdirAll(e.WorkDir+"/state", 0o700)
		},
		Cmds: scriptCommands,
	})
}

const patience = 20 * time.Second

// await FILE VARIABLE waits until the file has a ready line, and sets the variable to where Kafka's clients go.
func await(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if text, _ := os.ReadFile(ts.MkAbs(args[0])); strings.HasSuffix(string(text), "\n") {
			address, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(text)), "ready kafka="), " ")
			ts.Setenv(args[1], address)
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s has no line", args[0])
		}
	}
}

func TestHealth(t *testing.T) {
	h, err := listenHealth("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.serve()
	resp, err := http.Get(h.url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || string(body) != "ok\n" {
		t.Errorf("healthz: %s %q, %v", resp.Status, body, err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(h.url); err == nil {
		t.Error("it answers after Close")
	}
	if none, err := listenHealth(""); err != nil || none.Close() != nil {
		t.Errorf("no address: %v", err)
	}
}

func TestVersionNamesTheCommitOnce(t *testing.T) {
	for _, c := range []struct {
		version, commit string
		dirty           bool
		want            string
	}{
		{"development", "", false, "development"},
		{"development", "0123456789ab", true, "development 0123456789ab with changes"},
		{"v1.2.3", "0123456789ab", false, "v1.2.3 0123456789ab"},
		{"v0.0.0-20261129000000-0123456789ab+dirty", "0123456789ab", true, "v0.0.0-20261129000000-0123456789ab with changes"},
	} {
		if got := versionText(c.version, c.commit, c.dirty); got != c.want {
			t.Errorf("%s: %s", c.want, got)
		}
	}
}

// TestGrammarIsOfTheNamedCommand: every command is found by its word alone, and a word that is none leaves all of them.
func TestGrammarIsOfTheNamedCommand(t *testing.T) {
	all, err := kong.New(grammar("nothing"))
	if err != nil || len(all.Model.Children) < 10 {
		t.Fatalf("%v; %d commands", err, len(all.Model.Children))
	}
	for _, command := range all.Model.Children {
		one, err := kong.New(grammar(command.Name))
		if err != nil || len(one.Model.Children) != 1 || one.Model.Children[0].Help != command.Help {
			t.Errorf("%s: %v; %d commands", command.Name, err, len(one.Model.Children))
		}
	}
}
