package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"doze/configs"
	"doze/replay"
)

// inspectCmd shows what a data directory or a running broker has.
type inspectCmd struct {
	Args    []string `arg:"" optional:"" name:"what" help:"A data directory, a journal, or the HOST:PORT of a broker on this machine (default: the default data directory); then what to show."`
	At      string   `help:"The state as of this entry or time." placeholder:"SEQ|TIME"`
	JSON    bool     `help:"Print one JSON object." name:"json" xor:"format"`
	Msgpack bool     `help:"Print one MessagePack map, the same as --json." xor:"format"`
	Check   bool     `help:"Verify the journal and every batch, without changing anything."`
	Name    string   `help:"As doze serve --name: which default data directory." placeholder:"NAME"`
	Config  string   `help:"As doze serve --config." placeholder:"FILE"`
}

// Help is shown below the flags.
func (*inspectCmd) Help() string {
	return `Reads and never writes. A directory that a broker runs on is read through the broker. What to show is any of
  ` + strings.Join(inspectNames(), ", ") + `
or all; without any it is an overview. Times are UTC, sizes in text are rounded.

With --check the exit status is 0 when all is well, 3 when the journal does not replay to the hashes in it, 4 when the
journal or a partition is damaged: see doze repair.

Examples:
  doze inspect
  doze inspect 127.0.0.1:9092 groups members offsets
  doze inspect DIR topics segments --at 4711
  doze inspect DIR --check`
}

// Run shows what was asked for.
func (c *inspectCmd) Run(kctx *kong.Context, p *process) error {
	target, names, err := splitInspectArgs(c.Args)
	if err != nil {
		return usageError{err}
	}
	if c.Check && c.At != "" {
		return usageError{errors.New("--check verifies all there is; leave out --at")}
	}
	if target == "" {
		if target, err = defaultDir(kctx, p, c.Config); err != nil {
			return err
		}
	}
	src, err := openSource(target)
	if err != nil {
		return err
	}
	defer src.close()
	if c.Check {
		return c.check(p, src)
	}
	return c.show(p, src, names)
}

// defaultDir is where doze serve with the same settings keeps its data.
func defaultDir(kctx *kong.Context, p *process, config string) (string, error) {
	g, err := gather(kctx, p, config)
	if err != nil {
		return "", usageError{err}
	}
	o, err := g.options(p.stderr)
	if err != nil {
		return "", usageError{nameDataDir(err, "")}
	}
	if o.DataDir == "" {
		return "", usageError{errors.New("a broker that keeps nothing (ephemeral) has no directory to look at; name its HOST:PORT")}
	}
	return o.DataDir, nil
}

// splitInspectArgs tells the target from the names of what to show. The first word is a name when it is one.
func splitInspectArgs(args []string) (target string, names []string, err error) {
	known := append(inspectNames(), "all")
	if len(args) > 0 && !slices.Contains(known, args[0]) {
		target, args = args[0], args[1:]
		if !isTarget(target) {
			return "", nil, fmt.Errorf("%q is neither a path that is there, nor HOST:PORT, nor one of %s%s", target, strings.Join(known, ", "), didYouMean(target, known))
		}
	}
	for _, name := range args {
		if !slices.Contains(known, name) {
			return "", nil, fmt.Errorf("there is no %q to show; there are %s%s", name, strings.Join(known, ", "), didYouMean(name, known))
		}
	}
	if slices.Contains(args, "all") {
		args = inspectNames()
	}
	return target, args, nil
}

// didYouMean asks for the nearest of the names, if one is near.
func didYouMean(name string, names []string) string {
	if nearest := configs.Nearest(name, slices.Values(names)); nearest != "" {
		return "; did you mean " + nearest + "?"
	}
	return ""
}

func isTarget(s string) bool {
	_, err := os.Stat(s)
	return err == nil || strings.ContainsAny(s, `/\`) || isAddress(s)
}

func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	return err == nil && port != ""
}

func (c *inspectCmd) show(p *process, src *source, names []string) error {
	look, err := src.look(c.At)
	if err != nil {
		return err
	}
	if look.state == nil {
		fmt.Fprintln(p.stderr, "doze:", look.replayed.Verdict)
		return exitCode(look.replayed.Status)
	}
	report, err := look.report(names)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		err = report.printJSON(p.stdout)
	case c.Msgpack:
		err = report.printMsgpack(p.stdout)
	default:
		err = report.printText(p.stdout)
	}
	if err == nil && look.replayed != nil && look.replayed.Status != replay.Replayed {
		fmt.Fprintln(p.stderr, "doze:", look.replayed.Verdict)
		return exitCode(look.replayed.Status)
	}
	return err
}
