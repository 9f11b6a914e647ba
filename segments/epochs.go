package segments

import "sort"

// epochStart says that from offset start on, batches carry that leader epoch.
type epochStart struct {
	epoch int32
	start int64
}

// epochs is a partition's list of leader epochs, epochs and offsets both rising. It is a fold over the batches' headers
// plus the epoch that the partition is led with now.
type epochs []epochStart

// assign notes that offset start is written (or would be written next) under epoch. An epoch under which nothing was
// written leaves no trace once the next one begins at the same offset.
func (l *epochs) assign(epoch int32, start int64) {
	if n := len(*l); epoch < 0 || n > 0 && (*l)[n-1].epoch == epoch && start >= (*l)[n-1].start {
		return
	}
	for n := len(*l); n > 0 && ((*l)[n-1].epoch >= epoch || (*l)[n-1].start >= start); n-- {
		*l = (*l)[:n-1]
	}
	*l = append(*l, epochStart{epoch, start})
}

// cut drops what lies before the log's start; the epoch that the start lies in now begins there.
func (l *epochs) cut(start int64) {
	i := sort.Search(len(*l), func(i int) bool { return (*l)[i].start > start })
	if i == 0 {
		return
	}
	*l = (*l)[i-1:]
	(*l)[0].start = max((*l)[0].start, start)
}

// latest is the current epoch, -1 when none is known.
func (l epochs) latest() int32 {
	if len(l) == 0 {
		return -1
	}
	return l[len(l)-1].epoch
}

// end answers OffsetForLeaderEpoch: the largest known epoch up to the one asked for and where it ends; (-1, -1) when
// that is not known.
func (l epochs) end(epoch int32, logEnd int64) (int32, int64) {
	if epoch == -1 || len(l) == 0 {
		return -1, -1
	}
	if epoch == l.latest() {
		return epoch, logEnd
	}
	i := sort.Search(len(l), func(i int) bool { return l[i].epoch > epoch })
	switch {
	case i == len(l):
		return -1, -1
	case i == 0: // older than all that is left: its records are gone, it ended where the log begins
		return epoch, l[0].start
	}
	return l[i-1].epoch, l[i].start
}

// at is the epoch that an offset was written under, -1 when not known.
func (l epochs) at(offset int64) int32 {
	i := sort.Search(len(l), func(i int) bool { return l[i].start > offset })
	if i == 0 {
		return -1
	}
	return l[i-1].epoch
}
