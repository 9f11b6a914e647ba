//go:build linux

package brokers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/conformance/bench/load"
	"doze/conformance/bench/machine"
)

// Kind is a column of the table.
type Kind string

// The columns.
const (
	Floor Kind = "floor"
	Doze  Kind = "doze"
	Kafka Kind = "kafka"
	Kfake Kind = "kfake"
)

// Kinds are the columns in the order of the table.
var Kinds = []Kind{Floor, Doze, Kafka, Kfake}

// startTimeout bounds a start; a Kafka with thousands of partitions after a kill is the slowest.
const startTimeout = 5 * time.Minute

// stopTimeout is what a broker gets for a clean stop before it is killed.
const stopTimeout = 2 * time.Minute

// Launcher knows how to start each kind.
type Launcher struct {
	DozePath, KfakePath, SelfPath string
	KafkaClasspath                string
	Pprof                         bool // ask doze for its profiles
	CPU                           int  // the broker's
	Dir                           string
	nextPort                      int

	mu      sync.Mutex // guards running, which KillAll reads from another goroutine
	running map[*exec.Cmd]bool
}

// NewLauncher returns a launcher that hands out ports from basePort on.
func NewLauncher(basePort int) *Launcher {
	return &Launcher{nextPort: basePort, running: map[*exec.Cmd]bool{}}
}

// KillAll ends every broker at once, for a bench that is interrupted.
func (l *Launcher) KillAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for cmd := range l.running {
		cmd.Process.Kill()
	}
}

// run starts the command on the broker's CPU and returns a channel that closes at its end.
func (l *Launcher) run(cmd *exec.Cmd) (ended chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A bench that dies takes its brokers along, a frozen one too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := machine.OnCPU(l.CPU, cmd.Start); err != nil {
		return nil, err
	}
	l.running[cmd] = true
	ended = make(chan struct{})
	go func() {
		cmd.Wait()
		l.mu.Lock()
		delete(l.running, cmd)
		l.mu.Unlock()
		close(ended)
	}()
	return ended, nil
}

// Broker is one started process and the directory it keeps its data in.
type Broker struct {
	Kind         Kind
	Addr         string
	PprofAddr    string
	RegistryAddr string        // of doze's schema registry; empty: it has none
	TLSAddr      string        // of a second listener, with TLS; empty: there is none
	Took         time.Duration // from the start of the process to its first Metadata answer
	launcher     *Launcher
	setup        Setup
	dir          string
	cmd          *exec.Cmd
	ended        chan struct{}
	log          *os.File
	told         bool // an error has the end of the log already
}

// Setup is what a broker has beside the plain listener that each has.
type Setup struct {
	Registry bool // doze's schema registry
	TLS      bool // a second listener, with TLS; of doze and Kafka
	Guarded  bool // doze's authorizer
	Console  bool // doze's web console
	// GroupDelay leaves the wait before a group's first rebalance as it is by itself: 200 ms in doze, 3 s in Kafka.
	GroupDelay bool
}

// Start starts a broker on an empty directory.
func (l *Launcher) Start(ctx context.Context, kind Kind, setup Setup) (*Broker, error) {
	dir, err := os.MkdirTemp(l.Dir, string(kind)+"-")
	if err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	b := &Broker{Kind: kind, launcher: l, dir: dir, setup: setup}
	if setup.TLS {
		if err := writeCertificate(dir); err != nil {
			return nil, err
		}
	}
	b.takePorts()
	if kind == Kafka {
		if err := l.formatKafka(ctx, b); err != nil {
			return nil, err
		}
	}
	return b, b.Restart(ctx)
}

