package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"

	"doze"
	"doze/journal"
	"doze/projections"
	"doze/segments"
)

// maxRow is more than any row has.
const maxRow = 64 << 20

// lookLive takes the running broker's state.
func (s *source) lookLive() (*look, error) {
	resp, err := s.get("/rows")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	l := &look{src: s, state: projections.New(), time: -1}
	if l.seq, err = strconv.ParseUint(resp.Header.Get("Doze-Seq"), 10, 64); err != nil {
		return nil, fmt.Errorf("the broker on %s does not say as of which entry its state is; use the version of doze that it runs", s.dir)
	}
	if err := loadRows(l.state, bufio.NewReader(resp.Body)); err != nil {
		return nil, fmt.Errorf("take the state of the broker on %s: %w", s.dir, err)
	}
	return l, nil
}

// loadRows takes rows, each behind its length, into a fresh state.
func loadRows(state *projections.State, r io.Reader) error {
	var length [4]byte
	var row []byte
	for {
		if _, err := io.ReadFull(r, length[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(length[:])
		if n > maxRow {
			return fmt.Errorf("a row of %d bytes", n)
		}
		if uint32(cap(row)) < n {
			row = make([]byte, n)
		}
		if _, err := io.ReadFull(r, row[:n]); err != nil {
			return err
		}
		if err := state.LoadRow(row[:n]); err != nil {
			return err
		}
	}
}

// partitions are the logs of the state's topics, in the order of names and numbers.
func (l *look) partitions() ([]doze.PartitionInfo, error) {
	switch {
	case !l.src.data:
		return nil, fmt.Errorf("%s is a journal without segments; name the data directory", l.src.dir)
	case l.src.broker != nil:
		return l.livePartitions()
	}
	there, err := segments.Partitions(l.src.fs, "segments")
	if err != nil {
		return nil, err
	}
	onDisk := map[segments.ID]bool{}
	for _, id := range there {
		onDisk[id] = true
	}
	var all []doze.PartitionInfo
	l.state.Topics.Each("", func(t *projections.Topic) bool {
		for number := range t.Partitions {
			if id := (segments.ID{Topic: t.ID, Partition: number}); onDisk[id] {
				all = append(all, l.partition(t, id))
			}
		}
		return true
	})
	return all, nil
}

func (l *look) livePartitions() ([]doze.PartitionInfo, error) {
	query := "/partitions"
	if l.at {
		query += "?at=" + strconv.FormatUint(l.seq, 10)
	}
	resp, err := l.src.get(query)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var all []doze.PartitionInfo
	for d := json.NewDecoder(resp.Body); ; {
		var info doze.PartitionInfo
		if err := d.Decode(&info); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("take the partitions of the broker on %s: %w", l.src.dir, err)
		}
		if t := l.state.Topics.Named(info.Topic); t != nil && journal.ID(t.ID) == info.TopicID && info.Partition < t.Partitions {
			all = append(all, info)
		}
	}
}

// partition looks at the files of one.
func (l *look) partition(t *projections.Topic, id segments.ID) doze.PartitionInfo {
	info := doze.PartitionInfo{Topic: t.Name, TopicID: journal.ID(t.ID), Partition: id.Partition}
	asOf := uint64(math.MaxUint64)
	if l.at {
		asOf = l.seq
	}
	seen, err := segments.Look(l.src.fs, "segments", id, asOf)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		info.Error = err.Error()
	}
	info.LogStart = max(seen.Start, l.state.LogStarts.Of(t.ID, id.Partition))
	info.HighWatermark = max(seen.End, info.LogStart)
	info.Bytes, info.Segments, info.Producers = seen.Bytes, seen.Segments, seen.Producers
	info.EndAsOf, info.EndUnknown = max(seen.EndAsOf, info.LogStart), !seen.EndKnown && l.at
	return info
}
