package projections

import (
	"bytes"
	"cmp"
	"slices"

	"doze/journal"
)

// TxnState is the state of a transactional id's last transaction, by Kafka's names.
type TxnState uint8

// The states of a transaction. Numbers are Kafka's, and stored.
const (
	TxnEmpty TxnState = iota
	TxnOngoing
	TxnPrepareCommit
	TxnPrepareAbort
	TxnCompleteCommit
	TxnCompleteAbort
)

var txnStateNames = [...]string{"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort"}

func (s TxnState) String() string { return txnStateNames[s] }

// Ending says whether the verdict is made and not yet written everywhere.
func (s TxnState) Ending() bool { return s == TxnPrepareCommit || s == TxnPrepareAbort }

// Complete says whether the last transaction is over, and no producer came since.
func (s TxnState) Complete() bool { return s == TxnCompleteCommit || s == TxnCompleteAbort }

// Open says whether the transaction holds anything.
func (s TxnState) Open() bool { return s == TxnOngoing || s.Ending() }

// Transaction is a transactional id with its producer and its last transaction: an immutable value, replaced as a whole.
type Transaction struct {
	ID             string
	ProducerID     int64
	PrevProducerID int64 // before the last change
	NextProducerID int64 // once the transaction that is ending is over; -1: the same
	Epoch          int16
	LastEpoch      int16 // which a producer that repeats a request still names; -1: none
	TimeoutMs      int32
	State          TxnState
	Version        int8                   // transaction.version that the producer spoke last: 0 or 2
	Partitions     []journal.TxnPartition // sorted; their topics may be gone
	Gone           []GoneTopic            // topics of Partitions that were deleted meanwhile
	Groups         []int32                // sorted; partitions of Kafka's topic of offsets, which is how Kafka knows groups
	StartAt        int64                  // ms; -1: none since the producer is there
	UpdatedAt      int64                  // ms
	Joined         uint64                 // the entry that last added a partition or a group
}

// GoneTopic is a topic that was deleted while a transaction had partitions of it.
type GoneTopic struct {
	ID   ID
	Name string
}

// ComparePartitions orders the partitions of a transaction.
func ComparePartitions(a, b journal.TxnPartition) int {
	return cmp.Or(bytes.Compare(a.Topic[:], b.Topic[:]), cmp.Compare(a.Partition, b.Partition))
}

// Has says whether the partition is part of the transaction.
func (t *Transaction) Has(p journal.TxnPartition) bool {
	_, found := slices.BinarySearchFunc(t.Partitions, p, ComparePartitions)
	return found
}

// HasGroup says whether the partition of Kafka's topic of offsets is part of the transaction.
func (t *Transaction) HasGroup(partition int32) bool {
	_, found := slices.BinarySearch(t.Groups, partition)
	return found
}

// Transactions holds transactional ids.
type Transactions struct {
	byID       tree[*Transaction]
	byProducer tree[*Transaction]
	open       tree[*Transaction] // those whose transaction is, by id
	bytes      int64
}

func newTransactions() Transactions {
	byID := func(a, b *Transaction) bool { return a.ID < b.ID }
	return Transactions{
		byID: newTree(byID), open: newTree(byID),
		byProducer: newTree(func(a, b *Transaction) bool { return a.ProducerID < b.ProducerID }),
	}
}

func (t *Transactions) clone() Transactions {
	return Transactions{t.byID.clone(), t.byProducer.clone(), t.open.clone(), t.bytes}
}

// Get finds a transactional id; nil when there is none.
func (t Transactions) Get(id string) *Transaction {
	found, _ := t.byID.Get(&Transaction{ID: id})
	return found
}

// OfProducer finds the transactional id that has the producer id now; nil when none has.
func (t Transactions) OfProducer(id int64) *Transaction {
	found, _ := t.byProducer.Get(&Transaction{ProducerID: id})
	return found
}

// Len counts transactional ids.
func (t Transactions) Len() int { return t.byID.Len() }

// Each yields transactional ids in order.
func (t Transactions) Each(yield func(*Transaction) bool) { t.byID.Ascend(yield) }

// put replaces the transactional id.
func (t *Transactions) put(x *Transaction) {
	if old, had := t.byID.ReplaceOrInsert(x); had {
		t.bytes -= old.Bytes()
		if old.ProducerID != x.ProducerID {
			t.byProducer.Delete(old)
		}
	}
	t.byProducer.ReplaceOrInsert(x)
	if x.State.Open() {
		t.open.ReplaceOrInsert(x)
	} else if t.open.Has(x) {
		t.open.Delete(x)
	}
	t.bytes += x.Bytes()
}

// topicGone notes in the open transactions that have partitions of a topic what its name was.
func (t *Transactions) topicGone(topic *Topic) {
	var with []*Transaction
	t.open.Ascend(func(x *Transaction) bool {
		if x.hasTopic(topic.ID) {
			with = append(with, x)
		}
		return true
	})
	for _, x := range with {
		noted := *x
		noted.Gone = append(x.Gone[:len(x.Gone):len(x.Gone)], GoneTopic{topic.ID, topic.Name})
		t.put(&noted)
	}
}

// hasTopic says whether a partition of the topic is part of the transaction.
func (t *Transaction) hasTopic(id ID) bool {
	i, _ := slices.BinarySearchFunc(t.Partitions, journal.TxnPartition{Topic: id}, ComparePartitions)
	return i < len(t.Partitions) && t.Partitions[i].Topic == id
}

// TopicName is the name of a topic that was deleted while the transaction had partitions of it; "" of others.
func (t *Transaction) TopicName(id ID) string {
	for _, g := range t.Gone {
		if g.ID == id {
			return g.Name
		}
	}
	return ""
}

func (t *Transactions) drop(x *Transaction) {
	t.byID.Delete(x)
	t.byProducer.Delete(x)
	t.bytes -= x.Bytes()
}

// Bytes is what the transactional id is reckoned to take.
func (t *Transaction) Bytes() int64 {
	n := txnBytes + int64(len(t.ID)+txnPartitionBytes*len(t.Partitions)+4*len(t.Groups))
	for _, g := range t.Gone {
		n += nameBytes + int64(len(g.ID)+len(g.Name))
	}
	return n
}

// Bytes is what all transactional ids are reckoned to take.
func (t Transactions) Bytes() int64 { return t.bytes }
