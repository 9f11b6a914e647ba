package projections

import (
	"encoding/base64"
	"errors"
	"fmt"
)

// checks hold the tables to themselves and to each other. A new table brings its line.
var checks = []func(s *State) error{
	(*State).checkBroker,
	(*State).checkTopics,
	(*State).checkLogStarts,
	(*State).checkConfigs,
	(*State).checkGroups,
	(*State).checkOffsetHandles,
	(*State).checkOffsets,
	(*State).checkFeatures,
	(*State).checkTransactions,
	(*State).checkStaged,
	(*State).checkMarkers,
	(*State).checkShareStates,
	(*State).checkACLs,
	(*State).checkScramUsers,
	(*State).checkDelegationTokens,
	(*State).checkRegistry,
	(*State).checkSizes,
	(*State).checkQuotas,
}

// Check says what does not hold in the state, if anything does not: an event was folded that should have been refused, or a
// snapshot holds what no events make. It reads every row, and changes nothing.
func (s *State) Check() error {
	var found []error
	for _, check := range checks {
		found = append(found, check(s))
	}
	return errors.Join(found...)
}

func (s *State) checkBroker() error {
	if id, err := base64.RawURLEncoding.DecodeString(s.ClusterID); s.ClusterID != "" && (err != nil || len(id) != 16) {
		return fmt.Errorf("cluster id %q is none", s.ClusterID)
	}
	if s.Starts < 0 || s.NextProducerID < 0 {
		return fmt.Errorf("%d starts, next producer id %d", s.Starts, s.NextProducerID)
	}
	return nil
}

// checkTopics holds the four trees of topics against each other, and each topic against itself.
func (s *State) checkTopics() (err error) {
	t, partitions := s.Topics, int64(0)
	if n := t.byName.Len(); t.byID.Len() != n || t.byFold.Len() != n || t.byMetric.Len() != n {
		return fmt.Errorf("%d topics by name, %d by id, %d by folded name, %d by metric name", n, t.byID.Len(), t.byFold.Len(), t.byMetric.Len())
	}
	t.byName.Ascend(func(topic *Topic) bool {
		partitions += int64(topic.Partitions)
		metric, _ := t.byMetric.Get(topic)
		if t.WithID(topic.ID) != topic || t.FoldsTo(topic.Name) != topic || metric != topic {
			err = fmt.Errorf("topic %q is not the same by name, id %s, folded name and metric name", topic.Name, topic.ID)
		} else {
			err = topic.check(s.Starts)
		}
		return err == nil
	})
	if err == nil && partitions != t.partitions {
		err = fmt.Errorf("topics have %d partitions, counted %d", partitions, t.partitions)
	}
	return err
}

func (t *Topic) check(starts int32) error {
	if t.Name == "" || t.Partitions <= 0 || len(t.Ranges) == 0 || t.Ranges[0].First != 0 {
		return fmt.Errorf("topic %q: %d partitions in ranges %v", t.Name, t.Partitions, t.Ranges)
	}
	for i, r := range t.Ranges {
		if r.First >= t.Partitions || r.Starts < 0 || r.Starts > starts || i > 0 && (r.First <= t.Ranges[i-1].First || r.Starts < t.Ranges[i-1].Starts) {
			return fmt.Errorf("topic %q: %d partitions in ranges %v at start %d", t.Name, t.Partitions, t.Ranges, starts)
		}
	}
	return nil
}

func (s *State) checkLogStarts() (err error) {
	s.LogStarts.tree.Ascend(func(l LogStart) bool {
		topic := s.Topics.WithID(l.Topic)
		switch {
		case topic == nil:
			err = fmt.Errorf("log start %d of partition %d of topic id %s, which is not there", l.Offset, l.Partition, l.Topic)
		case l.Partition < 0 || l.Partition >= topic.Partitions || l.Offset < 0:
			err = fmt.Errorf("log start %d of %s-%d, of %d partitions", l.Offset, topic.Name, l.Partition, topic.Partitions)
		}
		return err == nil
	})
	return err
}

// checkConfigs looks at topics' configs only: the others may be set before what they are of is there.
func (s *State) checkConfigs() (err error) {
	s.Configs.Resources(TopicResource, func(resource string) bool {
		if s.Topics.Named(resource) == nil {
			err = fmt.Errorf("configs of topic %q, which is not there", resource)
		}
		return err == nil
	})
	return err
}

func (s *State) checkGroups() (err error) {
	s.Groups.Each("", func(g *Group) bool {
		err = g.Check()
		return err == nil
	})
	return err
}

// checkOffsetHandles holds the two trees of handles against each other and against the groups.
func (s *State) checkOffsetHandles() (err error) {
	o := s.Offsets
	if o.topics.Len() != o.byID.Len() {
		return fmt.Errorf("offsets of %d topics of groups by name, of %d by id", o.topics.Len(), o.byID.Len())
	}
	o.topics.Ascend(func(t *OffsetsOfTopic) bool {
		same, _ := o.byID.Get(t)
		switch {
		case same != t:
			err = fmt.Errorf("offsets of group %q for topic %q are not the same by name and by id %s", t.Group, t.Topic, t.ID)
		case s.Groups.Get(t.Group) == nil:
			err = fmt.Errorf("offsets of group %q, which is not there", t.Group)
		case t.slot == 0 || t.slot > o.lastSlot:
			err = fmt.Errorf("offsets of group %q for topic %q are number %d of %d", t.Group, t.Topic, t.slot, o.lastSlot)
		}
		return err == nil
	})
	return err
}

func (b offsetBlock) check(t *OffsetsOfTopic) error {
	last := int32(-1)
	for _, r := range b.rows {
		if r.partition <= last || r.partition/blockPartitions != b.number() {
			return fmt.Errorf("group %q has an offset of partition %d of topic %q after %d in block %d", t.Group, r.partition, t.Topic, last, b.number())
		}
		last = r.partition
	}
	if len(b.rows) == 0 {
		return fmt.Errorf("group %q has nothing in block %d of offsets for topic %q", t.Group, b.number(), t.Topic)
	}
	return nil
}

// checkOffsets says whether every offset is of one topic of a group, and every topic of a group has an offset.
func (s *State) checkOffsets() (err error) {
	o, counted := s.Offsets, 0
	o.topics.Ascend(func(t *OffsetsOfTopic) bool {
		before := counted
		o.blocksOf(t, func(b offsetBlock) bool {
			counted += len(b.rows)
			err = b.check(t)
			return err == nil
		})
		if err == nil && counted == before {
			err = fmt.Errorf("group %q has no offset for topic %q, but the topic is listed", t.Group, t.Topic)
		}
		return err == nil
	})
	if err == nil && counted != o.Len() {
		err = fmt.Errorf("%d offsets, %d of them of topics of groups", o.Len(), counted)
	}
	o.extras.Ascend(func(e offsetExtra) bool {
		if _, ok := o.row(e.offsetKey); !ok {
			err = fmt.Errorf("metadata %q of partition %d is of no offset", e.metadata, e.partition)
		}
		return err == nil
	})
	return err
}
