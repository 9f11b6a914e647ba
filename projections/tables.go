package projections

import (
	"fmt"
)

// table is how one table goes into a snapshot, a hash and a dump. tables is the one list.
type table struct {
	name string
	tag  byte
	// each yields the table's rows in key order.
	each func(s *State, yield func(row) bool)
	// load adds one row to a fresh state.
	load func(s *State, r *rowReader)

	// A table whose rows are not what people see has these two in place of each; one that has nothing to show, the second.
	show func(s *State, yield func(fielder) bool)
	pack func(s *State, yield func(encoder) bool)
}

type (
	encoder interface{ encode(w *rowWriter) }
	// Fields are the row's columns in order, for dumps: key columns first.
	fielder interface{ Fields() []Field }
)

// row is one row of a table: its snapshot form and its form for people.
type row interface {
	encoder
	fielder
}

// Field is a named value of a dumped row: a string, int64, bool, or []string.
type Field struct {
	Name  string
	Value any
}

// tables in snapshot order. Tags are never reused.
var tables = []table{
	{name: "broker", tag: 1, each: eachBroker, load: loadBroker},
	{name: "topics", tag: 2, each: eachTopic, load: loadTopic},
	{name: "log-starts", tag: 3, each: eachLogStart, load: loadLogStart},
	{name: "configs", tag: 4, each: eachConfig, load: loadConfig},
	{name: "groups", tag: 5, each: eachGroup, load: loadGroup},
	{name: "members", tag: 6, each: eachMember, load: loadMember},
	{name: "member-ids", tag: 7, each: eachPending, load: loadPending},
	{name: "settled-groups", tag: 9, each: eachSettled, load: loadSettled},
	{name: "settled-members", tag: 10, each: eachSettledMember, load: loadSettledMember},
	{name: "offsets", tag: 11, show: eachOffset, pack: eachOffsetBlock, load: loadOffsetBlock},
	{name: "offset-extras", tag: 12, pack: eachOffsetExtra, load: loadOffsetExtra},
	{name: "features", tag: 13, each: eachFeature, load: loadFeature},
	{name: "transactions", tag: 14, each: eachTransaction, load: loadTransaction},
	{name: "staged-offsets", tag: 15, each: eachStaged, load: loadStaged},
	{name: "unsynced-markers", tag: 16, each: eachUnsynced, load: loadUnsynced},
	// Tags of groups of later types: consumer 17 to 20, share 21 to 26, streams 27 to 32.
	{name: "consumer-groups", tag: 17, each: eachConsumerGroup, load: loadConsumerGroup},
	{name: "consumer-regexes", tag: 18, each: eachConsumerRegex, load: loadConsumerRegex},
	{name: "consumer-members", tag: 19, each: eachConsumerMember, load: loadConsumerMember},
	{name: "share-groups", tag: 21, each: eachShareGroup, load: loadShareGroup},
	{name: "share-members", tag: 22, each: eachShareMember, load: loadShareMember},
	{name: "share-states", tag: 23, each: eachShareState, load: loadShareState},
	{name: "streams-groups", tag: 27, each: eachStreamsGroup, load: loadStreamsGroup},
	{name: "streams-subtopologies", tag: 28, each: eachSubtopology, load: loadSubtopology},
	{name: "streams-members", tag: 29, each: eachStreamsMember, load: loadStreamsMember},
	{name: "acls", tag: 30, each: eachACL, load: loadACL},
	{name: "quotas", tag: 33, each: eachClientQuota, load: loadClientQuota},
	{name: "users", tag: 31, each: eachScramUser, load: loadScramUser},
	{name: "tokens", tag: 32, each: eachDelegationToken, load: loadDelegationToken},
	{name: "registry-contexts", tag: 40, each: eachRegistryContext, load: loadRegistryContext},
	{name: "schemas", tag: 41, each: eachSchema, load: loadSchema},
	{name: "subjects", tag: 42, each: eachSchemaVersion, load: loadSchemaVersion},
	{name: "registry-configs", tag: 43, each: eachRegistryConfig, load: loadRegistryConfig},
	{name: "registry-modes", tag: 44, each: eachRegistryMode, load: loadRegistryMode},
	{name: "associations", tag: 45, each: eachAssociation, load: loadAssociation},
}

// rows yields what goes into a snapshot.
func (t *table) rows(s *State, yield func(encoder) bool) {
	if t.pack != nil {
		t.pack(s, yield)
		return
	}
	t.each(s, func(r row) bool { return yield(r) })
}

// shown yields what goes into a dump.
func (t *table) shown(s *State, yield func([]Field) bool) {
	if t.show != nil {
		t.show(s, func(r fielder) bool { return yield(r.Fields()) })
		return
	}
	t.each(s, func(r row) bool { return yield(r.Fields()) })
}

// hidden says whether another table shows what this one holds.
func (t *table) hidden() bool { return t.each == nil && t.show == nil }

// Rows yields every row of the state in one fixed order: a snapshot's content, and what the state hash is over. The slice
// is valid until yield returns.
func (s *State) Rows(yield func(row []byte) error) error {
	var w rowWriter
	for _, t := range tables {
		var err error
		t.rows(s, func(r encoder) bool {
			w.tag(t.tag)
			r.encode(&w)
			err = yield(w.b)
			return err == nil
		})
		if err != nil {
			return fmt.Errorf("write table %s: %w", t.name, err)
		}
	}
	return nil
}

