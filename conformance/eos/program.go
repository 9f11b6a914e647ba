package eos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Program is how a job is started: a command, whose environment gets BOOTSTRAP, IN, OUT, GROUP, PER, WORK.
type Program struct {
	Name    string
	Command []string
	Env     []string
}

// maxDeaths is how often a job may end by itself before the campaign gives up: clients end when their producer is fenced
// or a broker's death left them no way on, and are started again as a supervisor would.
const maxDeaths = 30

// process is a job that is started again whenever it ends.
type process struct {
	program Program
	env     []string
	log     io.Writer

	mu       sync.Mutex
	cmd      *exec.Cmd
	killed   bool // the end that comes is ours
	stopping bool
	deaths   int
	ended    chan error // of the supervision, with nil after stop
}

// supervise starts the job and keeps it running until stop.
func supervise(p Program, env []string, log io.Writer) (*process, error) {
	s := &process{program: p, env: append(env, p.Env...), log: log, ended: make(chan error, 1)}
	if err := s.start(); err != nil {
		return nil, err
	}
	go func() { s.ended <- s.keep() }()
	return s, nil
}

func (s *process) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return nil
	}
	cmd := exec.Command(s.program.Command[0], s.program.Command[1:]...)
	cmd.Env = append(os.Environ(), s.env...)
	cmd.Stdout, cmd.Stderr = s.log, s.log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.program.Name, err)
	}
	s.cmd, s.killed = cmd, false
	return nil
}

// keep waits for the job's end, again and again.
func (s *process) keep() error {
	for {
		err := s.cmd.Wait()
		s.mu.Lock()
		stopping, killed := s.stopping, s.killed
		if !killed && !stopping {
			s.deaths++
			fmt.Fprintf(s.log, "=== ended by itself: %v\n", err)
		}
		deaths := s.deaths
		s.mu.Unlock()
		if stopping {
			return nil
		}
		if deaths > maxDeaths {
			return fmt.Errorf("%s ended by itself %d times, at last: %w", s.program.Name, deaths, errors.Join(err, errors.New("see its log")))
		}
		if err := s.start(); err != nil {
			return err
		}
	}
}

// kill ends the job with SIGKILL; it is started again.
func (s *process) kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed = true
	if err := s.cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", s.program.Name, err)
	}
	return nil
}

// stopTime is what a job gets for a clean end before it is killed.
const stopTime = 20 * time.Second

// stop ends the job and waits until it is gone.
func (s *process) stop(ctx context.Context) error {
	s.mu.Lock()
	s.stopping = true
	process := s.cmd.Process
	s.mu.Unlock()
	_ = process.Signal(syscall.SIGTERM) // one that has ended needs none
	select {
	case err := <-s.ended:
		return err
	case <-time.After(stopTime):
	case <-ctx.Done():
	}
	_ = process.Signal(syscall.SIGKILL)
	return <-s.ended
}

func (s *process) diedByItself() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deaths
}
