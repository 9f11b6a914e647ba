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

// copartition gives topics that are to be read together the same number of partitions, or says that they cannot have it.
func (t *topologist) copartition() error {
	for _, s := range t.order {
		for _, c := range s.Copartitions {
			together, err := topicsTogether(s, c)
			if err == nil && len(together) > 0 {
				err = t.enforce(together)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// topicsTogether are the names of a co-partition group, in Kafka's order.
func topicsTogether(s *journal.StreamsSubtopology, c journal.StreamsCopartition) ([]string, error) {
	var names []string
	for _, at := range c.Sources {
		if at < 0 || int(at) >= len(s.Sources) {
			return nil, errFailedTopology
		}
		names = append(names, s.Sources[at])
	}
	for _, at := range c.Repartitions {
		if at < 0 || int(at) >= len(s.Repartitions) {
			return nil, errFailedTopology
		}
		names = append(names, s.Repartitions[at].Name)
	}
	names = distinct(names)
	return inJavaOrder(names, len(names)), nil
}

func (t *topologist) enforce(together []string) error {
	repartitions, sources := map[string]int32{}, map[string]int32{}
	for _, name := range together {
		n, _ := t.partitions(name)
		if t.fixed[name] || t.free[name] {
			repartitions[name] = n
		} else {
			sources[name] = n
		}
	}
	n, err := t.common(repartitions, sources)
	if err != nil {
		return err
	}
	for _, name := range together {
		had, repartition := repartitions[name]
		if !repartition {
			continue
		}
		if t.fixed[name] && had != n {
			return incorrectlyPartitioned("Number of partitions [%d] of repartition topic [%s] doesn't match number of partitions [%d] of the source topic.", had, name, n)
		}
	}
	for _, name := range together {
		if _, repartition := repartitions[name]; repartition {
			t.decided[name] = n
		}
	}
	return nil
}

// common is the number of partitions that the topics of a co-partition group are to have: that of its source topics, else that
// of the fixed repartition topics of the whole topology, else the largest.
func (t *topologist) common(repartitions, sources map[string]int32) (n int32, err error) {
	switch {
	case len(sources) > 0:
		return same(sources, sources)
	case len(t.fixed) > 0:
		of := map[string]int32{}
		for _, name := range slices.Sorted(maps.Keys(t.fixed)) {
			of[name], _ = t.partitions(name)
		}
		return same(of, repartitions)
	}
	for _, name := range slices.Sorted(maps.Keys(repartitions)) {
		n = max(n, repartitions[name])
	}
	return n, nil
}

// same is the number that all the topics have; when they differ, the refusal shows others.
func same(of, shown map[string]int32) (n int32, err error) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		have := of[name]
		if n != 0 && have != n {
			return 0, incorrectlyPartitioned("Following topics do not have the same number of partitions: [%s]", javaMap(shown))
		}
		n = have
	}
	return n, nil
}

// javaMap is a sorted map as Java prints it.
func javaMap(of map[string]int32) string {
	var entries []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		entries = append(entries, fmt.Sprintf("%s=%d", name, of[name]))
	}
	return "{" + strings.Join(entries, ", ") + "}"
}

// missingInternal looks which internal topics are there, as they must be, and which are to be made.
func (t *topologist) missingInternal(to *configuredTopology) error {
	wanted := map[string]kmsg.CreateTopicsRequestTopic{}
	var names, required []string
	for i := range to.parts {
		p := &to.parts[i]
		required = append(required, p.Sources...)
		for _, topics := range [...][]journal.StreamsTopic{p.Repartitions, p.Changelogs} {
			of := make([]string, len(topics))
			for j := range topics {
				of[j] = topics[j].Name
				wanted[topics[j].Name] = internalTopic(&topics[j], p.internal[topics[j].Name])
			}
			names = append(names, inJavaOrder(of, len(of))...)
			required = append(required, of...)
		}
	}
	names, required = distinct(names), distinct(required)
	for _, name := range inJavaOrder(required, len(required)) {
		spec, internal := wanted[name]
		have, exists := t.existing(name)
		if !internal || !exists {
			continue
		}
		if have != spec.NumPartitions {
			return incorrectlyPartitioned("Existing topic %s has different number of partitions: expected %d, found %d", name, spec.NumPartitions, have)
		}
		delete(wanted, name)
	}
	if len(wanted) == 0 {
		return nil
	}
	missing := slices.DeleteFunc(inJavaOrder(names, len(names)), func(name string) bool {
		_, missing := wanted[name]
		return !missing
	})
	for _, name := range missing {
		to.create = append(to.create, wanted[name])
	}
	return &misfit{statusMissingInternal, "Internal topics are missing: " + summary(missing)}
}

// internalTopic is what CreateTopics is asked for.
func internalTopic(t *journal.StreamsTopic, partitions int32) kmsg.CreateTopicsRequestTopic {
	spec := kmsg.NewCreateTopicsRequestTopic()
	spec.Topic, spec.NumPartitions, spec.ReplicationFactor = t.Name, partitions, t.Replication
	if t.Replication == 0 {
		spec.ReplicationFactor = -1
	}
	for i := range t.Configs {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = t.Configs[i].Name, &t.Configs[i].Value
		spec.Configs = append(spec.Configs, c)
	}
	return spec
}

// requiredTopics are all topics that a topology needs, sorted.
func requiredTopics(t *projections.StreamsTopology) []string {
	var names []string
	for i := range t.Subtopologies {
		s := &t.Subtopologies[i]
		names = append(names, s.Sources...)
		for _, topics := range [...][]journal.StreamsTopic{s.Repartitions, s.Changelogs} {
			for j := range topics {
				names = append(names, topics[j].Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
