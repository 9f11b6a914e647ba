package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"doze"
	"doze/names"
)

// doctorCmd takes those flags of serve that decide what the broker needs of the machine.
type doctorCmd struct {
	Listen     []string `help:"As doze serve --listen." placeholder:"ADDR" sep:"none"`
	Advertise  []string `help:"As doze serve --advertise." placeholder:"HOST:PORT" sep:"none"`
	Name       string   `help:"As doze serve --name." placeholder:"NAME"`
	DataDir    string   `help:"As doze serve --data-dir." placeholder:"DIR"`
	Set        []string `help:"As doze serve --set." placeholder:"NAME=VALUE" sep:"none"`
	Properties []string `help:"As doze serve --properties." placeholder:"FILE" sep:"none"`
	ZoneRoot   string   `hidden:"" help:"As doze serve --zone-root." placeholder:"DIR"`
	Config     string   `help:"As doze serve --config." placeholder:"FILE"`
	JSON       bool     `help:"Print a JSON array instead of lines." name:"json"`
}

// Help is shown below the flags.
func (*doctorCmd) Help() string {
	return `It looks at the names and ports, the disk, the limit of open files, the clock and the data directory, changes nothing, and exits
with 1 when something keeps the broker from running.

Examples:
  doze doctor
  doze doctor --data-dir ./state --listen 127.0.0.1:9192`
}

// finding is one thing that was looked at: "ok", "warn" or "fail", and for the latter two what to do.
type finding struct {
	Level string `json:"level"`
	What  string `json:"what"`
	Mend  string `json:"mend,omitempty"`
}

func fine(format string, args ...any) finding {
	return finding{Level: "ok", What: fmt.Sprintf(format, args...)}
}

// Run looks and tells.
func (c *doctorCmd) Run(kctx *kong.Context, p *process) error {
	g, err := gather(kctx, p, c.Config)
	if err != nil {
		return usageError{err}
	}
	o, err := g.options(io.Discard)
	if err != nil {
		return usageError{nameDataDir(err, " with --data-dir")}
	}
	findings := examineZone(g, &o, zoneAt(c.ZoneRoot))
	if runs, yes := alreadyRuns(o); yes {
		findings = append(append([]finding{runs}, findings...), examineMachine(o)...)
	} else {
		findings = append(findings, examine(o)...)
	}
	if err := printFindings(p.stdout, c.JSON, findings); err != nil {
		return err
	}
	for _, f := range findings {
		if f.Level == "fail" {
			return exitCode(exitError)
		}
	}
	return nil
}

func printFindings(w io.Writer, asJSON bool, findings []finding) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(findings)
	}
	for _, f := range findings {
		line := fmt.Sprintf("%-5s %s", f.Level, f.What)
		if f.Mend != "" {
			line += "\n      " + f.Mend
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// alreadyRuns finds the very broker that these options would start. What it has is in nobody's way.
func alreadyRuns(o doze.Options) (finding, bool) {
	book, err := openBook()
	if err != nil || o.Ephemeral {
		return finding{}, false
	}
	live, _ := book.Live() // a list that cannot be read is none
	for _, i := range live {
		if !hasDir(i, o.DataDir) || i.Kafka != o.Listeners[0].Address {
			continue
		}
		what := fmt.Sprintf("this broker runs already, with pid %d: clients at %s", i.PID, i.Kafka)
		for _, web := range [][2]string{{"registry", i.Registry}, {"console", i.Console}} {
			if web[1] != "" {
				what += ", " + web[0] + " at " + web[1]
			}
		}
		return fine("%s", what), true
	}
	return finding{}, false
}

// hasDir says whether a broker's data is in the directory.
func hasDir(i names.Instance, dir string) bool {
	has, err := os.Stat(i.DataDir)
	if err != nil || i.DataDir == "" {
		return false
	}
	wanted, err := os.Stat(dir)
	return err == nil && os.SameFile(has, wanted)
}

func examine(o doze.Options) []finding {
	var all []finding
	for _, l := range o.Listeners {
		all = append(all, examinePort(l.Address))
	}
	if o.SchemaRegistry != "" {
		all = append(all, examineWeb("schema registry", "schema-registry", o.SchemaRegistry, o.SchemaRegistryMayLack))
	}
	if o.Console != "" {
		all = append(all, examineWeb("console", "console", o.Console, o.ConsoleMayLack))
	}
	if !o.Ephemeral {
		all = append(all, examineDir(o.DataDir))
	}
	return append(all, examineMachine(o)...)
}

// examineMachine looks at what a broker needs that runs already, too.
func examineMachine(o doze.Options) []finding {
	if o.Ephemeral {
		return []finding{examineFiles()}
	}
	return []finding{examineClock(o.DataDir, time.Now()), examineDisk(existingParent(o.DataDir)), examineFiles()}
}

// examinePort tries to listen, and finds who does when that fails.
func examinePort(address string) finding {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		return examineSocket(path)
	}
	l, err := net.Listen("tcp", address)
	if err == nil {
		l.Close()
		return fine("%s is free", address)
	}
	_, port, _ := net.SplitHostPort(address)
	if holder := portHolder(port); holder != "" {
		return finding{"fail", fmt.Sprintf("%s is in use by %s", address, holder), "end that process, or choose another port with --listen"}
	}
	return finding{"fail", fmt.Sprintf("%s cannot be listened on: %v", address, err), "choose another address with --listen"}
}

// examineWeb looks at the port of the schema registry or the console; one that nobody asked for is missed, but keeps nothing from
// running.
func examineWeb(what, flag, address string, mayLack bool) finding {
	f := examinePort(address)
	f.What = what + ": " + f.What
	if f.Level == "fail" {
		f.Mend = fmt.Sprintf("end that process, or choose another port with --%s-addr, or --%s=false", flag, flag)
		if mayLack {
			f.Level = "warn"
		}
	}
	return f
}

func examineSocket(path string) finding {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fine("socket %s is free", path)
	case info.Mode()&fs.ModeSocket == 0:
		return finding{"fail", path + " is there and is no socket", "choose another path with --listen"}
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return finding{"fail", "socket " + path + " is in use", "end the process that listens on it, or choose another path with --listen"}
	}
	return finding{"warn", "socket " + path + " is left over from a process that ended", "remove it"}
}

