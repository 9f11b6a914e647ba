package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"doze"
	"doze/configs"
	"doze/projections"
	"doze/replay"
)

// field is a named value: a string, int64, uint64, bool or []string.
type field = projections.Field

// section is one table of a report. Columns are known when it has no row, too.
type section struct {
	name string
	rows [][]field
	note string // for people, below the rows
	none string // for people, when there is no row; "": none
}

// report is what is printed.
type report struct {
	about    []field // of the whole
	sections []section
}

// What can be shown beside the tables of the state.
const (
	namePartitions = "partitions"
	nameSegments   = "segments"
	nameProducers  = "producers"
	nameJournal    = "journal"
)

func inspectNames() []string {
	return append(projections.Tables(), namePartitions, nameSegments, nameProducers, nameJournal)
}

// overview is shown when nothing is asked for.
var overview = []string{"topics", "groups", "offsets", "configs", namePartitions}

func (l *look) report(names []string) (*report, error) {
	r := &report{about: l.about()}
	if len(names) == 0 {
		names = overview
		if !l.src.data {
			names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == namePartitions })
		}
	}
	var partitions []doze.PartitionInfo
	if slices.ContainsFunc(names, isOfSegments) {
		var err error
		if partitions, err = l.partitions(); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		s, err := l.section(name, partitions)
		if err != nil {
			return nil, err
		}
		r.sections = append(r.sections, s)
	}
	return r, nil
}

func isOfSegments(name string) bool {
	return name == namePartitions || name == nameSegments || name == nameProducers
}

func (l *look) about() []field {
	about := []field{{Name: "directory", Value: l.src.dir}, {Name: "cluster", Value: l.state.ClusterID}, {Name: "running", Value: l.src.broker != nil || l.src.above != ""}}
	if pid := l.src.pid(); l.src.broker != nil && pid > 0 {
		about = append(about, field{Name: "pid", Value: int64(pid)})
	}
	about = append(about, field{Name: "entry", Value: int64(l.seq)})
	if l.time >= 0 {
		about = append(about, field{Name: "entry-at", Value: l.time})
	}
	if l.src.above != "" {
		about = append(about, field{Name: "note", Value: "a broker runs on " + l.src.above + " and may be ahead of these files; name that directory to ask it"})
	}
	return about
}

func (l *look) section(name string, partitions []doze.PartitionInfo) (section, error) {
	s := section{name: name}
	if isOfSegments(name) && name != nameProducers && l.hasTopics() {
		s.none = "no records yet"
	}
	switch name {
	case namePartitions:
		s.rows = partitionRows(partitions, l.at)
	case nameSegments:
		s.rows = segmentRows(partitions)
	case nameProducers:
		s.rows = producerRows(partitions)
		if l.at {
			s.note = "(as of now: what producers were as of an entry is not kept)"
		}
	case nameJournal:
		return l.journalSection()
	default:
		l.state.Dump(name, func(fields []projections.Field) bool {
			s.rows = append(s.rows, l.inWords(name, fields))
			return true
		})
	}
	return s, nil
}

// hasTopics tells whether there are partitions, though they may have no files.
func (l *look) hasTopics() (some bool) {
	l.state.Topics.Each("", func(*projections.Topic) bool { some = true; return false })
	return some
}

var resourceTypes = map[string]string{"2": "topic", "4": "broker", "8": "broker-logger", "16": "client-metrics", "32": "group"}

// inWords puts names in the place of numbers and ids.
func (l *look) inWords(table string, row []field) []field {
	row = slices.Clone(row)
	first, isText := row[0].Value.(string)
	switch {
	case !isText:
	case table == "configs":
		number, name, _ := strings.Cut(first, ":")
		if word, known := resourceTypes[number]; known {
			row[0].Value = word + ":" + name
		}
		row = append(row, field{Name: "note", Value: configNote(number, row)})
	case table == "log-starts":
		l.state.Topics.Each("", func(t *projections.Topic) bool {
			if t.ID.String() == first {
				row[0].Value = t.Name
			}
			return row[0].Value == first
		})
	}
	return row
}

// configTables are the tables of keys by resource type.
var configTables = map[string]*configs.Table{"2": configs.TopicKeys, "4": configs.BrokerKeys, "16": configs.ClientMetricsKeys, "32": configs.GroupKeys}

