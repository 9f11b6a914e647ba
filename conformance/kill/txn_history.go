package kill

import (
	"fmt"
	"slices"
	"sync"
)

// partition is one of a topic.
type partition struct {
	topic  string
	number int32
}

// outcome is what a producer knows of its transaction.
type outcome int

const (
	open outcome = iota
	committed
	aborted // asked for, or left to the broker: nobody asked to commit it
	unknown // to commit it was asked for, and the answer was an error
)

// txnSent is one transaction with its records in the order in which they were sent.
type txnSent struct {
	worker, number int
	outcome        outcome
	records        []*txnRecord
}

// txnRecord is a record of a transaction.
type txnRecord struct {
	at     partition
	key    string
	value  string
	offset int64 // -1: not acknowledged
	txn    *txnSent
	order  int // of its worker's records
}

// txnHistory is what producers of transactions were told, and what readers of committed records were given.
type txnHistory struct {
	mu     sync.Mutex
	txns   []*txnSent
	byName map[string]*txnRecord
	sent   map[int]int // records by worker
	seen   map[partition]map[int64]string
	faults []string
}

func newTxnHistory() *txnHistory {
	return &txnHistory{byName: map[string]*txnRecord{}, sent: map[int]int{}, seen: map[partition]map[int64]string{}}
}

func (h *txnHistory) fault(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faultLocked(format, args...)
}

func (h *txnHistory) faultLocked(format string, args ...any) {
	if len(h.faults) < 50 {
		h.faults = append(h.faults, fmt.Sprintf(format, args...))
	}
}

// begin notes a transaction.
func (h *txnHistory) begin(worker, number int) *txnSent {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := &txnSent{worker: worker, number: number}
	h.txns = append(h.txns, t)
	return t
}

// value is a new record of the transaction.
func (h *txnHistory) value(t *txnSent, at partition, key string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &txnRecord{at: at, key: key, value: fmt.Sprintf("%d/%d/%d", t.worker, t.number, len(t.records)), offset: -1, txn: t}
	t.records = append(t.records, r)
	return r.value
}

// acked notes where the broker said that a record is.
func (h *txnHistory) acked(t *txnSent, value string, offset int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range t.records {
		if r.value == value {
			r.offset = offset
		}
	}
}

// ended notes what became of a transaction.
func (h *txnHistory) ended(t *txnSent, how outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.outcome = how
	for _, r := range t.records {
		h.sent[t.worker]++
		r.order = h.sent[t.worker]
		h.byName[r.value] = r
	}
}

// read notes a record that a reader was given.
func (h *txnHistory) read(p partition, s stored) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seen[p] == nil {
		h.seen[p] = map[int64]string{}
	}
	if before, some := h.seen[p][s.offset]; some && before != s.value {
		h.faultLocked("offset %d of %v was %s, and then %s", s.offset, p, before, s.value)
	}
	h.seen[p][s.offset] = s.value
}

// count counts transactions with records.
func (h *txnHistory) count() (nCommitted, nAborted, nUnknown int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.txns {
		switch t.outcome {
		case committed:
			nCommitted++
		case aborted:
			nAborted++
		case unknown:
			nUnknown++
		}
	}
	return nCommitted, nAborted, nUnknown
}

// judge compares what was told with what is there: the committed records of all partitions, in their order.
func (h *txnHistory) judge(log map[partition][]stored) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	there := h.place(log)
	for _, t := range h.txns {
		h.judgeTxn(t, there)
	}
	for p, seen := range h.seen {
		h.judgeSeen(p, seen, log[p])
	}
	h.judgeKeys(log)
	slices.Sort(h.faults)
	return h.faults
}

// place looks at the log by itself: offsets rise, nothing is there twice or of nobody, each worker's records are in order.
func (h *txnHistory) place(log map[partition][]stored) map[string]bool {
	there := map[string]bool{}
	for p, records := range log {
		last, order := int64(-1), map[int]int{}
		for _, s := range records {
			if s.offset <= last {
				h.faultLocked("offset %d follows %d in %v", s.offset, last, p)
			}
			last = s.offset
			r := h.byName[s.value]
			switch {
			case r == nil:
				h.faultLocked("%s at %d of %v was never sent", s.value, s.offset, p)
				continue
			case there[s.value]:
				h.faultLocked("%s is there twice, again at %d of %v", s.value, s.offset, p)
			case r.at != p || r.offset >= 0 && r.offset != s.offset:
				h.faultLocked("%s was acknowledged at %d of %v and is at %d of %v", s.value, r.offset, r.at, s.offset, p)
			case order[r.txn.worker] >= r.order:
				h.faultLocked("%s at %d of %v is behind a later one", s.value, s.offset, p)
			}
			there[s.value], order[r.txn.worker] = true, r.order
		}
	}
	return there
}

// judgeTxn: all of a committed transaction is there, nothing of an aborted one, all or nothing of another. Of the compacted
// topic that can only be said of what is not superseded: see judgeKeys.
func (h *txnHistory) judgeTxn(t *txnSent, there map[string]bool) {
	some, all := false, true
	for _, r := range t.records {
		if r.key != "" {
			if there[r.value] && t.outcome == aborted {
				h.faultLocked("%s of an aborted transaction is there", r.value)
			}
			some = some || there[r.value]
			continue
		}
		some, all = some || there[r.value], all && there[r.value]
	}
	switch {
	case t.outcome == committed && !all:
		h.faultLocked("transaction %d/%d was committed and is not there as a whole", t.worker, t.number)
	case t.outcome == aborted && some:
		h.faultLocked("transaction %d/%d was aborted and is there", t.worker, t.number)
	case t.outcome == unknown && some && !all:
		h.faultLocked("transaction %d/%d is there in part", t.worker, t.number)
	}
}

// judgeSeen: a reader was given nothing that is not there. What was compacted since may have gone.
func (h *txnHistory) judgeSeen(p partition, seen map[int64]string, log []stored) {
	is := map[int64]string{}
	for _, s := range log {
		is[s.offset] = s.value
	}
	for offset, value := range seen {
		found, some := is[offset]
		r := h.byName[value]
		switch {
		case r == nil, r.txn.outcome == aborted:
			h.faultLocked("a reader was given %s at %d of %v, which is of no committed transaction", value, offset, p)
		case some && found != value, !some && r.key == "":
			h.faultLocked("a reader was given %s at %d of %v, where there is %q", value, offset, p, found)
		}
	}
}

// judgeKeys: the last record of each key that was committed for sure is there, unless a later one is.
func (h *txnHistory) judgeKeys(log map[partition][]stored) {
	last := map[string]*txnRecord{}
	for _, t := range h.txns {
		for _, r := range t.records {
			if r.key != "" && t.outcome == committed && (last[r.key] == nil || last[r.key].order < r.order) {
				last[r.key] = r
			}
		}
	}
	latest := map[string]int{}
	for _, records := range log {
		for _, s := range records {
			if r := h.byName[s.value]; r != nil && r.key != "" {
				latest[r.key] = max(latest[r.key], r.order)
			}
		}
	}
	for key, r := range last {
		if latest[key] < r.order {
			h.faultLocked("%s, the last that was committed of key %s, is not there", r.value, key)
		}
	}
}
