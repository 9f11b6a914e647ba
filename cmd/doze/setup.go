package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"doze"
	"doze/names"
)

// setupCmd sets the .doze zone up, or takes it down.
type setupCmd struct {
	Name   []string `help:"A further name that every program is to find: NAME.doze. May be repeated." placeholder:"NAME"`
	Remove bool     `help:"Undo it."`
	Yes    bool     `short:"y" help:"Do not ask."`
	Root   string   `help:"Directory that stands for /: files are written there and no command is run." placeholder:"DIR"`
	System string   `hidden:"" help:"System to set up for, with --root: linux or darwin."`
}

// Help is shown below the flags.
func (*setupCmd) Help() string {
	return `It gives every broker of this machine a name and an address of its own, so that each keeps port 9092: kafka.doze, orders.doze. It
shows what it would write, asks, and writes: lines in /etc/hosts, and a rule that sends queries for names that end with .doze to doze
(systemd-resolved, dnsmasq, or /etc/resolver on macOS). docs/names.md says more. Run it as root.

Examples:
  sudo doze setup
  sudo doze setup --name orders
  sudo doze setup --remove
  doze setup --root ./look --yes`
}

// Run shows the plan, asks, and does it.
func (c *setupCmd) Run(p *process) error { return c.run(p, os.Stdin) }

func (c *setupCmd) run(p *process, answers io.Reader) error {
	zone := zoneAt(c.Root)
	if c.System != "" && c.Root != "" {
		zone.System = c.System
	}
	plan, err := c.plan(zone)
	if err != nil {
		return fmt.Errorf("plan the zone: %w", err)
	}
	showPlan(p.stdout, plan, c.Root != "")
	if len(plan.Changes) == 0 {
		fmt.Fprintln(p.stdout, "nothing is to be done")
		return nil
	}
	if !c.Yes && !agreed(p.stdout, answers) {
		return errors.New("nothing was written")
	}
	if err := plan.Write(); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%w; run it as root: %s", err, asRoot("setup"))
		}
		return err
	}
	if c.Root != "" {
		return nil
	}
	return runCommands(p, plan.Commands)
}

// rootsPath are the directories in which sudo looks for commands, as systems come.
var rootsPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// asRoot is a command of doze's as root gives it: with the program's path, where sudo would not find it by its name. One that go run
// has made is gone soon.
func asRoot(command string) string {
	program := "doze"
	path, err := os.Executable()
	if passing := strings.Contains(path, string(filepath.Separator)+"go-build"); err == nil && !passing && !slices.Contains(rootsPath, filepath.Dir(path)) {
		program = path
	}
	return "sudo " + program + " " + command
}

// zoneAt is this machine's zone, below a directory that stands for / when one is named.
func zoneAt(root string) names.Zone {
	if root == "" {
		root = string(filepath.Separator)
	}
	return names.Zone{Root: root, System: runtime.GOOS}
}

func (c *setupCmd) plan(zone names.Zone) (names.Plan, error) {
	if c.Remove {
		return zone.TakeDown()
	}
	var known map[string]addr
	if book, err := openBook(); err == nil {
		known, _ = book.Names() // a book that cannot be read is set aside by the next broker
	}
	return zone.SetUp(c.Name, known, names.IsBusy)
}

// openBook is the user's names.json, beside the data directories.
func openBook() (*names.Book, error) {
	dir, err := doze.DefaultDataDir(names.DefaultName)
	if err != nil {
		return nil, err
	}
	return names.OpenBook(filepath.Dir(dir)), nil
}

// showPlan prints every file with the lines that go and come, then the commands.
func showPlan(w io.Writer, plan names.Plan, onlyFiles bool) {
	for _, c := range plan.Changes {
		verb := "change"
		switch {
		case c.Before == nil:
			verb = "write"
		case c.After == nil:
			verb = "remove"
		}
		fmt.Fprintf(w, "%s %s: %s\n", verb, c.Path, c.Why)
		for _, line := range c.Lines() {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
	for _, command := range plan.Commands {
		if !onlyFiles {
			fmt.Fprintf(w, "run %s\n", strings.Join(command, " "))
		}
	}
	for _, note := range plan.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
}

// agreed asks.
func agreed(w io.Writer, answers io.Reader) bool {
	fmt.Fprint(w, "Do this? [y/N] ")
	line, _ := bufio.NewReader(io.LimitReader(answers, 100)).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	fmt.Fprintln(w)
	return false
}

// runCommands makes the system read what was written.
func runCommands(p *process, commands [][]string) error {
	var errs []error
	for _, words := range commands {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Stdout, cmd.Stderr = p.stdout, p.stderr
		if err := cmd.Run(); err != nil {
			errs = append(errs, fmt.Errorf("run %s: %w; the files are written: run it yourself, or start the machine again", strings.Join(words, " "), err))
		}
	}
	return errors.Join(errs...)
}
