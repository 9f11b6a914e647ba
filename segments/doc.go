// Package segments keeps record batches on disk: verbatim version 2 batches, one directory a partition, found by an index
// with one entry a batch. It knows nothing of topics' names, groups or the journal. README.md specifies the files.
//
// Handlers check what a producer sent with [CheckBatch], outside any lock, and give it to [Partition.Append]; they answer
// a fetch from [Partition.Read] and wait for more with a [Waiter].
//
// A transactional batch is admitted under the partition's lock ([Admission]), [Partition.AppendMarker] ends a transaction, and
// read_committed sees what lies below the oldest open one and is told which were aborted.
//
// What holds:
//   - A batch is stored as it was sent; only what lies before its CRC's range is written into it (base offset, leader
//     epoch), and its time where Kafka does that.
//   - Append returns after write(2): the batch outlives the process. SyncTo returns after fsync: it outlives the machine.
//   - A failed write leaves no trace. After a failed fsync the partition takes no write until the next start.
//   - A crash's torn tail is cut, kept beside and reported. Damage refuses the partition, and only that one.
//   - What is a fold over the batches (end offset, producers, leader epochs, index) is rebuilt from them when its files
//     are missing or wrong; those files are caches.
//   - Memory does not grow with data, nor open files with partitions.
package segments