// examineDir looks at the data directory without changing it.
func examineDir(dir string) finding {
	info, err := os.Stat(dir)
	if os.IsNotExist(err) {
		parent := existingParent(dir)
		if !writable(parent) {
			return finding{"fail", fmt.Sprintf("data directory %s cannot be made: %s is not writable", dir, parent), "choose another one with --data-dir"}
		}
		return fine("data directory %s will be made", dir)
	}
	switch {
	case err != nil:
		return finding{"fail", fmt.Sprintf("data directory: %v", err), "choose another one with --data-dir"}
	case !info.IsDir():
		return finding{"fail", "data directory " + dir + " is a file", "choose another one with --data-dir"}
	case !writable(dir):
		return finding{"fail", "data directory " + dir + " is not writable", "run chmod u+rwx on it, or choose another one with --data-dir"}
	}
	if holder := dirHolder(dir); holder != "" {
		return finding{"fail", fmt.Sprintf("data directory %s is in use by %s", dir, holder), "stop that broker, or start this one with another --name or --data-dir"}
	}
	if err := doze.CheckDataDir(dir); err != nil {
		return finding{"fail", err.Error(), "until then the broker does not start on it; another one is chosen with --data-dir"}
	}
	return fine("data directory %s is there, writable and whole", dir)
}

// existingParent is the nearest directory above the path that is there.
func existingParent(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return "."
	}
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// clockSlack is how far ahead a file's time may be before the clock counts as wrong.
const clockSlack = 5 * time.Second

// examineClock compares the clock with the newest file of the journal: times in a journal never go back.
func examineClock(dir string, now time.Time) finding {
	newest := time.Time{}
	entries, _ := os.ReadDir(filepath.Join(dir, "journal"))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	if newest.After(now.Add(clockSlack)) {
		return finding{"warn", fmt.Sprintf("the clock says %s, the journal was last written at %s", now.Format(time.RFC3339), newest.Format(time.RFC3339)),
			"set the clock; until then new records and entries carry the journal's last time"}
	}
	if now.Year() < 2020 {
		return finding{"warn", "the clock says " + now.Format(time.RFC3339), "set the clock"}
	}
	return fine("the clock says %s", now.UTC().Format(time.RFC3339))
}

const (
	diskFew  = 1 << 30 // warn below
	filesFew = 4096    // warn below
)

func examineDisk(dir string) finding {
	free, err := diskFree(dir)
	switch {
	case err != nil:
		return finding{"warn", fmt.Sprintf("free space of %s: %v", dir, err), "see that some is left"}
	case free < diskFew:
		return finding{"warn", fmt.Sprintf("%d MiB are free on the disk of %s", free>>20, dir), "free some, or choose another disk with --data-dir"}
	}
	return fine("%d MiB are free on the disk of %s", free>>20, dir)
}

func examineFiles() finding {
	limit, err := openFilesMax()
	switch {
	case err != nil:
		return finding{"warn", fmt.Sprintf("limit of open files: %v", err), "see that it is 4096 or more"}
	case limit < filesFew:
		return finding{"warn", fmt.Sprintf("only %d files may be open at once", limit), "raise the hard limit: ulimit -Hn 65536"}
	}
	return fine("%d files may be open at once", limit)
}
