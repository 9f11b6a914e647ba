package kafka

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A node that another program started (Detach) is found by its name: its directory holds its process id.

func nodeDir(name string) (string, error) {
	home, err := Home()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "node-"+name), nil
}

// PIDOf gives the process id of a node, or an error when it does not run.
func PIDOf(name string) (int, error) {
	dir, err := nodeDir(name)
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		return 0, fmt.Errorf("find Kafka node %s: %w", name, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("find Kafka node %s: %w", name, err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		return 0, fmt.Errorf("find Kafka node %s: process %d: %w", name, pid, err)
	}
	return pid, nil
}

// LogOf is where a node writes its log.
func LogOf(name string) (string, error) {
	dir, err := nodeDir(name)
	return filepath.Join(dir, "log"), err
}

// StopNamed stops a node as an operator would; one that does not run is stopped.
func StopNamed(name string) error {
	pid, err := PIDOf(name)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop Kafka node %s: %w", name, err)
	}
	const tries, pause = 600, 100 * time.Millisecond
	for range tries {
		if syscall.Kill(pid, 0) != nil {
			return nil
		}
		time.Sleep(pause)
	}
	return fmt.Errorf("stop Kafka node %s: process %d is still there after a minute", name, pid)
}

// WipeNamed stops a node and deletes its data.
func WipeNamed(name string) error {
	if err := StopNamed(name); err != nil {
		return err
	}
	dir, err := nodeDir(name)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("wipe Kafka node %s: %w", name, err)
	}
	return nil
}