// configNote says of a config that is kept for clients only that it does nothing here.
func configNote(resourceType string, row []field) string {
	table := configTables[resourceType]
	for _, f := range row {
		name, isText := f.Value.(string)
		if f.Name != "config" || !isText || table == nil {
			continue
		}
		if def, known := table.Lookup(name); known && !def.Acts {
			return "kept, does not act"
		}
	}
	return ""
}

func partitionRows(partitions []doze.PartitionInfo, at bool) (rows [][]field) {
	for _, p := range partitions {
		row := []field{{Name: "topic", Value: p.Topic}, {Name: "partition", Value: int64(p.Partition)}, {Name: "log-start", Value: p.LogStart}, {Name: "end", Value: p.HighWatermark}}
		if at {
			end := strconv.FormatInt(p.EndAsOf, 10)
			if p.EndUnknown {
				end = "unknown, at most " + end
			}
			row = append(row, field{Name: "end-then", Value: end})
		}
		row = append(row, field{Name: "segments", Value: int64(len(p.Segments))}, field{Name: "bytes", Value: p.Bytes})
		rows = append(rows, append(row, field{Name: "error", Value: p.Error}))
	}
	return rows
}

func segmentRows(partitions []doze.PartitionInfo) (rows [][]field) {
	for _, p := range partitions {
		for _, s := range p.Segments {
			rows = append(rows, []field{
				{Name: "topic", Value: p.Topic}, {Name: "partition", Value: int64(p.Partition)}, {Name: "base", Value: s.Base}, {Name: "end", Value: s.End},
				{Name: "bytes", Value: s.Bytes}, {Name: "newest-at", Value: s.MaxTimestamp}, {Name: "active", Value: s.Active},
			})
		}
	}
	return rows
}

func producerRows(partitions []doze.PartitionInfo) (rows [][]field) {
	for _, p := range partitions {
		for i := range p.Producers {
			producer := &p.Producers[i]
			lastOffset := int64(-1)
			if n := len(producer.Batches); n > 0 {
				lastOffset = producer.Batches[n-1].LastOffset
			}
			rows = append(rows, []field{
				{Name: "topic", Value: p.Topic}, {Name: "partition", Value: int64(p.Partition)}, {Name: "producer", Value: producer.ID},
				{Name: "epoch", Value: int64(producer.Epoch)}, {Name: "last-sequence", Value: int64(producer.LastSequence())}, {Name: "last-offset", Value: lastOffset},
				{Name: "transaction-start", Value: producer.TxnFirstOffset}, {Name: "last-at", Value: producer.LastTimestamp},
			})
		}
	}
	return rows
}

// journalSection lists the journal's files, and says what they are worth together.
func (l *look) journalSection() (section, error) {
	s := section{name: nameJournal}
	fsys, name := l.src.fs, l.src.journal
	info, err := fsys.Stat(name)
	if err != nil {
		return s, l.src.explain(err)
	}
	if !info.IsDir() {
		s.rows = append(s.rows, journalFile(path.Base(name), info.Size(), info.ModTime().UnixMilli()))
	} else {
		entries, err := fsys.ReadDir(name)
		if err != nil {
			return s, err
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				s.rows = append(s.rows, journalFile(e.Name(), info.Size(), info.ModTime().UnixMilli()))
			}
		}
	}
	if r := l.replayed; r != nil {
		s.note = fmt.Sprintf("entries %d to %d", r.FirstSeq, l.seq)
		if l.time >= 0 {
			s.note += ", the last at " + replay.Time(l.time)
		}
		if !l.at && r.Clean {
			s.note += "; stopped cleanly"
		}
		for _, note := range r.Notes {
			s.note += "\n  " + note
		}
	}
	return s, nil
}

func journalFile(name string, size, changed int64) []field {
	kind := "other"
	for ending, word := range map[string]string{".journal": "entries", ".snapshot": "state", ".torn": "cut off at a start", ".damaged": "kept by a repair", ".tmp": "being made"} {
		if strings.HasSuffix(name, ending) {
			kind = word
		}
	}
	if name == "clean-stop" {
		kind = "marker"
	}
	return []field{{Name: "file", Value: name}, {Name: "kind", Value: kind}, {Name: "bytes", Value: size}, {Name: "changed-at", Value: changed}}
}
