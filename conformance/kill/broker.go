package kill

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Broker is a doze process on one data directory and one port, started again and again.
type Broker struct {
	binary, dir, addr string
	args              []string
	registry          string // address of the schema registry; empty: none
	cmd               *exec.Cmd
	log               *os.File
}

// NewBroker prepares a broker that keeps its data and its log below dir, with more arguments for serve. It takes a free port.
func NewBroker(binary, dir string, args ...string) (*Broker, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "broker.log"))
	if err != nil {
		return nil, fmt.Errorf("make the broker's log: %w", err)
	}
	return &Broker{binary: binary, dir: filepath.Join(dir, "data"), addr: addr, args: args, log: log}, nil
}

// freeAddr finds a port that stays free while the broker is down: below those that systems give to outgoing connections.
func freeAddr() (string, error) {
	const first, last = 20_000, 32_000
	var err error
	for range 100 {
		var free net.Listener
		if free, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", first+rand.IntN(last-first))); err == nil {
			return free.Addr().String(), free.Close()
		}
	}
	return "", fmt.Errorf("find a free port: %w", err)
}

// Addr is where clients connect.
func (b *Broker) Addr() string { return b.addr }

// Close closes the broker's log.
func (b *Broker) Close() error { return b.log.Close() }

// Check replays the journal of a stopped broker; the error holds what the replay says.
func (b *Broker) Check(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, b.binary, "replay", b.dir, "--check").CombinedOutput()
	if err != nil {
		return fmt.Errorf("the journal does not replay: %w\n%s", err, out)
	}
	return nil
}

// Start runs the broker and returns when it says that it is ready, with the time that took.
func (b *Broker) Start() (time.Duration, error) {
	began := time.Now()
	registry := "--schema-registry=false"
	if b.registry != "" {
		registry = "--schema-registry-addr=" + b.registry
	}
	cmd := exec.Command(b.binary, append([]string{"serve", registry, "--listen", b.addr, "--data-dir", b.dir}, b.args...)...)
	cmd.Stderr = b.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", b.binary, err)
	}
	b.cmd = cmd
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Fprintln(b.log, lines.Text())
		if strings.HasPrefix(lines.Text(), "ready ") {
			took := time.Since(began)
			go io.Copy(b.log, out) //nolint:errcheck // the process's own output, kept for people
			return took, nil
		}
	}
	return 0, fmt.Errorf("the broker did not become ready: %w; see %s", errors.Join(cmd.Wait(), lines.Err()), b.log.Name())
}

// Kill ends the broker without giving it a moment.
func (b *Broker) Kill() error {
	if err := b.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the broker: %w", err)
	}
	_ = b.cmd.Wait() // it was killed: that it says so is no news
	return nil
}

// Stop ends the broker as a person would.
func (b *Broker) Stop() error {
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the broker: %w", err)
	}
	if err := b.cmd.Wait(); err != nil {
		return fmt.Errorf("stop the broker: %w", err)
	}
	return nil
}