// LoadRow adds one row that Rows gave, in the order of Rows, to a fresh state.
//
//fuzz:parser class=snapshot FuzzLoadRow
func (s *State) LoadRow(b []byte) error {
	if len(b) == 0 {
		return errShortRow
	}
	for _, t := range tables {
		if t.tag != b[0] {
			continue
		}
		r := rowReader{b: b[1:]}
		t.load(s, &r)
		if err := r.end(); err != nil {
			return fmt.Errorf("load a row of table %s: %w", t.name, err)
		}
		return nil
	}
	return fmt.Errorf("load a row of table tag %d: written by another version of doze", b[0])
}

// Tables lists the tables' names in dump order.
func Tables() []string {
	names := make([]string, 0, len(tables))
	for _, t := range tables {
		if !t.hidden() {
			names = append(names, t.name)
		}
	}
	return names
}

// Dump yields the rows of one table in key order; false when there is no such table.
func (s *State) Dump(name string, yield func([]Field) bool) bool {
	for _, t := range tables {
		if t.name == name && !t.hidden() {
			t.shown(s, yield)
			return true
		}
	}
	return false
}

// The row that holds the state's single values.
type broker struct {
	clusterID      string
	starts         int32
	nextProducerID int64
}

func (b broker) encode(w *rowWriter) {
	w.string(b.clusterID)
	w.int(int64(b.starts))
	w.int(b.nextProducerID)
}

func (b broker) Fields() []Field {
	return []Field{{"cluster", b.clusterID}, {"starts", int64(b.starts)}, {"next-producer-id", b.nextProducerID}}
}

func eachBroker(s *State, yield func(row) bool) {
	yield(broker{s.ClusterID, s.Starts, s.NextProducerID})
}

func loadBroker(s *State, r *rowReader) {
	s.ClusterID, s.Starts, s.NextProducerID = r.string(), r.int32(), r.int()
}

func (t *Topic) encode(w *rowWriter) {
	w.string(t.Name)
	w.id(t.ID)
	w.int(int64(t.Partitions))
	w.int(t.CreatedAt)
	w.uint(uint64(len(t.Ranges)))
	for _, r := range t.Ranges {
		w.int(int64(r.First))
		w.int(int64(r.Starts))
	}
}

// Fields shows the topic's ranges as "first@starts".
func (t *Topic) Fields() []Field {
	ranges := make([]string, len(t.Ranges))
	for i, r := range t.Ranges {
		ranges[i] = fmt.Sprintf("%d@%d", r.First, r.Starts)
	}
	return []Field{{"topic", t.Name}, {"id", t.ID.String()}, {"partitions", int64(t.Partitions)}, {"created-at", t.CreatedAt}, {"ranges", ranges}}
}

func eachTopic(s *State, yield func(row) bool) {
	s.Topics.Each("", func(t *Topic) bool { return yield(t) })
}

func loadTopic(s *State, r *rowReader) {
	t := &Topic{Name: r.string(), ID: r.id(), Partitions: r.int32(), CreatedAt: r.int()}
	for range r.count() {
		t.Ranges = append(t.Ranges, PartitionRange{First: r.int32(), Starts: r.int32()})
	}
	if len(t.Ranges) == 0 || t.Partitions <= 0 {
		r.fail(fmt.Errorf("topic %q has no partition", t.Name))
		return
	}
	s.Topics.put(t)
}

func (l LogStart) encode(w *rowWriter) {
	w.id(l.Topic)
	w.int(int64(l.Partition))
	w.int(l.Offset)
}

// Fields names the topic by its id: the row outlives no rename, there are none.
func (l LogStart) Fields() []Field {
	return []Field{{"topic", l.Topic.String()}, {"partition", int64(l.Partition)}, {"log-start", l.Offset}}
}

func eachLogStart(s *State, yield func(row) bool) {
	s.LogStarts.tree.Ascend(func(l LogStart) bool { return yield(l) })
}

func loadLogStart(s *State, r *rowReader) {
	s.LogStarts.tree.ReplaceOrInsert(LogStart{Topic: r.id(), Partition: r.int32(), Offset: r.int()})
}

func (c Config) encode(w *rowWriter) {
	w.int(int64(c.Type))
	w.string(c.Resource)
	w.string(c.Name)
	w.string(c.Value)
}

// Fields shows the resource as "type:name".
func (c Config) Fields() []Field {
	return []Field{{"resource", fmt.Sprintf("%d:%s", c.Type, c.Resource)}, {"config", c.Name}, {"value", c.Value}}
}

func eachConfig(s *State, yield func(row) bool) {
	s.Configs.tree.Ascend(func(c Config) bool { return yield(c) })
}

func loadConfig(s *State, r *rowReader) {
	kind := r.int()
	if kind != int64(int8(kind)) {
		r.fail(errRowForm)
	}
	s.Configs.put(Config{Type: int8(kind), Resource: r.string(), Name: r.string(), Value: r.string()})
}
