package kill

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// broker is a doze process on one data directory and one port, started again and again.
type broker struct {
	binary, dir, addr string
	cmd               *exec.Cmd
	log               *os.File
}

// start runs the broker and returns when it says that it is ready, with the time that took.
func (b *broker) start() (time.Duration, error) {
	began := time.Now()
	cmd := exec.Command(b.binary, "serve", "--listen", b.addr, "--data-dir", b.dir)
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

// kill ends the broker without giving it a moment.
func (b *broker) kill() error {
	if err := b.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the broker: %w", err)
	}
	_ = b.cmd.Wait() // it was killed: that it says so is no news
	return nil
}

// stop ends the broker as a person would.
func (b *broker) stop() error {
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the broker: %w", err)
	}
	if err := b.cmd.Wait(); err != nil {
		return fmt.Errorf("stop the broker: %w", err)
	}
	return nil
}
