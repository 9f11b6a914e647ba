package handlers

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/disk"
)

// nothingGrows is a full disk.
func nothingGrows() *disk.Fault {
	return &disk.Fault{Err: disk.ENOSPC, Only: []disk.Op{disk.OpWrite, disk.OpPreallocate, disk.OpCreate, disk.OpMkdir}, Grows: true, Persistent: true}
}

// TestRetentionFreesAFullDisk: when neither records nor offsets nor topics can be written any more, what outlived its retention
// still goes, but for the segment that is written: there is no room for the next.
func TestRetentionFreesAFullDisk(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.topicWith("old", "retention.ms", "1000", "segment.bytes", "1024")
	c.topicWith("some", "retention.bytes", "1024", "segment.bytes", "1024")
	c.createTopic("orders", 2)
	for range 30 {
		c.produce("old", -1, batch(1, day, -1, -1, -1))
		c.produce("some", -1, batch(1, day, -1, -1, -1))
	}
	b.fs.Inject(nothingGrows())
	c.untilNoOffsetFits()
	b.clock.now.Add(1001)
	b.broker.cleaner.retain(context.Background(), deleteOnly)
	old, some := c.earliest("old"), c.earliest("some")
	if old < 15 || some < 1 {
		t.Fatalf("log starts %d and %d on a full disk", old, some)
	}
	b.fs.Clear()
	b.broker.cleaner.retain(context.Background(), deleteOnly)
	if start := c.earliest("old"); start != 30 {
		t.Errorf("log start %d with space again", start)
	}
	b.restart()
	if start := b.connect().earliest("some"); start != some {
		t.Errorf("log start %d after a restart, was %d", start, some)
	}
}

// untilNoOffsetFits commits offsets until they are refused.
func (c *testConn) untilNoOffsetFits() {
	c.t.Helper()
	metadata := strings.Repeat("m", 4000)
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); {
		for _, size := range []int{4000, 0} {
			req := kmsg.NewPtrOffsetCommitRequest()
			req.Group, req.Generation = "full", -1
			p := kmsg.NewOffsetCommitRequestTopicPartition()
			p.Offset, p.Metadata = 1, text(metadata[:size])
			req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}}
			code := request[*kmsg.OffsetCommitResponse](c, req, 7).Topics[0].Partitions[0].ErrorCode
			switch {
			case code == none:
			case code != notCoordinator:
				c.t.Fatalf("commit on a full disk: code %d", code)
			case size == 0:
				return
			}
		}
	}
	c.t.Fatal("offsets are never refused")
}
