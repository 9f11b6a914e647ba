//go:build linux

// Command syscalls makes a running doze's system calls fail, with strace, and checks what its clients are told: writes that
// find no space, writes that fail, and a sync that fails. It needs strace and the right to trace a process.
//
//	go run ./conformance/cmd/syscalls
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func main() {
	dir, err := os.MkdirTemp("", "doze-syscalls-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = run(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "syscalls:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	binary := filepath.Join(dir, "doze")
	if out, err := exec.Command("go", "build", "-o", binary, "./cmd/doze").CombinedOutput(); err != nil {
		return fmt.Errorf("build doze: %w\n%s", err, out)
	}
	for _, f := range faults {
		c := &campaign{binary: binary, dir: filepath.Join(dir, f.name)}
		if err := c.suffer(f); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		fmt.Println(f.name, "ok")
	}
	return nil
}

// fault is a kind of failing calls, and whether they work again without a restart once they do.
type fault struct {
	name, calls, errno string
	latched            bool
}

var faults = []fault{
	{"no-space", "pwrite64,ftruncate,fallocate", "ENOSPC", true}, // what was half written cannot be taken back either
	{"no-space-for-writes", "pwrite64,fallocate", "ENOSPC", false},
	{"writes-fail", "pwrite64", "EIO", false},
	{"syncs-fail", "fdatasync,fsync", "EIO", true},
}

type campaign struct {
	binary, dir string
	cmd         *exec.Cmd
	client      *kgo.Client
	offset      int64 // of the next record
	told        bool  // a batch was refused after it was appended, so the log may have it
}

func (c *campaign) suffer(f fault) error {
	if err := c.start(); err != nil {
		return err
	}
	defer func() { _ = c.cmd.Process.Kill() }() // it has ended when all went well
	if err := errors.Join(c.create("records"), c.produce(nil)); err != nil {
		return err
	}
	failing, err := c.inject(f)
	if err != nil {
		return err
	}
	refused := errors.Join(c.produce(kerr.KafkaStorageError), c.createRefused("refused"), c.produce(kerr.KafkaStorageError))
	if err := errors.Join(refused, failing()); err != nil {
		return err
	}
	want := error(nil)
	if f.latched {
		c.told, want = true, kerr.KafkaStorageError
	}
	if err := c.produce(want); err != nil {
		return fmt.Errorf("when calls work again: %w", err)
	}
	if err := errors.Join(c.stop(), c.start(), c.produce(nil), c.create("afterwards")); err != nil {
		return fmt.Errorf("after a restart: %w", err)
	}
	return c.stop()
}

// inject lets the calls of the running broker fail, until the function is called that it returns.
func (c *campaign) inject(f fault) (end func() error, err error) {
	cmd := exec.Command("strace", "-f", "-q", "-o", "/dev/null", "-p", fmt.Sprint(c.cmd.Process.Pid), "-e", "trace="+f.calls,
		"-e", "inject="+f.calls+":error="+f.errno)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start strace: %w", err)
	}
	if err := c.traced(); err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return func() error {
		err := cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait() // interrupted, as asked
		return err
	}, nil
}

// traced waits until every thread of the broker is.
func (c *campaign) traced() error {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", c.cmd.Process.Pid))
		if err != nil || len(threads) == 0 {
			return errors.Join(err, errors.New("the broker is gone"))
		}
		all := true
		for _, name := range threads {
			status, _ := os.ReadFile(name) // of a thread that has ended
			all = all && !strings.Contains(string(status), "TracerPid:\t0\n")
		}
		if all {
			return nil
		}
	}
	return errors.New("strace does not trace the broker: is that allowed here?")
}

func (c *campaign) start() error {
	c.cmd = exec.Command(c.binary, "serve", "--listen", "127.0.0.1:0", "--data-dir", c.dir)
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "ready ") {
			continue
		}
		for _, field := range strings.Fields(lines.Text()) {
			if addr, ok := strings.CutPrefix(field, "kafka="); ok {
				c.client, err = kgo.NewClient(kgo.SeedBrokers(addr))
				return err
			}
		}
	}
	return errors.Join(errors.New("the broker did not become ready"), lines.Err(), c.cmd.Wait())
}

func (c *campaign) stop() error {
	c.client.Close()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("the process did not stay up: %w", err)
	}
	var exit *exec.ExitError
	if err := c.cmd.Wait(); err != nil && !errors.As(err, &exit) { // it may say what it could not write
		return err
	}
	return nil
}

// ask sends one request to the one broker, without the client's own retries.
func (c *campaign) ask(req kmsg.Request) (kmsg.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return c.client.Broker(1).Request(ctx, req)
}

// produce appends a record with acks=all, and is told want.
func (c *campaign) produce(want error) error {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 10_000
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: "records", TopicID: c.topicID(), Partitions: []kmsg.ProduceRequestTopicPartition{{Records: oneRecord()}}}}
	resp, err := c.ask(req)
	if err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	p := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	switch got := kerr.ErrorForCode(p.ErrorCode); {
	case !errors.Is(got, want):
		return fmt.Errorf("produce: %v, want %v", got, want)
	case want != nil && p.BaseOffset != -1:
		return fmt.Errorf("produce: %v with offset %d", got, p.BaseOffset)
	case want == nil && (p.BaseOffset < c.offset || p.BaseOffset > c.offset && !c.told):
		return fmt.Errorf("produce: offset %d, want %d", p.BaseOffset, c.offset)
	case want == nil:
		c.offset = p.BaseOffset + 1
	}
	return nil
}

func (c *campaign) topicID() (id [16]byte) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr("records")}}
	if resp, err := c.ask(req); err == nil {
		id = resp.(*kmsg.MetadataResponse).Topics[0].TopicID
	}
	return id
}

func (c *campaign) create(topic string) error { return c.createAs(topic, nil) }
func (c *campaign) createRefused(topic string) error {
	return c.createAs(topic, kerr.KafkaStorageError)
}

func (c *campaign) createAs(topic string, want error) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 10_000
	req.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: topic, NumPartitions: 1, ReplicationFactor: 1}}
	resp, err := c.ask(req)
	if err != nil {
		return fmt.Errorf("create %s: %w", topic, err)
	}
	if got := kerr.ErrorForCode(resp.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode); !errors.Is(got, want) {
		return fmt.Errorf("create %s: %v, want %v", topic, got, want)
	}
	return nil
}
