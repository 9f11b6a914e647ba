//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"

	"doze/conformance/bench/brokers"
)

// findPrograms builds what is not named by a flag.
func (b *bench) findPrograms(l *brokers.Launcher) (err error) {
	if l.SelfPath, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if slices.Contains(b.kinds, brokers.Doze) {
		if l.DozePath, err = b.build(b.doze, "doze", ".", "./cmd/doze"); err != nil {
			return err
		}
	}
	if slices.Contains(b.kinds, brokers.Kfake) {
		if l.KfakePath, err = b.build(b.kfake, "kfake", "conformance/bench/kfake", "."); err != nil {
			return err
		}
	}
	if slices.Contains(b.kinds, brokers.Kafka) {
		l.KafkaClasspath, err = brokers.KafkaClasspath(b.kafkaLibs)
	}
	return err
}

// build compiles a command of this repository, unless a binary was given.
func (b *bench) build(given, name, dir, pkg string) (string, error) {
	if given != "" {
		return given, nil
	}
	path := b.programPath(name)
	cmd := exec.Command("go", "build", "-C", dir, "-o", path, pkg)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build %s (run the bench from the repository's root, or name a binary by --%s): %w", name, name, err)
	}
	return path, nil
}
