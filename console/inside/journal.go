package inside

import "context"

// Journal is the control journal: everything that changed, records aside, with who changed it.
type Journal interface {
	// Head says how far the journal reaches. It is cheap, and rises with every entry.
	Head() Head
	// Entries gives the entries that a filter lets through, newest first.
	Entries(ctx context.Context, f EntryFilter) (EntryPage, error)
	// Entry gives one entry.
	Entry(ctx context.Context, seq uint64) (Entry, error)
	// Strips counts the events of each area from one entry to another in so many columns.
	Strips(ctx context.Context, from, to uint64, columns int) (Strips, error)
	// State is what was true after an entry.
	State(ctx context.Context, seq uint64) (State, error)
	// Changes is what differs between the states after two entries, and who did it.
	Changes(ctx context.Context, from, to uint64) (Changes, error)
	// Lag is what a group had committed and how far the partitions reached, at its last commits.
	Lag(ctx context.Context, group string) (LagHistory, error)
}

// Head is how far the journal reaches.
type Head struct {
	First  uint64 // the oldest entry that is kept
	Last   uint64
	LastAt int64  // ms
	Read   uint64 // how far it has been read for the pages; below Last only while it is read for the first time
	Begun  uint64 // the first entry of this run of the broker: earlier ones have no request in Traffic
}

// EntryFilter picks entries. The zero value lets all through.
type EntryFilter struct {
	Area      string // of Areas
	Kind      string // of an event, as TopicCreated
	Topic     string // whole name
	Group     string // whole name
	Client    string // whole client id of the cause
	Principal string // whole principal of the cause
	Text      string // part of the line of an event
	Conn      uint64 // of the cause, with Correlation; 0: any
	Corr      int32
	From, To  int64  // ms; 0: no bound
	Before    uint64 // entries below; 0: all
	After     uint64 // entries above
	Oldest    bool   // the oldest first, from After on
	Limit     int    // 0: 100
}

// EntryPage is a part of the entries.
type EntryPage struct {
	Entries []Entry
	Next    uint64 // the Before (Oldest: the After) to go on with; 0: that is all
	Scanned int    // entries that were looked at
	Enough  bool   // looking was ended for it took long; Next goes on
}

// Entry is one atomic change.
type Entry struct {
	Seq    uint64
	At     int64 // ms
	Cause  Cause
	Events []Event
	More   int // events that are not shown
	Bytes  int64
}

// Cause says who made an entry.
type Cause struct {
	API         string // empty: a timer, or the broker itself
	Key         int16  // of the API; -1: none
	Conn        uint64
	Correlation int32
	Client      string
	Principal   string
	Timer       string
}

// Event is one fact.
type Event struct {
	Kind   string
	Area   string
	Words  string  // what happened; empty: its fields say it
	Text   string  // its fields in a line
	Things []Thing // what it changed
	Fields []Line
}

// Thing is something that an event is about.
type Thing struct {
	Kind string // topic, group, subject, config, transaction, user, member
	Name string
}

// Areas are the areas of events, in the order of their strips.
var Areas = []string{"broker", "topics", "configs", "groups", "offsets", "transactions", "producers", "security", "schemas"}

// Strips are counts of events in columns.
type Strips struct {
	From, To uint64
	FromAt   int64
	ToAt     int64
	Columns  []Column
}

// Column is a part of a strip.
type Column struct {
	First, Last uint64 // entries
	Counts      []int  // by area, in the order of Areas
}

// State is what was true after an entry.
type State interface {
	Seq() uint64
	At() int64 // ms of the entry
	// Tables are the names of the tables that have rows.
	Tables() []TableSize
	// Rows gives a part of a table's rows.
	Rows(ctx context.Context, q RowQuery) (Rows, error)
	// Release gives back what the state holds; it is not asked any more.
	Release()
}

// TableSize is a table with its number of rows.
type TableSize struct {
	Name string
	Rows int // -1: more than are counted
}

// RowQuery picks rows of a table.
type RowQuery struct {
	Table    string
	Column   string // with Is: only rows whose column is that
	Is       string
	Contains string // only rows that hold this anywhere
	Skip     int
	Limit    int // 0: 100
}

// Rows are rows of a table, as text; times are in columns whose name Time lists.
type Rows struct {
	Columns []string
	Times   []bool // by column: its values are ms since 1970
	Rows    [][]string
	More    bool
}

// Changes is what differs between two states.
type Changes struct {
	From, To     uint64
	FromAt, ToAt int64
	Tables       []TableChanges
	Note         string // what is not in it; empty: it is all
}

// TableChanges is what differs in a table.
type TableChanges struct {
	Table                     string
	Created, Deleted, Changed int
	Changes                   []Change // at most some hundred
	More                      int
}

// Change is a row that is not what it was.
type Change struct {
	What   string // created, deleted or changed
	Key    string
	Fields []FieldChange
	Seq    uint64 // the last entry that touched it; 0: not known
	Cause  Cause  // of that entry
}

// FieldChange is a value that is not what it was.
type FieldChange struct {
	Name     string
	Old, New string
	Time     bool // they are ms since 1970
}

// LagHistory is what a group had committed over time.
type LagHistory struct {
	Series []LagSeries
	More   int    // partitions that are left out
	Since  uint64 // the oldest entry that was looked at
	Note   string
}

// LagSeries is one partition's.
type LagSeries struct {
	Topic     string
	Partition int32
	Points    []LagPoint // oldest first
}

// LagPoint is one commit.
type LagPoint struct {
	Seq       uint64
	At        int64
	Committed int64
	End       int64 // of the partition then
	Known     bool  // End is exact
}
