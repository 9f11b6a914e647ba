package main

import (
	"errors"
	"fmt"
	"io/fs"

	"doze"
	"doze/journal"
	"doze/projections"
	"doze/replay"
	"doze/segments"
)

// checked is what --check found, as it is printed.
type checked struct {
	status     int
	findings   []string
	journal    *replay.Result
	partitions int
	batches    int64
	records    int64
	bytes      int64
	repairable bool // doze repair has something to do
}

// check verifies the journal, then every partition that it knows, and says what it found.
func (c *inspectCmd) check(p *process, src *source) error {
	result, err := replay.Run(src.fs, src.journal, replay.Options{Check: true, Progress: progress(p.stderr)})
	if err != nil {
		return src.explain(err)
	}
	nameDamaged(result, src.dir, src.data)
	found := &checked{status: result.Status, journal: result, repairable: result.Status == replay.Damaged}
	if result.Status != replay.Replayed {
		found.findings = append(found.findings, result.Verdict)
	}
	if src.data {
		if err := found.examine(src, result.State); err != nil {
			return err
		}
	}
	if err := c.printChecked(p, src, found); err != nil {
		return err
	}
	if found.status != replay.Replayed {
		return exitCode(found.status)
	}
	return nil
}

func (f *checked) examine(src *source, state *projections.State) error {
	ids, err := segments.Partitions(src.fs, "segments")
	if err != nil {
		return err
	}
	for _, id := range ids {
		name := id.String()
		if state != nil {
			topic := state.Topics.WithID(id.Topic)
			if topic == nil || id.Partition >= topic.Partitions {
				continue // a start sets it aside
			}
			name = fmt.Sprintf("topic %s partition %d", journal.Quoted(topic.Name), id.Partition)
		}
		r, err := examineAgain(src, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return err
		}
		f.partitions++
		f.batches, f.records, f.bytes = f.batches+r.Batches, f.records+r.Records, f.bytes+r.Bytes
		for _, loss := range r.GivenUp {
			f.status, f.repairable = replay.Damaged, true
			f.findings = append(f.findings, fmt.Sprintf("%s: %s", name, loss))
		}
		for _, wrong := range r.Lists {
			f.status = replay.Damaged
			f.findings = append(f.findings, fmt.Sprintf("%s: %s", name, wrong))
		}
	}
	return nil
}

// examineAgain examines a partition. Under a running broker a file may go, or a write be seen by half: what is found
// then is looked at again.
func examineAgain(src *source, id segments.ID) (r *segments.Repair, err error) {
	for range 3 {
		r, err = segments.Examine(src.fs, "segments", id, doze.BootID())
		if src.broker == nil || err == nil && !r.Damaged() && len(r.Lists) == 0 {
			break
		}
	}
	return r, err
}

func (c *inspectCmd) printChecked(p *process, src *source, f *checked) error {
	verdict := map[int]string{replay.Replayed: "good", replay.Differs: "differs", replay.Damaged: "damaged"}[f.status]
	report := report{about: []field{
		{Name: "directory", Value: src.dir}, {Name: "verdict", Value: verdict},
		{Name: "entries", Value: int64(f.journal.Entries)}, {Name: "hashes-compared", Value: int64(f.journal.Compared)},
		{Name: "partitions", Value: int64(f.partitions)}, {Name: "batches", Value: f.batches}, {Name: "records", Value: f.records}, {Name: "record-bytes", Value: f.bytes},
	}}
	switch {
	case c.JSON:
		report.about = append(report.about, field{Name: "findings", Value: append([]string{}, f.findings...)}, field{Name: "notes", Value: append([]string{}, f.journal.Notes...)})
		return report.printJSON(p.stdout)
	case c.Msgpack:
		report.about = append(report.about, field{Name: "findings", Value: append([]string{}, f.findings...)}, field{Name: "notes", Value: append([]string{}, f.journal.Notes...)})
		return report.printMsgpack(p.stdout)
	}
	if err := report.printText(p.stdout); err != nil {
		return err
	}
	for _, note := range f.journal.Notes {
		fmt.Fprintf(p.stdout, "note      %s\n", note)
	}
	for _, finding := range f.findings {
		fmt.Fprintf(p.stdout, "finding   %s\n", finding)
	}
	if f.repairable {
		fmt.Fprintf(p.stdout, "Restore the files, or see what a repair would keep: doze repair %s\n", src.dir)
	}
	return nil
}
