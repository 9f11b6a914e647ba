package journal

// OffsetsCommitted is the hottest event: a million of them make a start. Its payload is
//
//	[group, [[topic, id, [[partition, offset, epoch, metadata, commitAt, expireAt], ...]], ...]]
//
// with a run of partitions of one topic under that topic's name: the order of Offsets is kept, a name is not repeated.

func (e *OffsetsCommitted) pack(b []byte) []byte {
	return packOffsets(appendString(appendArray(b, 2), e.Group), e.Offsets)
}

func packOffsets(b []byte, offsets []CommittedOffset) []byte {
	b = appendArray(b, countRuns(offsets))
	for rest := offsets; len(rest) > 0; {
		n := runLength(rest)
		b = appendID(appendString(appendArray(b, 3), rest[0].Topic), rest[0].TopicID)
		b = appendArray(b, n)
		for i := range rest[:n] {
			b = rest[i].pack(b)
		}
		rest = rest[n:]
	}
	return b
}

func (o *CommittedOffset) pack(b []byte) []byte {
	b = appendArray(b, 6)
	b = appendInt(b, int64(o.Partition))
	b = appendInt(b, o.Offset)
	b = appendInt(b, int64(o.LeaderEpoch))
	b = appendString(b, o.Metadata)
	b = appendInt(b, o.CommitAt)
	return appendInt(b, o.ExpireAt)
}

func (e *OffsetsCommitted) unpack(u *unpacker) {
	u.fields(2)
	e.Group = u.name()
	e.Offsets = unpackOffsets(u)
}

func unpackOffsets(u *unpacker) (offsets []CommittedOffset) {
	for range u.array() {
		if offsets = unpackRun(u, offsets); u.err != nil {
			return nil
		}
	}
	return offsets
}

func unpackRun(u *unpacker, offsets []CommittedOffset) []CommittedOffset {
	u.fields(3)
	topic, id := u.name(), u.id()
	if n := len(offsets); n > 0 && offsets[n-1].sameTopic(topic, id) {
		u.fail("topic %q twice: %w", topic, errNotCanonical)
		return nil
	}
	n := u.array()
	if n == 0 {
		u.fail("topic %q without partitions: %w", topic, errNotCanonical)
		return nil
	}
	if offsets == nil {
		offsets = make([]CommittedOffset, 0, min(n, 1+len(u.b)/7)) // an offset takes 7 bytes at least
	}
	for range n {
		u.fields(6)
		offsets = append(offsets, CommittedOffset{
			Topic: topic, TopicID: id,
			Partition: u.int32(), Offset: u.int(), LeaderEpoch: u.int32(), Metadata: u.name(),
			CommitAt: u.int(), ExpireAt: u.int(),
		})
		if u.err != nil {
			return nil
		}
	}
	return offsets
}

// TxnOffsetsStaged is what a copy job commits in each transaction. Its payload is that of OffsetsCommitted with the
// transactional id before it.

func (e *TxnOffsetsStaged) pack(b []byte) []byte {
	return packOffsets(appendString(appendString(appendArray(b, 3), e.ID), e.Group), e.Offsets)
}

func (e *TxnOffsetsStaged) unpack(u *unpacker) {
	u.fields(3)
	e.ID, e.Group = u.name(), u.name()
	e.Offsets = unpackOffsets(u)
}

func (o *CommittedOffset) sameTopic(topic string, id [16]byte) bool {
	return o.Topic == topic && o.TopicID == id
}

// runLength is how many offsets at the beginning of a non-empty list are of the same topic.
func runLength(offsets []CommittedOffset) int {
	n := 1
	for n < len(offsets) && offsets[n].sameTopic(offsets[0].Topic, offsets[0].TopicID) {
		n++
	}
	return n
}

func countRuns(offsets []CommittedOffset) int {
	runs := 0
	for len(offsets) > 0 {
		offsets = offsets[runLength(offsets):]
		runs++
	}
	return runs
}
