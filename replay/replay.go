package replay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"doze/disk"
	"doze/journal"
	"doze/projections"
)

// Format is how entries are printed.
type Format int

const (
	Silent Format = iota
	Text          // a line an event
	JSON          // a line an entry
)

// Options of Run. The zero value folds the whole journal and prints nothing.
type Options struct {
	From    Bound // print from here on; the fold begins at the beginning all the same
	Until   Bound // stop after this
	Grep    []Match
	Print   Format
	Check   bool     // hold State.Check after the entries, and every snapshot against the fold
	Dump    []string // tables to print at the end; see Tables
	AsJSON  bool     // Dump and Stats as JSON lines
	Stats   bool
	Nearest bool // read from the newest snapshot at or before Until on: quicker, for who wants only the state
	Out     io.Writer
	// Progress is called every few thousand entries with bytes done and in all.
	Progress func(done, total int64)
}

// Tables lists the names that Dump takes.
func Tables() []string { return projections.Tables() }

// Locate says what to read for a name that a person gave: a journal file or a journal's directory is itself, of a data
// directory it is the journal inside.
func Locate(fsys disk.FS, name string) (string, error) {
	info, err := fsys.Stat(name)
	if err != nil {
		return "", fmt.Errorf("find journal: %w", err)
	}
	inside := path.Join(name, "journal")
	if info.IsDir() {
		if info, err := fsys.Stat(inside); err == nil && info.IsDir() {
			return inside, nil
		}
	}
	return name, nil
}

// run is one Run under way.
type run struct {
	from   Journal
	opt    Options
	out    *bufio.Writer
	r      *journal.Reader
	res    *Result
	fold   *fold
	topics topicNames
	stats  *stats
	kinds  map[journal.Kind]bool // seen, when some are picked out
	last   uint64                // last entry read, shown or not
	ended  bool                  // it is the journal's last
	line   []byte
}

// Run replays the journal in a directory or of one file. What the journal is worth is in the result; an error is about
// reading or writing, or (*journal.NewerError, *journal.UnknownKindError, journal.ErrMissing) a journal that this version
// cannot read.
func Run(fsys disk.FS, name string, opt Options) (*Result, error) {
	if opt.Out == nil {
		opt.Out = io.Discard
	}
	res, err := runOnce(fsys, name, opt)
	if errors.Is(err, errForeignSnapshot) && opt.Nearest {
		opt.Nearest = false // nothing has been printed: what lies before the snapshot is not shown
		res, err = runOnce(fsys, name, opt)
	}
	return res, err
}

func runOnce(fsys disk.FS, name string, opt Options) (*Result, error) {
	x := &run{from: Journal{fsys, name}, opt: opt, res: &Result{}, topics: topicNames{}, out: bufio.NewWriterSize(opt.Out, 64<<10)}
	var err error
	if x.r, err = journal.OpenReader(fsys, name); err != nil {
		return x.res, x.verdict(err)
	}
	defer x.r.Close()
	if opt.Stats {
		x.stats = newStats()
	}
	if len(opt.Grep) > 0 {
		x.kinds = map[journal.Kind]bool{}
	}
	if err := x.begin(); err != nil {
		return x.res, err
	}
	x.res.FirstSeq, x.res.ClusterID = x.r.FirstSeq(), x.r.ClusterID()
	if err := x.verdict(x.entries()); err != nil {
		return x.res, err
	}
	return x.res, x.end()
}

// begin finds the state that the fold begins with.
func (x *run) begin() error {
	base, err := findBase(x.r, x.from, x.opt)
	if err != nil {
		return err
	}
	x.res.Notes = append(x.res.Notes, base.notes...)
	if base.state == nil {
		return nil
	}
	if x.opt.Nearest {
		x.r.StartAfter(base.at)
	}
	if base.at.Seq > 0 && !x.r.Continues(base.at) {
		return errForeignSnapshot
	}
	x.fold = newFold(x.r, x.res, base, x.opt.Check)
	x.res.Base = base.at.Seq
	x.topics.ofState(base.state)
	return nil
}

// entries reads, folds and prints until the end or what stops it. The error is the reader's or the printer's.
func (x *run) entries() error {
	for n := 1; ; n++ {
		entry, err := x.r.Next()
		if err == io.EOF && x.last < x.res.Base {
			return errForeignSnapshot
		} else if err != nil {
			return err
		}
		x.last = entry.Seq
		if x.opt.Until.before(entry) {
			return errCut
		}
		if n%4096 == 0 && x.opt.Progress != nil {
			x.opt.Progress(x.r.Progress())
		}
		if x.opt.Nearest && entry.Seq <= x.res.Base {
			if err := x.fold.entry(entry); err != nil {
				return err
			}
			continue
		}
		x.res.Entries++
		x.res.Events += uint64(len(entry.Events))
		x.res.LastSeq, x.res.LastAt = entry.Seq, entry.At
		x.topics.learn(entry)
		if err := x.show(entry); err != nil {
			return err
		}
		if x.fold != nil {
			if err := x.fold.entry(entry); err != nil {
				return err
			}
		}
	}
}

// show prints the entry and counts it, if it is asked for.
func (x *run) show(entry *journal.Entry) error {
	if x.opt.From.after(entry) || x.opt.Print == Silent && x.stats == nil {
		return nil
	}
	shown := x.matching(entry)
	x.res.Matched += uint64(len(shown))
	if len(shown) == 0 {
		return nil
	}
	if x.stats != nil {
		x.stats.add(entry, shown, x.r.EventSizes())
	}
	var err error
	switch x.opt.Print {
	case Text:
		for _, i := range shown {
			x.line = appendText(x.line[:0], entry, i, x.topics)
			if _, err = x.out.Write(x.line); err != nil {
				break
			}
		}
	case JSON:
		x.line = appendJSON(x.line[:0], entry, shown, x.topics, x.r.Position())
		_, err = x.out.Write(x.line)
	}
	if err != nil {
		return fmt.Errorf("print entry %d: %w", entry.Seq, err)
	}
	return nil
}

// matching gives the indices of the events to show.
func (x *run) matching(entry *journal.Entry) []int {
	var shown []int
	for i := range entry.Events {
		if x.kinds != nil {
			x.kinds[entry.Events[i].Kind()] = true
		}
		if matchesAll(x.opt.Grep, entry, i, x.topics) {
			shown = append(shown, i)
		}
	}
	return shown
}

var errForeignSnapshot = errors.New("the snapshot to begin with was not taken from this journal")

// errCut ends a run at its Until.
var errCut = errors.New("cut")

// end prints what is asked for at the end.
func (x *run) end() error {
	if x.fold != nil {
		if err := x.fold.finish(); err != nil {
			return err
		}
	}
	if err := x.judge(); err != nil {
		return err
	}
	for kind := range x.kinds {
		x.res.Kinds = append(x.res.Kinds, kind.Name())
	}
	slices.Sort(x.res.Kinds)
	if x.stats != nil {
		x.stats.print(x.out, x.opt.AsJSON)
	}
	if len(x.opt.Dump) > 0 {
		if x.res.State == nil {
			return errors.New("dump the state: there is none, the journal does not begin at entry 1 and has no snapshot that verifies")
		}
		if err := Dump(x.out, x.res.State, x.opt.Dump, x.opt.AsJSON); err != nil {
			return err
		}
	}
	return x.out.Flush()
}
