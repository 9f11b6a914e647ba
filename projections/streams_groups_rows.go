package projections

import (
	"fmt"

	"doze/journal"
)

// A streams group has a row for itself, one for each subtopology, and one for each member.

type streamsGroupRow struct {
	group string
	*StreamsGroup
}

func eachStreams(s *State, yield func(string, *StreamsGroup) bool) {
	s.Groups.Each("", func(g *Group) bool { return g.Streams == nil || yield(g.ID, g.Streams) })
}

func eachStreamsGroup(s *State, yield func(row) bool) {
	eachStreams(s, func(id string, g *StreamsGroup) bool { return yield(streamsGroupRow{id, g}) })
}

func (g streamsGroupRow) encode(w *rowWriter) {
	w.string(g.group)
	w.int(int64(g.Epoch))
	w.uint(g.Topics)
	w.int(int64(g.Validated))
	w.int(int64(g.Standbys))
	w.int(int64(g.Assigned))
	w.int(g.Made)
	w.bool(g.Topology != nil)
	if g.Topology != nil {
		w.int(int64(g.Topology.Epoch))
	}
}

// Fields shows the epochs of the group.
func (g streamsGroupRow) Fields() []Field {
	topology := int64(-1)
	if g.Topology != nil {
		topology = int64(g.Topology.Epoch)
	}
	return []Field{
		{"group", g.group}, {"epoch", int64(g.Epoch)}, {"assigned", int64(g.Assigned)}, {"made", g.Made}, {"topology", topology},
		{"validated", int64(g.Validated)}, {"standbys", int64(g.Standbys)}, {"members", int64(g.Len())},
	}
}

func loadStreamsGroup(s *State, r *rowReader) {
	g := streamsOf(s, r, r.string())
	epoch, topics, validated, standbys, assigned, made := r.int32(), r.uint(), r.int32(), r.int32(), r.int32(), r.int()
	var topology *StreamsTopology
	if r.bool() {
		topology = &StreamsTopology{Epoch: r.int32()}
	}
	if g == nil || r.err != nil {
		return
	}
	if g.Len() > 0 || g.Topology != nil {
		r.fail(errRowForm)
		return
	}
	g.Epoch, g.Topics, g.Validated, g.Standbys, g.Assigned, g.Made, g.Topology = epoch, topics, validated, standbys, assigned, made, topology
}

// streamsOf finds the group that a row belongs to, in a state that is being loaded: nobody else sees it.
func streamsOf(s *State, r *rowReader, id string) *StreamsGroup {
	if g := s.Groups.Get(id); g != nil && g.Streams != nil {
		return g.Streams
	}
	r.fail(fmt.Errorf("group %q: no such streams group", id))
	return nil
}

type subtopologyRow struct {
	group string
	*journal.StreamsSubtopology
}

func eachSubtopology(s *State, yield func(row) bool) {
	eachStreams(s, func(id string, g *StreamsGroup) bool {
		if g.Topology == nil {
			return true
		}
		for i := range g.Topology.Subtopologies {
			if !yield(subtopologyRow{id, &g.Topology.Subtopologies[i]}) {
				return false
			}
		}
		return true
	})
}

func (t subtopologyRow) encode(w *rowWriter) {
	w.string(t.group)
	w.string(t.ID)
	w.strings(t.Sources)
	w.strings(t.Sinks)
	for _, topics := range [...][]journal.StreamsTopic{t.Changelogs, t.Repartitions} {
		w.uint(uint64(len(topics)))
		for _, topic := range topics {
			w.string(topic.Name)
			w.int(int64(topic.Partitions))
			w.int(int64(topic.Replication))
			w.uint(uint64(len(topic.Configs)))
			for _, c := range topic.Configs {
				w.string(c.Name)
				w.string(c.Value)
			}
		}
	}
	w.uint(uint64(len(t.Copartitions)))
	for _, c := range t.Copartitions {
		for _, places := range [...][]int16{c.Sources, c.Repartitions} {
			w.uint(uint64(len(places)))
			for _, place := range places {
				w.int(int64(place))
			}
		}
	}
}

// Fields shows the topics of the subtopology.
func (t subtopologyRow) Fields() []Field {
	names := func(topics []journal.StreamsTopic) []string {
		all := make([]string, len(topics))
		for i := range topics {
			all[i] = topics[i].Name
		}
		return all
	}
	return []Field{
		{"group", t.group}, {"subtopology", t.ID}, {"sources", t.Sources}, {"repartitions", names(t.Repartitions)},
		{"sinks", t.Sinks}, {"changelogs", names(t.Changelogs)},
	}
}

func loadSubtopology(s *State, r *rowReader) {
	group := r.string()
	t := journal.StreamsSubtopology{ID: r.string(), Sources: r.strings(), Sinks: r.strings()}
	t.Changelogs, t.Repartitions = readStreamsTopics(r), readStreamsTopics(r)
	for range r.count() {
		t.Copartitions = append(t.Copartitions, journal.StreamsCopartition{Sources: readPlaces(r), Repartitions: readPlaces(r)})
	}
	g := streamsOf(s, r, group)
	if g == nil {
		return
	}
	if g.Topology == nil || r.err != nil {
		r.fail(fmt.Errorf("group %q: a subtopology without a topology", group))
		return
	}
	if n := len(g.Topology.Subtopologies); n > 0 && g.Topology.Subtopologies[n-1].ID >= t.ID {
		r.fail(fmt.Errorf("group %q: subtopologies out of order", group))
		return
	}
	before := g.Topology.Bytes()
	g.Topology.Subtopologies = append(g.Topology.Subtopologies, t)
	g.held += g.Topology.Bytes() - before
	s.Groups.bytes += g.Topology.Bytes() - before
}

