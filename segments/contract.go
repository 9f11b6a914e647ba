package segments

// The contract of this package with handlers, to be filled (see README.md). Names and shapes may be improved by the
// package's author as long as handlers stay simple.
//
//	ID{Topic [16]byte; Partition int32}           a partition; its directory is named by the topic id and the number
//
//	OpenDir(fs disk.FS, root string, opt Options) (*Dir, error)
//	  Options{Now func() int64 (ms); MaxOpenFiles; SyncEvery time.Duration (coarse fsync, 1 s); ...}
//	(*Dir) List() []ID                            partitions with a directory
//	(*Dir) Partition(ID, Config) *Partition       a handle; nothing is opened or created on disk before first use
//	  Config{SegmentBytes int64; SegmentMs ...}   changeable: (*Partition) Configure(Config)
//	(*Dir) Remove(topic [16]byte) error           rename aside, then delete in the background; readers finish
//	(*Dir) Quarantine(ID) (string, error)         rename, never delete
//	(*Dir) Close() error                          syncs, writes the clean checkpoint
//
//	CheckBatches(records []byte, Limits) ([]Batch, error)     outside any lock; every record through its codec, streaming
//	  *CheckError{Reason Reason; Record int32; Detail string}: Corrupt, InvalidRecord, TooLarge, UnsupportedCompression, ...
//	  (handlers map reasons to Kafka's codes)
//	  Batch: header fields (base offset, last offset delta, attributes, producer id/epoch/sequence, max timestamp, count) over its raw bytes
//
//	(*Partition) Append(batch *Batch, Admission) (Appended, error)
//	  Admission{LeaderEpoch int32; JournalSeq uint64; Now int64; LogAppendTime bool; ...}
//	  Appended{BaseOffset, LastOffset, LogStart int64; AppendTime int64; Duplicate bool}
//	  errors: *ProducerError{Kind: OutOfOrder | InvalidEpoch | ...}, ErrStorage (after a failed write or fsync)
//	  writes base offset and partition leader epoch into the batch's header (CRC does not cover them)
//	(*Partition) SyncTo(ctx, offset int64) error  group fsync: returns when everything below offset is on disk
//	(*Partition) Read(Fetch) (Span, error)        Fetch{Offset; MaxBytes; MinOneBatch bool; Isolation}
//	  Span: contiguous stored bytes as a section of one file (for pread or sendfile; holds the file until Release), plus
//	  HighWatermark, LastStable, LogStart, Aborted transactions; ErrOffsetOutOfRange
//	(*Partition) Offsets() Offsets{LogStart, HighWatermark, LastStable}
//	(*Partition) OffsetForTime(ts int64) (Found{Offset, Timestamp, LeaderEpoch}, bool, error)   exact, looks inside batches
//	(*Partition) MaxTimestamp() (Found, bool, error)
//	(*Partition) EndOfEpoch(epoch int32) (epoch int32, end int64)
//	(*Partition) DeleteRecords(before int64) (logStart int64, err error)
//	(*Partition) Producers() []Producer           idempotence state: last 5 batches each, epoch, last timestamp
//	(*Partition) Size() int64
//	(*Partition) Watch(w *Waiter) / Unwatch       edge notification at append, start move, removal, LSO move
