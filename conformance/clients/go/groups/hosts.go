package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A host is a process with members in it. It is started as COMMAND KIND, with BOOTSTRAP, GROUP and TOPIC, and is told on its stdin:
//
//	join NAME INSTANCE   a member joins; INSTANCE is its instance id or "-". One whose instance id is not free yet tries again.
//	leave NAME           a member goes in good order; one with an instance id keeps its place for a while
//
// and tells on its stdout, with the time in ns:
//
//	TIME - ready -               the process has started
//	TIME NAME assigned P...      partitions that the member has now besides
//	TIME NAME revoked P...       that it has no more, once what it read of them is committed
//	TIME NAME lost P...          that the group took from it
//	TIME NAME record P OFFSET    a record was handed to the member
//	TIME NAME committed P:N...   N is the group's offset, acknowledged by the broker
//	TIME NAME accepted P:O...    of a share group: the broker has acknowledged that record O is accepted
//	TIME NAME left               the member is gone
type host struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	names map[string]bool // of its members
	ready chan struct{}
	done  chan struct{}
}

// startPatience is for a process to start on a busy machine.
const startPatience = 3 * time.Minute

func startHost(kind, group, topic string, book *ledger) (*host, error) {
	line := strings.Fields(os.Getenv("HOST"))
	if len(line) == 0 {
		line = []string{os.Args[0], "--host"}
	}
	h := &host{names: map[string]bool{}, ready: make(chan struct{}), done: make(chan struct{})}
	h.cmd = exec.Command(line[0], append(line[1:], kind)...)
	h.cmd.Env = append(os.Environ(), "GROUP="+group, "TOPIC="+topic)
	h.cmd.Stderr = os.Stderr
	var err error
	if h.stdin, err = h.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("make pipe to host: %w", err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe from host: %w", err)
	}
	if err := h.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start host: %w", err)
	}
	go h.listen(out, book)
	select {
	case <-h.ready:
		return h, nil
	case <-h.done:
		return nil, errors.New("the host ended before it was ready")
	case <-time.After(startPatience):
		return nil, fmt.Errorf("the host was not ready within %s", startPatience)
	}
}

func (h *host) listen(out io.Reader, book *ledger) {
	defer close(h.done)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 3 { // not a line of a host
			continue
		}
		if words[2] == "ready" {
			close(h.ready)
			continue
		}
		if ns, err := strconv.ParseInt(words[0], 10, 64); err == nil {
			book.hear(ns, words[1], words[2], words[3:])
		}
	}
}

func (h *host) tell(words ...string) error {
	if _, err := fmt.Fprintln(h.stdin, strings.Join(words, " ")); err != nil {
		return fmt.Errorf("tell host to %s: %w", words[0], err)
	}
	return nil
}

// kill ends the process outright, and with it its members.
func (h *host) kill(book *ledger) {
	_ = h.cmd.Process.Kill()
	at := time.Now().UnixNano()
	<-h.done
	_ = h.cmd.Wait()
	for name := range h.names {
		book.killed(at, name)
	}
}

// close ends a host whose members have left.
func (h *host) close() {
	_ = h.stdin.Close()
	timer := time.AfterFunc(5*time.Second, func() { _ = h.cmd.Process.Kill() })
	defer timer.Stop()
	<-h.done
	_ = h.cmd.Wait()
}
