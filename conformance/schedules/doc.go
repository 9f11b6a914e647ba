// Package schedules plays seeded schedules of transactions whose requests are delayed, duplicated and reordered.
//
// Two producers write transactions to the partitions of one topic and commit an offset in each. What a producer sends is
// answered at once, as a client that tries again would have it; but now and then a request has a ghost: a copy that was
// held up somewhere and arrives later, behind requests that were sent after it. Ghosts are of AddPartitionsToTxn,
// AddOffsetsToTxn, Produce, TxnOffsetCommit and EndTxn. Requests arrive one at a time, so a schedule has one outcome.
//
// By the second protocol of transactions (Produce v12, EndTxn v5) a ghost has no effect on another transaction: all that
// the producers send succeeds, and a read_committed reader gets exactly what they committed. By the first one it has, and
// its effects are Kafka's: recorded/v1.txt holds what Apache Kafka 4.3.1 answered to each request of fixed seeds, and
// what was there in the end. recorded/v2.txt holds the same of the second.
package schedules
