package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"doze"
	"doze/configs"
	"doze/disk"
	"doze/journal"
	"doze/replay"
)

// replayCmd runs a journal again.
type replayCmd struct {
	Path   string   `arg:"" optional:"" help:"A journal file, or a data directory. Default: the default data directory."`
	JSON   bool     `help:"Print JSON lines." name:"json"`
	From   string   `help:"Print from this entry or time on." placeholder:"SEQ|TIME"`
	Until  string   `help:"Stop after this entry or time." placeholder:"SEQ|TIME"`
	Grep   []string `help:"Print only entries with this field, such as group=g1, topic=orders or kind=TopicCreated. May be repeated: all must hold." placeholder:"KEY=VALUE" sep:"none"`
	Check  bool     `help:"Hold the invariants of the state after each entry, and every snapshot against the fold."`
	Dump   []string `help:"Print these tables of the state at the end, or all." placeholder:"TABLE"`
	Diff   string   `help:"Compare with another journal: the first entry that differs, and the states." placeholder:"PATH"`
	Stats  bool     `help:"Count entries and bytes by kind."`
	Name   string   `help:"As doze serve --name: which default data directory." placeholder:"NAME"`
	Config string   `help:"As doze serve --config." placeholder:"FILE"`
}

// Help is shown below the flags.
func (*replayCmd) Help() string {
	return `Reads and never writes; a running broker's journal may be read too.
The exit status is 0 when the journal replays and its hashes agree, 3 when something differs or an entry does not fit,
4 when the journal is damaged.

Examples:
  doze replay
  doze replay ~/.local/state/doze/kafka
  doze replay journal.log --grep group=g1 --json
  doze replay DIR --until 2026-11-29T19:53:28Z --dump topics --dump offsets
  doze replay DIR --check`
}

// Run prints what the flags ask for; the verdict goes to stderr and into the exit status.
func (c *replayCmd) Run(kctx *kong.Context, p *process) error {
	opt, err := c.options(p)
	if err != nil {
		return usageError{err}
	}
	if c.Path == "" {
		if c.Path, err = defaultDir(kctx, p, c.Config); err != nil {
			return err
		}
	}
	fsys, name, err := openPath(c.Path)
	if err != nil {
		return err
	}
	defer fsys.Close()
	if c.Diff == "" {
		result, err := replay.Run(fsys, name, opt)
		if err == nil {
			nameDamaged(result, fsys.Path(), name == "journal")
			result.Notes = append(result.Notes, c.unmatched(result, opt.Print)...)
		}
		return verdict(p.stderr, result, err)
	}
	other, otherName, err := openPath(c.Diff)
	if err != nil {
		return err
	}
	defer other.Close()
	result, err := replay.Diff(replay.Journal{FS: fsys, Name: name}, replay.Journal{FS: other, Name: otherName}, opt)
	return verdict(p.stderr, result, err)
}

func (c *replayCmd) options(p *process) (opt replay.Options, err error) {
	var errs [3]error
	opt = replay.Options{Check: c.Check, Dump: c.Dump, AsJSON: c.JSON, Stats: c.Stats, Out: p.stdout, Progress: progress(p.stderr)}
	if c.From != "" {
		opt.From, errs[0] = replay.ParseBound(c.From)
	}
	if c.Until != "" {
		opt.Until, errs[1] = replay.ParseBound(c.Until)
	}
	errs[2] = replay.CheckTables(c.Dump)
	for _, text := range c.Grep {
		match, err := replay.ParseMatch(text)
		if err != nil {
			return opt, err
		}
		opt.Grep = append(opt.Grep, match)
	}
	switch {
	case c.JSON && len(c.Dump) == 0 && !c.Stats:
		opt.Print = replay.JSON
	case len(c.Dump) == 0 && !c.Stats && !(c.Check && c.From == "" && len(c.Grep) == 0):
		opt.Print = replay.Text
	}
	return opt, errors.Join(errs[:]...)
}

// openPath gives the file system around a path, and the path's name in it. What is not there is not made.
func openPath(path string) (*disk.OS, string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", fmt.Errorf("%w; name a journal file or a data directory", err)
	}
	dir, name := path, "."
	if !info.IsDir() {
		dir, name = filepath.Split(path)
		if dir == "" {
			dir = "."
		}
	} else if journals, _ := filepath.Glob(filepath.Join(path, "*.journal")); len(journals) == 0 && filepath.Base(path) != "journal" {
		if err := doze.MustBeDataDir(path); err != nil {
			return nil, "", err
		}
	}
	fsys, err := disk.OpenOS(dir)
	if err != nil {
		return nil, "", err
	}
	located, err := replay.Locate(fsys, name)
	if err != nil {
		return nil, "", errors.Join(err, fsys.Close())
	}
	return fsys, located, nil
}

// nameDamaged says in a verdict on damage which data directory is to be repaired.
func nameDamaged(result *replay.Result, dir string, data bool) {
	if data && result.Damage != nil && result.Status == replay.Damaged {
		result.Damage.Dir = dir
		result.Verdict = result.Damage.Error()
	}
}

// unmatched says why nothing was printed, when conditions left nothing over: where a kind is asked for, which ones there are.
func (c *replayCmd) unmatched(result *replay.Result, printed replay.Format) []string {
	if len(c.Grep) == 0 || printed == replay.Silent && !c.Stats || result.Matched > 0 {
		return nil
	}
	notes := []string{fmt.Sprintf("0 of %d events matched --grep %s", result.Events, strings.Join(c.Grep, " --grep "))}
	for _, text := range c.Grep {
		kind, isKind := strings.CutPrefix(text, "kind=")
		if !isKind || slices.ContainsFunc(result.Kinds, func(there string) bool { return strings.EqualFold(there, kind) }) {
			continue
		}
		note := "there is no event of kind " + journal.Quoted(kind)
		if nearest := configs.Nearest(kind, slices.Values(result.Kinds)); nearest != "" {
			note += ", did you mean " + nearest + "?"
		}
		notes = append(notes, note+"; there are "+strings.Join(result.Kinds, ", "))
	}
	return notes
}

// verdict says on stderr how a replay ended, and gives its exit status.
func verdict(w io.Writer, result *replay.Result, err error) error {
	if err != nil {
		return err
	}
	fmt.Fprintln(w, result)
	if result.Status != replay.Replayed {
		return exitCode(result.Status)
	}
	return nil
}

// progress shows how far a long journal has been read, on a terminal and in a log alike: a line for every tenth.
func progress(w io.Writer) func(done, total int64) {
	const worthIt = 64 << 20
	told := int64(0)
	return func(done, total int64) {
		if total < worthIt || done*10/total == told {
			return
		}
		told = done * 10 / total
		fmt.Fprintf(w, "read %d of %d MiB\n", done>>20, total>>20)
	}
}
