package handlers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// Statuses that a heartbeat tells members of a streams group.
const (
	statusStaleTopology          int8 = 0
	statusMissingSources         int8 = 1
	statusIncorrectlyPartitioned int8 = 2
	statusMissingInternal        int8 = 3
	statusShutdown               int8 = 4
	statusDelayed                int8 = 5
)

// configuredTopology is what a topology comes to with the topics that there are: how many tasks each part has, and which topics
// have to be made. It is a function of the topology and the topics, no part of the state.
type configuredTopology struct {
	topology *projections.StreamsTopology
	// problem is why there can be no tasks; nil when there can.
	problem *kmsg.StreamsGroupHeartbeatResponseStatus
	parts   []configuredSubtopology // in the order of ids; nil: sources are missing, or the numbers of partitions do not fit
	create  []kmsg.CreateTopicsRequestTopic
}

func (t *configuredTopology) ready() bool { return t.problem == nil }

// configuredSubtopology is one part of it.
type configuredSubtopology struct {
	*journal.StreamsSubtopology
	tasks    int32
	internal map[string]int32 // partitions of topics that the coordinator makes
}

func (t *configuredTopology) part(id string) *configuredSubtopology {
	i, found := slices.BinarySearchFunc(t.parts, id, func(p configuredSubtopology, id string) int { return strings.Compare(p.ID, id) })
	if !found {
		return nil
	}
	return &t.parts[i]
}

// topologist works out what a topology comes to.
type topologist struct {
	topology *projections.StreamsTopology
	existing func(topic string) (partitions int32, exists bool)
	// order has the subtopologies as Kafka iterates over them: where parts depend on each other it can matter.
	order []*journal.StreamsSubtopology

	decided map[string]int32 // partitions of topics that the coordinator makes
	fixed   map[string]bool  // repartition topics whose number of partitions the application gives
	free    map[string]bool  // the others
}

// misfit is a problem with topics that goes away when the topics change.
type misfit struct {
	status int8
	detail string
}

func (m *misfit) Error() string { return m.detail }

func incorrectlyPartitioned(format string, args ...any) error {
	return &misfit{statusIncorrectlyPartitioned, fmt.Sprintf(format, args...)}
}

// badTopology is a topology that no topics make good.
type badTopology struct{ refusal *refusal }

func (b *badTopology) Error() string { return "the topology is no good" }

func invalidTopology(message string) error {
	return &badTopology{refuse(streamsInvalidTopology, message)}
}

// errFailedTopology is one that Kafka's coordinator stumbles over.
var errFailedTopology = &badTopology{&refusal{code: unknownServerError}}

// configureTopology works out what a topology comes to. What no topics could mend is refused.
func configureTopology(topology *projections.StreamsTopology, existing func(string) (int32, bool)) (*configuredTopology, *refusal) {
	t := &topologist{topology: topology, existing: existing, decided: map[string]int32{}, fixed: map[string]bool{}, free: map[string]bool{}}
	t.inOrder()
	configured := &configuredTopology{topology: topology}
	err := t.configure(configured)
	switch err := err.(type) {
	case nil:
	case *misfit:
		status := kmsg.StreamsGroupHeartbeatResponseStatus{StatusCode: err.status, StatusDetail: err.detail}
		configured.problem = &status
		if err.status != statusMissingInternal {
			configured.parts, configured.create = nil, nil
		}
	case *badTopology:
		return nil, err.refusal
	}
	return configured, nil
}

func (t *topologist) inOrder() {
	ids := make([]string, len(t.topology.Subtopologies))
	at := map[string]*journal.StreamsSubtopology{}
	for i := range t.topology.Subtopologies {
		s := &t.topology.Subtopologies[i]
		ids[i] = s.ID
		at[s.ID] = s
		for _, r := range s.Repartitions {
			if r.Partitions != 0 {
				t.fixed[r.Name] = true
			} else {
				t.free[r.Name] = true
			}
		}
	}
	for _, id := range inJavaOrder(ids, len(ids)) {
		t.order = append(t.order, at[id])
	}
}

func (t *topologist) configure(to *configuredTopology) error {
	if err := t.missingSources(); err != nil {
		return err
	}
	for _, step := range []func() error{t.countRepartitions, t.copartition, t.countChangelogs} {
		if err := step(); err != nil {
			return err
		}
	}
	for i := range t.topology.Subtopologies {
		part, err := t.part(&t.topology.Subtopologies[i])
		if err != nil {
			return err
		}
		to.parts = append(to.parts, part)
	}
	return t.missingInternal(to)
}

