package schedules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// conclude adds what is there in the end, and judges it.
func (s *schedule) conclude() error {
	for _, p := range s.clients {
		state, err := s.state(p.txn)
		if err != nil {
			return err
		}
		offset, err := s.committedOffset(p)
		if err != nil {
			return err
		}
		s.line("in the end %s is %s, its group at %d", p.name, state, offset)
		if state == "Ongoing" {
			s.fault("a transaction of %s is open in the end", p.name)
		}
		if want := max(p.offset, 0); max(offset, 0) != want {
			s.fault("the group of %s is at %d, and %d was committed", p.name, offset, want)
		}
	}
	for partition := range int32(partitions) {
		if err := s.concludePartition(partition); err != nil {
			return err
		}
	}
	return nil
}

func (s *schedule) committedOffset(p *producer) (int64, error) {
	resp, err := s.late.ask(7, offsetFetchRequest(p, s.topic))
	if err != nil {
		return 0, err
	}
	return resp.(*kmsg.OffsetFetchResponse).Topics[0].Partitions[0].Offset, nil
}

func (s *schedule) concludePartition(partition int32) error {
	all, _, _, err := s.read(partition, 0)
	if err != nil {
		return err
	}
	committed, lso, hw, err := s.read(partition, 1)
	if err != nil {
		return err
	}
	s.line("in the end partition %d: stable to %d of %d: %s", partition, lso, hw, strings.Join(committed, " "))
	s.line("in the end partition %d, uncommitted: %s", partition, strings.Join(all, " "))
	if lso != hw {
		s.fault("partition %d is stable to %d of %d in the end", partition, lso, hw)
	}
	s.out.Faults = append(s.out.Faults, s.judge(partition, committed)...)
	return nil
}

// judge compares what a read_committed reader gets of a partition with what the producers committed there, each in order.
func (s *schedule) judge(partition int32, got []string) []string {
	if s.protocol != V2 {
		return nil
	}
	var faults []string
	for _, p := range s.clients {
		var want []string
		for _, sent := range p.committed {
			if sent.partition == partition {
				want = append(want, sent.value)
			}
		}
		mine := slices.DeleteFunc(slices.Clone(got), func(value string) bool { return !strings.HasPrefix(value, p.name) })
		if !slices.Equal(mine, want) {
			faults = append(faults, fmt.Sprintf("partition %d holds %q of %s, who committed %q", partition, mine, p.name, want))
		}
	}
	return faults
}
