package journal

// Events of transactions have the numbers 90 to 109. The transaction of a transactional id goes through them in this order:
//
//	TxnProducerInitialized                         the id has a producer; no transaction is open
//	TxnPartitionsAdded, TxnGroupAdded              the first of them opens a transaction, which takes what they name
//	                                               (fsynced before it is seen when the epoch is that of the one before)
//	TxnOffsetsStaged                               fsynced: offsets that a group has committed if the transaction is
//	TxnEnding                                      durable: the verdict, from which there is no way back
//	(markers are written into the partitions)
//	TxnEnded and OffsetsCommitted, one entry       the transaction is over
//	TxnMarkersSynced                               its markers are on disk; until then its verdict is kept
//
// Every choice that the coordinator makes is in the event (ids, epochs, the verdict), so that a later doze that chooses
// otherwise still folds an old journal to the same state.

// EndReason says why a transaction is ended. Numbers are stored and never reused.
type EndReason uint8

// The reasons for an end.
const (
	EndAsked    EndReason = 1 // EndTxn
	EndTimeout  EndReason = 2 // transaction.timeout.ms of its producer is over
	EndReplaced EndReason = 3 // InitProducerId: another producer takes the transactional id
	EndOrphan   EndReason = 4 // a partition holds records of it that the journal does not know of
)

// TxnPartition is a partition of a transaction. Its topic is named by its id: one that is made anew under the name has no
// part in it.
type TxnPartition struct {
	Topic     [16]byte `msgpack:"t"`
	Partition int32    `msgpack:"p"`
}

// TxnProducerInitialized: the transactional id has this producer id and epoch, and no transaction is open. Older epochs and
// ids are fenced.
type TxnProducerInitialized struct {
	ID         string `msgpack:"i" field:"transactionalId"`
	ProducerID int64  `msgpack:"p"`
	Epoch      int16  `msgpack:"e"`
	LastEpoch  int16  `msgpack:"l"` // which a producer that repeats its request still names; -1: none
	TimeoutMs  int32  `msgpack:"t"` // of its transactions
}

// TxnPartitionsAdded: the partitions are part of the transaction, which begins with this when none is open.
type TxnPartitionsAdded struct {
	ID         string         `msgpack:"i" field:"transactionalId"`
	Version    int8           `msgpack:"v,omitempty"` // transaction.version that the producer speaks: 0 or 2
	Partitions []TxnPartition `msgpack:"p,omitempty"` // none that was in it
}

// TxnGroupAdded: committed offsets of the group may be part of the transaction, which begins with this when none is open.
type TxnGroupAdded struct {
	ID        string `msgpack:"i" field:"transactionalId"`
	Version   int8   `msgpack:"v,omitempty"`
	Group     string `msgpack:"g"`
	Partition int32  `msgpack:"p"` // of Kafka's topic of offsets that the group's name belongs to: Kafka knows it by that
}

// TxnOffsetsStaged: these offsets are the group's when the transaction is committed.
type TxnOffsetsStaged struct {
	ID      string `field:"transactionalId"`
	Group   string
	Offsets []CommittedOffset
}

// TxnEnding: the transaction is committed or aborted. What is left to do is to write it into its partitions.
type TxnEnding struct {
	ID             string    `msgpack:"i" field:"transactionalId"`
	Commit         bool      `msgpack:"c,omitempty"`
	Reason         EndReason `msgpack:"r"`
	Version        int8      `msgpack:"v,omitempty"`
	Epoch          int16     `msgpack:"e"` // of the producer, from here on; the markers carry it
	LastEpoch      int16     `msgpack:"l"`
	NextProducerID int64     `msgpack:"n"` // of the producer once the transaction is over; -1: the same
	// Orphans are partitions that the transaction has and the journal did not know of.
	Orphans []TxnPartition `msgpack:"o,omitempty"`
}

// TxnMarker is a marker that was written.
type TxnMarker struct {
	Topic     [16]byte `msgpack:"t"`
	Partition int32    `msgpack:"p"`
	Offset    int64    `msgpack:"o"`
}

// TxnEnded: every partition of the transaction says how it ended; the offsets that it had staged are gone, or, when it was
// committed, in the same entry. Markers may still be in no other place than the memory of the machine.
type TxnEnded struct {
	ID      string      `msgpack:"i" field:"transactionalId"`
	Commit  bool        `msgpack:"c,omitempty"`
	Markers []TxnMarker `msgpack:"m,omitempty"`
}

// TxnMarkersSynced: the markers of all transactions that had ended at entry UpTo are on disk, those in Failed excepted.
type TxnMarkersSynced struct {
	UpTo   uint64         `msgpack:"u"`
	Failed []TxnPartition `msgpack:"f,omitempty"`
}

// TxnOrphanAborted: a partition held an open transaction that the journal knew nothing of (a power failure took what it
// knew, or nobody has the producer id any more), and is about to hold its abort.
type TxnOrphanAborted struct {
	Topic       [16]byte `msgpack:"t"`
	Partition   int32    `msgpack:"p"`
	ProducerID  int64    `msgpack:"i"`
	Epoch       int16    `msgpack:"e"`
	FirstOffset int64    `msgpack:"o"`
}

// TransactionalIDExpired: nobody used the transactional id for transactional.id.expiration.ms; it is forgotten.
type TransactionalIDExpired struct {
	ID string `msgpack:"i" field:"transactionalId"`
}

func (*TxnProducerInitialized) Kind() Kind { return 90 }
func (*TxnPartitionsAdded) Kind() Kind     { return 91 }
func (*TxnGroupAdded) Kind() Kind          { return 92 }
func (*TxnOffsetsStaged) Kind() Kind       { return 93 }
func (*TxnEnding) Kind() Kind              { return 94 }
func (*TxnEnded) Kind() Kind               { return 95 }
func (*TxnMarkersSynced) Kind() Kind       { return 96 }
func (*TxnOrphanAborted) Kind() Kind       { return 97 }
func (*TransactionalIDExpired) Kind() Kind { return 98 }
