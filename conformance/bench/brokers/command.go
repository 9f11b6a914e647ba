//go:build linux

package brokers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// command returns the command line that serves b.
func (l *Launcher) command(b *Broker) (*exec.Cmd, error) {
	data := filepath.Join(b.dir, "data")
	switch b.Kind {
	case Doze:
		registry := "--schema-registry=false"
		if b.RegistryAddr != "" {
			registry = "--schema-registry-addr=" + b.RegistryAddr
		}
		console := "--console=false"
		if b.setup.Console {
			console = "--console-addr=" + l.takePort()
		}
		cmd := exec.Command(l.DozePath, "serve", registry, console, "--listen", "PLAINTEXT://"+b.Addr, "--data-dir", data)
		if !b.setup.GroupDelay {
			cmd.Args = append(cmd.Args, "--group-initial-rebalance-delay", "0s")
		}
		if b.TLSAddr != "" {
			cmd.Args = append(cmd.Args, "--listen", "SSL://"+b.TLSAddr,
				"--tls-cert", filepath.Join(b.dir, certificateFile), "--tls-key", filepath.Join(b.dir, keyFile))
		}
		if b.setup.Guarded {
			cmd.Args = append(cmd.Args, "--authorizer")
		}
		if b.PprofAddr != "" {
			cmd.Args = append(cmd.Args, "--pprof", b.PprofAddr)
		}
		return cmd, nil
	case Kafka:
		return l.java("kafka.Kafka", b.propertiesPath()), nil
	case Kfake:
		return exec.Command(l.KfakePath, "-listen", b.Addr, "-data-dir", data), nil
	case Floor:
		return exec.Command(l.SelfPath, "--floor-server", b.Addr, "--dir", data), nil
	}
	return nil, fmt.Errorf("no broker is called %q", b.Kind)
}

// java runs a class of Kafka with the heap and collector that Kafka's own start script chooses.
func (l *Launcher) java(class string, args ...string) *exec.Cmd {
	jvm := []string{
		"-Xms1G", "-Xmx1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
		"-XX:+ExplicitGCInvokesConcurrent", "-XX:MaxInlineLevel=15", "-Djava.awt.headless=true",
		"-Dlog4j2.level=WARN", "-Dorg.apache.logging.log4j.level=WARN", "-cp", l.KafkaClasspath, class,
	}
	return exec.Command("java", append(jvm, args...)...)
}

// KafkaClasspath turns what KAFKA_LIBS says (a directory of jars or a class path) into a class path.
func KafkaClasspath(libs string) (string, error) {
	if info, err := os.Stat(libs); err == nil && info.IsDir() {
		return filepath.Join(libs, "*"), nil
	}
	if dir := filepath.Dir(libs); filepath.Base(libs) == "*" {
		if _, err := os.Stat(dir); err != nil {
			return "", fmt.Errorf("find Kafka's jars: %w", err)
		}
	}
	return libs, nil
}
