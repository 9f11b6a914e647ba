package handlers

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
)

// topic NAME PARTITIONS
func (b *groupBench) topic(a benchArgs) {
	n, _ := strconv.Atoi(a.words[1])
	_ = b.update(context.Background(), journal.Timed("test"), func(d *groupDecision) {
		d.emit(&journal.TopicCreated{ID: [16]byte{0xee, byte(d.seq)}, Name: a.words[0], Partitions: int32(n)})
	})
}

// delete-topic NAME
func (b *groupBench) deleteTopic(a benchArgs) {
	_ = b.update(context.Background(), journal.Timed("test"), func(d *groupDecision) {
		d.emit(&journal.TopicDeleted{ID: d.state.Topics.Named(a.words[0]).ID})
	})
}

// commit GROUP MEMBER|- GENERATION TOPIC/PARTITION:OFFSET[:METADATA]... [v=9] [retention=5s] [instance=i]
func (b *groupBench) commit(name string, a benchArgs) {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version = int16(a.number("v", 9))
	generation, _ := strconv.Atoi(a.words[2])
	req.Group, req.MemberID, req.Generation, req.InstanceID = a.words[0], member(a.words[1]), int32(generation), a.optional("instance")
	req.RetentionTimeMillis = int64(a.number("retention", -1))
	for _, w := range a.words[3:] {
		at, rest, _ := strings.Cut(w, ":")
		offset, metadata, _ := strings.Cut(rest, ":")
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Offset, _ = strconv.ParseInt(offset, 10, 64)
		p.Metadata = &metadata
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, p.Partition = splitPartition(at)
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
	}
	resp := b.c.offsetCommit(context.Background(), caller{}, req)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			b.printf("%s: commit %s/%d %s\n", name, t.Topic, p.Partition, codeName(p.ErrorCode))
		}
	}
}

func splitPartition(s string) (string, int32) {
	topic, partition, _ := strings.Cut(s, "/")
	n, _ := strconv.Atoi(partition)
	return topic, int32(n)
}

// fetch GROUP [TOPIC/PARTITION]...
func (b *groupBench) fetch(name string, a benchArgs) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Version, req.Group = 7, a.words[0]
	for _, w := range a.words[1:] {
		topic, partition := splitPartition(w)
		req.Topics = append(req.Topics, kmsg.OffsetFetchRequestTopic{Topic: topic, Partitions: []int32{partition}})
	}
	resp := b.c.offsetFetch(req, access{})
	b.printf("%s: fetch %s", name, codeName(resp.ErrorCode))
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			b.printf(" %s/%d:%d:%s", t.Topic, p.Partition, p.Offset, *p.Metadata)
		}
	}
	b.printf("\n")
}

// delete-offsets GROUP TOPIC/PARTITION...
func (b *groupBench) deleteOffsets(name string, a benchArgs) {
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = a.words[0]
	for _, w := range a.words[1:] {
		topic, partition := splitPartition(w)
		req.Topics = append(req.Topics, kmsg.OffsetDeleteRequestTopic{
			Topic: topic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: partition}},
		})
	}
	resp := b.c.offsetDelete(context.Background(), caller{}, req)
	var out strings.Builder
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			fmt.Fprintf(&out, " %s/%d:%s", t.Topic, p.Partition, codeName(p.ErrorCode))
		}
	}
	b.printf("%s: delete-offsets %s%s\n", name, codeName(resp.ErrorCode), out.String())
}