func (t *topologist) missingSources() error {
	var missing []string
	for _, s := range t.order {
		for _, topic := range s.Sources {
			if _, exists := t.existing(topic); !exists {
				missing = append(missing, topic)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return &misfit{statusMissingSources, "Source topics " + summary(slices.Compact(missing)) + " are missing."}
}

// summary names three of the topics and counts the others.
func summary(topics []string) string {
	const most = 3
	if len(topics) <= most {
		return strings.Join(topics, ", ")
	}
	return fmt.Sprintf("%s and %d additional topics", strings.Join(topics[:most], ", "), len(topics)-most)
}

// partitions is how many a topic has, or is to have.
func (t *topologist) partitions(topic string) (int32, bool) {
	if n, exists := t.existing(topic); exists {
		return n, true
	}
	n, decided := t.decided[topic]
	return n, decided
}

// countRepartitions gives repartition topics without a number of their own as many partitions as the largest topic has that
// is read by those who write them.
func (t *topologist) countRepartitions() error {
	counts := map[string]int32{}
	for _, s := range t.order {
		for _, r := range s.Repartitions {
			if r.Partitions != 0 {
				counts[r.Name] = r.Partitions
			}
		}
	}
	for open, progress := true, true; open; {
		if !progress {
			return invalidTopology("Failed to compute number of partitions for all repartition topics. There may be loops in the topology that cannot be resolved.")
		}
		open, progress = t.countSinks(counts)
	}
	for _, s := range t.order {
		for _, r := range s.Repartitions {
			if _, counted := counts[r.Name]; !counted {
				return invalidTopology("Failed to compute number of partitions for all repartition topics, because a repartition source topic is never used as a sink topic.")
			}
		}
	}
	maps.Copy(t.decided, counts)
	return nil
}

// countSinks counts what can be counted now: open says whether something is left, progress whether something was counted.
func (t *topologist) countSinks(counts map[string]int32) (open, progress bool) {
	for _, s := range t.order {
		for _, sink := range s.Sinks {
			if _, counted := counts[sink]; counted {
				continue
			}
			n := int32(0)
			for _, r := range s.Repartitions {
				n = max(n, counts[r.Name])
			}
			for _, topic := range s.Sources {
				have, _ := t.existing(topic)
				n = max(n, have)
			}
			if n == 0 {
				open = true
				continue
			}
			counts[sink] = n
			progress = true
		}
	}
	return open, progress || !open
}

// countChangelogs gives changelogs as many partitions as their subtopology has tasks.
func (t *topologist) countChangelogs() error {
	counts := map[string]int32{}
	for _, s := range t.order {
		n, reads := t.tasks(s)
		if !reads {
			return invalidTopology("No source topics found for subtopology " + s.ID)
		}
		for _, c := range s.Changelogs {
			counts[c.Name] = n
		}
	}
	maps.Copy(t.decided, counts)
	return nil
}

// tasks is the largest number of partitions of what a subtopology reads.
func (t *topologist) tasks(s *journal.StreamsSubtopology) (n int32, reads bool) {
	for _, topic := range s.Sources {
		have, _ := t.partitions(topic)
		n, reads = max(n, have), true
	}
	for _, r := range s.Repartitions {
		have, _ := t.partitions(r.Name)
		n, reads = max(n, have), true
	}
	return n, reads
}

func (t *topologist) part(s *journal.StreamsSubtopology) (configuredSubtopology, error) {
	part := configuredSubtopology{StreamsSubtopology: s, internal: map[string]int32{}}
	part.tasks, _ = t.tasks(s)
	if part.tasks <= 0 {
		return part, errFailedTopology
	}
	for _, topics := range [...][]journal.StreamsTopic{s.Repartitions, s.Changelogs} {
		seen := map[string]bool{}
		for _, topic := range topics {
			n := topic.Partitions
			if n == 0 {
				n = t.decided[topic.Name]
			}
			if n < 1 || seen[topic.Name] || configTwice(topic.Configs) {
				return part, errFailedTopology
			}
			seen[topic.Name] = true
			part.internal[topic.Name] = n
		}
	}
	return part, nil
}

func configTwice(configs []journal.StreamsConfig) bool {
	seen := map[string]bool{}
	for _, c := range configs {
		if seen[c.Name] {
			return true
		}
		seen[c.Name] = true
	}
	return false
}