func readStreamsTopics(r *rowReader) (topics []journal.StreamsTopic) {
	for range r.count() {
		t := journal.StreamsTopic{Name: r.string(), Partitions: r.int32(), Replication: r.int16()}
		for range r.count() {
			t.Configs = append(t.Configs, journal.StreamsConfig{Name: r.string(), Value: r.string()})
		}
		topics = append(topics, t)
	}
	return topics
}

func readPlaces(r *rowReader) (places []int16) {
	for range r.count() {
		places = append(places, r.int16())
	}
	return places
}

type streamsMemberRow struct {
	group string
	*StreamsMember
}

func eachStreamsMember(s *State, yield func(row) bool) {
	eachStreams(s, func(id string, g *StreamsGroup) bool {
		more := true
		g.Each(func(m *StreamsMember) bool {
			more = yield(streamsMemberRow{id, m})
			return more
		})
		return more
	})
}

func (m streamsMemberRow) encode(w *rowWriter) {
	w.string(m.group)
	w.string(m.ID)
	w.string(m.ClientID)
	w.string(m.ClientHost)
	w.int(int64(m.RebalanceTimeoutMs))
	w.int(int64(m.TopologyEpoch))
	w.string(m.Process)
	w.bool(m.Rack != nil)
	if m.Rack != nil {
		w.string(*m.Rack)
	}
	w.bool(m.Endpoint != nil)
	if m.Endpoint != nil {
		w.string(m.Endpoint.Host)
		w.uint(uint64(m.Endpoint.Port))
	}
	w.uint(uint64(len(m.Tags)))
	for _, tag := range m.Tags {
		w.string(tag.Key)
		w.string(tag.Value)
	}
	w.int(int64(m.Epoch))
	w.int(int64(m.Previous))
	w.uint(uint64(m.State))
	for _, tasks := range [...]*StreamsTasks{&m.Has, &m.Revoked, &m.Target} {
		writeTasks(w, tasks.Active)
		writeTasks(w, tasks.Standby)
	}
}

func writeTasks(w *rowWriter, tasks []journal.StreamsTasks) {
	w.uint(uint64(len(tasks)))
	for _, t := range tasks {
		w.string(t.Subtopology)
		w.int32s(t.Partitions)
		w.int32s(t.Epochs)
	}
}

func readTasks(r *rowReader) (tasks []journal.StreamsTasks) {
	for range r.count() {
		tasks = append(tasks, journal.StreamsTasks{Subtopology: r.string(), Partitions: r.int32s(), Epochs: r.int32s()})
	}
	return tasks
}

var streamsMemberStates = map[journal.StreamsMemberState]string{
	journal.StreamsStable: "stable", journal.StreamsUnrevoked: "unrevoked", journal.StreamsUnreleased: "unreleased",
}

// Fields shows who the member is and which tasks it has.
func (m streamsMemberRow) Fields() []Field {
	return []Field{
		{"group", m.group}, {"member", m.ID}, {"client", m.ClientID}, {"host", m.ClientHost}, {"process", m.Process},
		{"epoch", int64(m.Epoch)}, {"previous", int64(m.Previous)}, {"state", streamsMemberStates[m.State]},
		{"active", TaskNames(m.Has.Active)}, {"standby", TaskNames(m.Has.Standby)},
		{"to-revoke", append(TaskNames(m.Revoked.Active), TaskNames(m.Revoked.Standby)...)},
		{"target-active", TaskNames(m.Target.Active)}, {"target-standby", TaskNames(m.Target.Standby)},
	}
}

// TaskNames are tasks as Kafka Streams names them: subtopology, underscore, partition.
func TaskNames(tasks []journal.StreamsTasks) []string {
	names := []string{}
	for _, t := range tasks {
		for _, p := range t.Partitions {
			names = append(names, fmt.Sprintf("%s_%d", t.Subtopology, p))
		}
	}
	return names
}

func loadStreamsMember(s *State, r *rowReader) {
	group := r.string()
	m := &StreamsMember{
		ID: r.string(), ClientID: r.string(), ClientHost: r.string(), RebalanceTimeoutMs: r.int32(), TopologyEpoch: r.int32(),
		Process: r.string(),
	}
	if r.bool() {
		rack := r.string()
		m.Rack = &rack
	}
	if r.bool() {
		m.Endpoint = &StreamsEndpoint{Host: r.string(), Port: uint16(r.uint())}
	}
	for range r.count() {
		m.Tags = append(m.Tags, journal.StreamsTag{Key: r.string(), Value: r.string()})
	}
	m.Epoch, m.Previous, m.State = r.int32(), r.int32(), journal.StreamsMemberState(r.small())
	for _, tasks := range [...]*StreamsTasks{&m.Has, &m.Revoked, &m.Target} {
		tasks.Active, tasks.Standby = readTasks(r), readTasks(r)
	}
	g := streamsOf(s, r, group)
	if g == nil {
		return
	}
	if _, known := streamsMemberStates[m.State]; !known || r.err != nil || g.Member(m.ID) != nil {
		r.fail(fmt.Errorf("group %q: member %q twice, or in state %d", group, m.ID, m.State))
		return
	}
	g.put(m)
	g.share()
	s.Groups.bytes += m.Bytes()
}