// Restart starts the broker again on its directory after Stop or Kill.
func (b *Broker) Restart(ctx context.Context) error {
	if again := b.cmd != nil; again && b.Kind == Kafka {
		if err := b.writeProperties(ownSessionMs); err != nil {
			return err
		}
	}
	cmd, err := b.launcher.command(b)
	if err != nil {
		return err
	}
	if b.log, err = os.OpenFile(filepath.Join(b.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return fmt.Errorf("open log of %s: %w", b.Kind, err)
	}
	cmd.Stdout, cmd.Stderr = b.log, b.log
	start := time.Now()
	if b.ended, err = b.launcher.run(cmd); err != nil {
		return fmt.Errorf("start %s: %w", b.Kind, err)
	}
	b.cmd = cmd
	if err := b.awaitMetadata(ctx); err != nil {
		b.told = true
		b.Kill()
		return fmt.Errorf("start %s: %w; the end of its log:\n%s", b.Kind, err, b.logTail())
	}
	b.Took = time.Since(start)
	return nil
}

// Explain adds to an error what the broker wrote last, when it has ended by itself: it is the error's reason. A broker that
// closed its connections may take a while to end.
func (b *Broker) Explain(err error) error {
	if b.told {
		return err
	}
	select {
	case <-b.ended:
		return fmt.Errorf("%w; %s has ended, the end of its log:\n%s", err, b.Kind, b.logTail())
	case <-time.After(5 * time.Second):
		return err
	}
}

// logTail is what the broker wrote last.
func (b *Broker) logTail() string {
	text, err := os.ReadFile(b.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

// takePorts gives the broker its ports: two (the second is Kafka's controller's, or the profiler's), and those of its setup.
func (b *Broker) takePorts() {
	b.Addr = b.launcher.takePort()
	if b.launcher.takePort(); b.launcher.Pprof && b.Kind == Doze {
		b.PprofAddr = b.secondAddr()
	}
	if b.setup.Registry {
		b.RegistryAddr = b.launcher.takePort()
	}
	if b.setup.TLS {
		b.TLSAddr = b.launcher.takePort()
	}
}

func (l *Launcher) takePort() string {
	l.nextPort++
	return fmt.Sprintf("127.0.0.1:%d", l.nextPort-1)
}

func (b *Broker) secondAddr() string {
	var port int
	fmt.Sscanf(b.Addr, "127.0.0.1:%d", &port)
	return fmt.Sprintf("127.0.0.1:%d", port+1)
}

func (b *Broker) awaitMetadata(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := askMetadata(b.Addr)
		if err == nil {
			return nil
		}
		select {
		case <-b.ended:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", ctx.Err(), err)
		case <-time.After(time.Millisecond):
		}
	}
}

func askMetadata(addr string) error {
	c, err := load.Dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	resp, err := c.Request(load.MetadataRequest())
	if err != nil {
		return err
	}
	if len(resp.(*kmsg.MetadataResponse).Brokers) == 0 {
		return errors.New("metadata names no broker")
	}
	return nil
}

// PID is the process id.
func (b *Broker) PID() int { return b.cmd.Process.Pid }

// Dir is where the broker keeps its data and its log.
func (b *Broker) Dir() string { return b.dir }

// Stop stops the broker cleanly and waits for its end.
func (b *Broker) Stop() error {
	b.Thaw()
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop %s: %w", b.Kind, err)
	}
	defer b.log.Close()
	select {
	case <-b.ended:
		return nil
	case <-time.After(stopTimeout):
		b.Kill()
		return fmt.Errorf("stop %s: did not end within %s", b.Kind, stopTimeout)
	}
}

// Kill ends the broker with SIGKILL and waits for its end.
func (b *Broker) Kill() {
	b.cmd.Process.Kill()
	<-b.ended
	b.log.Close()
}

// Remove kills the broker and deletes its directory.
func (b *Broker) Remove() error {
	b.Kill()
	if err := os.RemoveAll(b.dir); err != nil {
		return fmt.Errorf("remove %s: %w", b.dir, err)
	}
	return nil
}

// Freeze stops the broker's threads, so that another one has its CPU to itself.
func (b *Broker) Freeze() { b.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen broker go on.
func (b *Broker) Thaw() { b.cmd.Process.Signal(syscall.SIGCONT) }
