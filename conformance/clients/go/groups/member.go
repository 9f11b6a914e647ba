package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// serveHost is a host of franz-go's members.
func serveHost(kind string) {
	members := map[string]*member{}
	tell("-", "ready", "-")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 3 && words[0] == "join":
			m, err := join(kind, words[1], words[2])
			if err != nil {
				tell(words[1], "failed", err)
				continue
			}
			members[words[1]] = m
		case len(words) == 2 && words[0] == "leave" && members[words[1]] != nil:
			go members[words[1]].leave()
			delete(members, words[1])
		}
	}
}

var out sync.Mutex

func tell(name, what string, words ...any) {
	out.Lock()
	defer out.Unlock()
	fmt.Println(append([]any{time.Now().UnixNano(), name, what}, words...)...)
}

type member struct {
	name  string
	topic string
	share bool
	kgo   *kgo.Client
	left  atomic.Bool // it is to leave
	done  chan struct{}

	mu     sync.Mutex
	failed map[int32]bool // partitions of which an acknowledgement was not taken
}

func join(kind, name, instance string) (*member, error) {
	m := &member{name: name, topic: os.Getenv("TOPIC"), share: kind == "share", done: make(chan struct{}), failed: map[int32]bool{}}
	opts := []kgo.Opt{kgo.SeedBrokers(os.Getenv("BOOTSTRAP")), kgo.ConsumeTopics(m.topic)}
	if m.share {
		opts = append(opts, kgo.ShareGroup(os.Getenv("GROUP")), kgo.ShareAckCallback(m.acknowledged))
	} else {
		opts = append(opts, kgo.ConsumerGroup(os.Getenv("GROUP")), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(),
			kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(300*time.Millisecond), kgo.BlockRebalanceOnPoll(),
			kgo.OnPartitionsAssigned(m.change("assigned")), kgo.OnPartitionsRevoked(m.change("revoked")), kgo.OnPartitionsLost(m.change("lost")))
		if instance != "-" {
			opts = append(opts, kgo.InstanceID(instance))
		}
		if kind == "consumer" {
			opts = append(opts, kgo.ServerSideBalancer())
		}
	}
	var err error
	if m.kgo, err = kgo.NewClient(opts...); err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	go m.poll()
	return m, nil
}

func (m *member) change(what string) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
		if list := parts[m.topic]; len(list) > 0 {
			tell(m.name, what, words(list)...)
		}
	}
}

func words(list []int32) (out []any) {
	for _, p := range list {
		out = append(out, p)
	}
	return out
}

// poll commits, or accepts, all of a fetch before the next: no rebalance comes in between.
func (m *member) poll() {
	defer close(m.done)
	for !m.left.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		records := m.kgo.PollFetches(ctx).Records()
		cancel()
		for _, r := range records {
			tell(m.name, "record", r.Partition, r.Offset)
		}
		if m.share {
			m.accept(records)
			continue
		}
		m.commit(records)
		m.kgo.AllowRebalance()
	}
}

func (m *member) commit(records []*kgo.Record) {
	if len(records) == 0 || m.kgo.CommitRecords(context.Background(), records...) != nil {
		return
	}
	ends := map[int32]int64{}
	for _, r := range records {
		ends[r.Partition] = max(ends[r.Partition], r.Offset+1)
	}
	var list []any
	for p, end := range ends {
		list = append(list, fmt.Sprintf("%d:%d", p, end))
	}
	tell(m.name, "committed", list...)
}

func (m *member) acknowledged(_ *kgo.Client, results kgo.ShareAckResults) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range results {
		if r.Err != nil {
			m.failed[r.Partition] = true
		}
	}
}

// accept accepts the records, and tells of those that the broker has taken.
func (m *member) accept(records []*kgo.Record) {
	m.mu.Lock()
	clear(m.failed)
	m.mu.Unlock()
	for _, r := range records {
		r.Ack(kgo.AckAccept)
	}
	if len(records) == 0 || m.kgo.FlushAcks(context.Background()) != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := slices.DeleteFunc(slices.Clone(records), func(r *kgo.Record) bool { return m.failed[r.Partition] })
	var list []any
	for _, r := range taken {
		list = append(list, fmt.Sprintf("%d:%d", r.Partition, r.Offset))
	}
	if len(list) > 0 {
		tell(m.name, "accepted", list...)
	}
}

func (m *member) leave() {
	m.left.Store(true)
	<-m.done
	m.kgo.CloseAllowingRebalance()
	tell(m.name, "left", m.name)
}
