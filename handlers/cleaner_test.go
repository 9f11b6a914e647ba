package handlers

import (
	"context"
	"hash/crc32"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
	"doze/segments"
)

// keyed makes a batch of one record with a key.
func keyed(key, value string, at int64) []byte {
	b := kmsg.RecordBatch{PartitionLeaderEpoch: -1, Magic: 2, FirstTimestamp: at, MaxTimestamp: at, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: 1}
	r := kmsg.Record{Key: []byte(key), Value: []byte(value)}
	r.Length = int32(len(r.AppendTo(nil)) - 1)
	b.Records = r.AppendTo(nil)
	b.Length = int32(49 + len(b.Records))
	b.CRC = int32(crc32.Checksum(b.AppendTo(nil)[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b.AppendTo(nil)
}

func (c *testConn) earliest(name string) int64 {
	c.t.Helper()
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version = 4
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = name
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp = -2
	topic.Partitions = append(topic.Partitions, p)
	req.Topics = append(req.Topics, topic)
	return ask[*kmsg.ListOffsetsResponse](c, req).Topics[0].Partitions[0].Offset
}

func (c *testConn) topicWith(name string, pairs ...string) {
	c.t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version = 7
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, 1, 1
	for i := 0; i < len(pairs); i += 2 {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = pairs[i], &pairs[i+1]
		topic.Configs = append(topic.Configs, config)
	}
	req.Topics = append(req.Topics, topic)
	if resp := ask[*kmsg.CreateTopicsResponse](c, req); resp.Topics[0].ErrorCode != none {
		c.t.Fatalf("create %s: %+v", name, resp.Topics[0])
	}
}

func deleteOnly(t *configs.Topic) bool { return t.Delete && !t.Compact }

// TestRetentionMovesTheLogStart: what outlived its retention is gone for clients, and the journal knows, so that it is gone
// after a restart too.
func TestRetentionMovesTheLogStart(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.topicWith("old", "retention.ms", "1000", "segment.bytes", "1024")
	c.topicWith("kept", "segment.bytes", "1024")
	for range 30 {
		c.produce("old", -1, batch(1, day, -1, -1, -1))
		c.produce("kept", -1, batch(1, day, -1, -1, -1))
	}
	b.clock.now.Add(1001)
	b.broker.cleaner.retain(context.Background(), deleteOnly)
	if start := c.earliest("old"); start != 30 {
		t.Fatalf("log start %d of records that are all too old", start)
	}
	if start := c.earliest("kept"); start != 0 {
		t.Fatalf("log start %d of a topic without retention", start)
	}
	if p := c.produce("old", -1, batch(1, day, -1, -1, -1)); p.BaseOffset != 30 || p.LogStartOffset != 30 {
		t.Fatalf("%+v", p)
	}
	b.restart()
	if start := b.connect().earliest("old"); start != 30 {
		t.Fatalf("log start %d after a restart", start)
	}
}

// TestRetentionDoesNotWaitForCompaction: while a partition is compacted, which a throttle may draw out, others lose what is old.
func TestRetentionDoesNotWaitForCompaction(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	c.topicWith("old", "retention.ms", "1000", "segment.bytes", "1024")
	for range 30 {
		c.produce("old", -1, batch(1, day, -1, -1, -1))
	}
	b.clock.now.Add(1001)
	b.broker.cleaner.compacting.Lock()
	defer b.broker.cleaner.compacting.Unlock()
	b.broker.cleaner.retain(context.Background(), deleteOnly)
	if start := c.earliest("old"); start != 30 {
		t.Fatalf("log start %d of records that are all too old", start)
	}
}

// TestCompactionInTheBackground: a topic that nobody opened since the start is compacted by itself.
func TestCompactionInTheBackground(t *testing.T) {
	b := startTestBroker(t, map[string]string{"log.cleaner.backoff.ms": "10", "log.cleaner.enable": "false"})
	c := b.connect()
	c.topicWith("table", "cleanup.policy", "compact", "segment.bytes", "1024")
	c.topicWith("single", "cleanup.policy", "compact")
	for i := range 60 {
		c.produce("table", -1, keyed("key", string(rune('a'+i%26)), day))
		c.produce("single", -1, keyed("key", "v", day))
	}
	if b.broker.cleaner.compact(context.Background()) {
		t.Fatal("compacted although log.cleaner.enable is false")
	}
	b.props["log.cleaner.enable"] = "true"
	b.restart()
	state, _ := b.store.View()
	topic := state.Topics.Named("table")
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		log := b.logs.Known(segments.ID{Topic: topic.ID})
		if log != nil {
			infos, err := log.Segments()
			if err != nil {
				t.Fatal(err)
			}
			closed := int64(0)
			for _, s := range infos[:len(infos)-1] {
				closed += s.Bytes
			}
			if len(infos) > 2 && closed < 500 { // one record, and the heads of the other segments' ends
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("it was not compacted")
		}
	}
	if b.logs.Known(segments.ID{Topic: state.Topics.Named("single").ID}) != nil {
		t.Fatal("what has nothing to compact was opened")
	}
}
