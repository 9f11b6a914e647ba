//go:build linux

// Command fulldisk records what a real Kafka answers when the volume of its logs is full: a broker per API, its logs on a
// small tmpfs, the controller's log elsewhere (else Kafka ends before it answers).
//
//	go run ./conformance/cmd/fulldisk [--port PORT] [NAME...]
//
// It mounts in a mount namespace of its own, which an ordinary user may have where user namespaces are allowed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"doze/conformance"
	"doze/conformance/kafka"
	"doze/conformance/recording"
)

const inNamespace = "DOZE_FULLDISK_NAMESPACE"

func main() {
	port := flag.Int("port", 29092, "the port that brokers listen on; the next one is the controller's")
	dir := flag.String("dir", "conformance/recordings/full-disk", "where the recordings go")
	flag.Parse()
	err := again()
	if os.Getenv(inNamespace) != "" {
		err = record(*port, *dir, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fulldisk:", err)
		os.Exit(1)
	}
}

// again runs this program in namespaces where it may mount.
func again() error {
	if os.Getenv(inNamespace) != "" {
		return nil
	}
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	return cmd.Run()
}

func record(port int, dir string, names []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var failed error
	for _, s := range conformance.FullDiskScenarios() {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		if err := one(s, port, dir); err != nil {
			failed = errors.Join(failed, fmt.Errorf("record %s: %w", s.Name, err))
		}
		fmt.Println(s.Name)
	}
	return failed
}

// one records a scenario. A broker that ended before the script did is part of what is recorded.
func one(s conformance.Scenario, port int, dir string) error {
	v, err := mount()
	if err != nil {
		return err
	}
	defer v.unmount()
	set := map[string]string{"log.dirs": v.logs(), "metadata.log.dir": v.elsewhere}
	for name, value := range s.Set {
		set[name] = value
	}
	node, err := kafka.Start(context.Background(), kafka.Options{Name: "fulldisk", Port: port, Set: set, Java: quickToStart})
	if err != nil {
		return err
	}
	broker := &filledKafka{kafka.Broker{Node: node}, v}
	rec, played := conformance.Play(s, broker)
	if errors.Is(played, syscall.ECONNREFUSED) {
		rec.Steps, played = append(rec.Steps, recording.Step{Name: "the script ended early", Outcome: "the broker is gone"}), nil
	}
	text, err := rec.Format()
	if err = errors.Join(err, played); err == nil {
		err = os.WriteFile(filepath.Join(dir, s.Name+".json"), text, 0o644)
	}
	return errors.Join(err, broker.Close())
}

var quickToStart = []string{"-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}

// filledKafka is a node whose logs are on a volume of their own.
type filledKafka struct {
	kafka.Broker
	volume *volume
}

func (b *filledKafka) FillDisk() error { return b.volume.fill() }
