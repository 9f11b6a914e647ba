// Command franz-go-share walks the share consumer of github.com/twmb/franz-go: two members that release, accept and reject,
// with the broker restarted and killed under them.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	topic = "walk-franz-go-share"
	group = "group-franz-go-share"
)

func main() {
	if err := walk(); err != nil {
		fmt.Println("FAIL", err)
		os.Exit(1)
	}
}

// ledger is what was accepted, and how often.
type ledger struct {
	mu       sync.Mutex
	accepted map[string]int
	rejected map[string]bool
	sent     int
}

func walk() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c, err := kgo.NewClient(kgo.SeedBrokers(os.Getenv("BOOTSTRAP")), kgo.DefaultProduceTopic(topic))
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := kadm.NewClient(c).CreateTopic(ctx, 2, 1, nil, topic); err != nil {
		return err
	}
	if err := earliest(ctx, c); err != nil {
		return err
	}
	l := &ledger{accepted: map[string]int{}, rejected: map[string]bool{}}
	a, err := join(l)
	if err != nil {
		return err
	}
	b, err := join(l)
	if err != nil {
		return err
	}
	if err := l.round(ctx, c); err != nil {
		return err
	}
	fmt.Println("PASS two members share the records: each is accepted or rejected once, released ones come again")
	in := bufio.NewReader(os.Stdin)
	for _, how := range []string{"restart", "kill"} {
		fmt.Println("@" + how)
		if _, err := in.ReadString('\n'); err != nil {
			return err
		}
		if err := l.round(ctx, c); err != nil {
			return fmt.Errorf("after a %s: %w", how, err)
		}
		fmt.Printf("PASS both members go on after a %s\n", how)
	}
	a.leave()
	b.leave()
	return nil
}

// earliest has the group begin at the beginning.
func earliest(ctx context.Context, c *kgo.Client) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	r.Configs = []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "share.auto.offset.reset", Value: kmsg.StringPtr("earliest")}}
	req.Resources = append(req.Resources, r)
	_, err := req.RequestWith(ctx, c)
	return err
}

// round produces records and waits until every one is accepted or rejected.
func (l *ledger) round(ctx context.Context, c *kgo.Client) error {
	for range 50 {
		l.mu.Lock()
		n := l.sent
		l.sent++
		l.mu.Unlock()
		if err := c.ProduceSync(ctx, kgo.StringRecord(strconv.Itoa(n))).FirstErr(); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		l.mu.Lock()
		done := len(l.accepted) + len(l.rejected)
		sent := l.sent
		l.mu.Unlock()
		if done == sent {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("%d of %d records are accepted or rejected", len(l.accepted)+len(l.rejected), l.sent)
}

type member struct {
	kgo  *kgo.Client
	done chan struct{}
}

func join(l *ledger) (*member, error) {
	k, err := kgo.NewClient(kgo.SeedBrokers(os.Getenv("BOOTSTRAP")), kgo.ShareGroup(group), kgo.ConsumeTopics(topic))
	if err != nil {
		return nil, err
	}
	m := &member{k, make(chan struct{})}
	go m.poll(l)
	return m, nil
}

// poll releases every fifth record the first time, rejects every eleventh, and accepts the others.
func (m *member) poll(l *ledger) {
	defer close(m.done)
	for {
		fetches := m.kgo.PollFetches(context.Background())
		if fetches.IsClientClosed() {
			return
		}
		fetches.EachRecord(func(r *kgo.Record) { l.decide(r) })
	}
}

func (l *ledger) decide(r *kgo.Record) {
	n, _ := strconv.Atoi(string(r.Value))
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case n%5 == 0 && r.DeliveryCount() == 1:
		r.Ack(kgo.AckRelease)
	case n%11 == 0:
		l.rejected[string(r.Value)] = true
		r.Ack(kgo.AckReject)
	default:
		l.accepted[string(r.Value)]++
		r.Ack(kgo.AckAccept)
	}
}

func (m *member) leave() {
	m.kgo.Close()
	<-m.done
}
