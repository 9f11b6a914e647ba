//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// imageScript is what stands at /etc/kafka/docker/run in the image.
const imageScript = "../../packaging/run"

// TestTestcontainers plays Testcontainers' Kafka module (Java, KafkaContainer) without a container: it starts the command of the
// module, which waits for a script; it then knows the mapped port, writes the script with the advertised listeners, and waits for
// the line in the log. A client outside goes by the mapped port, as its metadata says.
func TestTestcontainers(t *testing.T) {
	dir := t.TempDir()
	port := freePorts(t, 3)
	mapped := forward(t, fmt.Sprintf("127.0.0.1:%d", port[0]))
	starter := filepath.Join(dir, "testcontainers_start.sh")
	c := startContainer(t, dir, []string{
		"CLUSTER_ID=4L6g3nShT-eMCtK--X86sw",
		fmt.Sprintf("KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:%d,BROKER://0.0.0.0:%d,CONTROLLER://0.0.0.0:%d", port[0], port[1], port[2]),
		"KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=BROKER:PLAINTEXT,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"KAFKA_INTER_BROKER_LISTENER_NAME=BROKER",
		"KAFKA_PROCESS_ROLES=broker,controller",
		"KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER",
		"KAFKA_NODE_ID=1",
		"KAFKA_BROKER_ID=1",
		fmt.Sprintf("KAFKA_CONTROLLER_QUORUM_VOTERS=1@localhost:%d", port[2]),
		"KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR=1",
		"KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS=1",
		"KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR=1",
		"KAFKA_TRANSACTION_STATE_LOG_MIN_ISR=1",
		"KAFKA_LOG_FLUSH_INTERVAL_MESSAGES=9223372036854775807",
		"KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS=0",
	}, "sh", "-c", "while [ ! -f "+starter+" ]; do sleep 0.1; done; "+starter)

	run, err := filepath.Abs(imageScript)
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n" +
		"export KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://" + mapped + ",BROKER://a-container:9093\n" +
		run + " \n"
	// The file appears at once with all of it, as a copy into a container does.
	if err := os.WriteFile(starter+".part", []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(starter+".part", starter); err != nil {
		t.Fatal(err)
	}
	c.await(t, "Transitioning from RECOVERY to RUNNING")

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(mapped), kgo.AllowAutoTopicCreation(), kgo.ConsumeTopics("t"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: "t", Value: []byte("hello")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if got := client.PollFetches(ctx).Records(); len(got) != 1 || string(got[0].Value) != "hello" {
		t.Errorf("%v", got)
	}
	metadata, err := kadm.NewClient(client).BrokerMetadata(ctx)
	if err != nil || len(metadata.Brokers) != 1 {
		t.Fatal(metadata, err)
	}
	if b := metadata.Brokers[0]; fmt.Sprintf("%s:%d", b.Host, b.Port) != mapped {
		t.Errorf("a client is sent to %s:%d, not to %s", b.Host, b.Port, mapped)
	}
}

// TestImageWithoutSettings: docker run with a published port and nothing else.
func TestImageWithoutSettings(t *testing.T) {
	port := freePorts(t, 1)
	run, err := filepath.Abs(imageScript)
	if err != nil {
		t.Fatal(err)
	}
	// A container has its port 9092 to itself; here the advertised address and a flag that comes last stand for that.
	c := startContainer(t, t.TempDir(), []string{fmt.Sprintf("KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:%d", port[0])},
		run, "--listen", fmt.Sprintf("0.0.0.0:%d", port[0]))
	c.await(t, "Transitioning from RECOVERY to RUNNING")
	c.await(t, fmt.Sprintf("ready kafka=localhost:%d", port[0]))
}

// container is a process that stands for one.
type container struct {
	mu  sync.Mutex
	log strings.Builder
}

func (c *container) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(b)
}

func (c *container) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.String()
}

// await waits for a text in the log.
func (c *container) await(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(c.text(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log has no %q:\n%s", text, c.text())
		}
	}
}

// startContainer runs a command with the image's environment and doze on its path, and ends it with the test.
func startContainer(t *testing.T, dir string, environ []string, command ...string) *container {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "doze")); err != nil { // the test's program is doze by this name
		t.Fatal(err)
	}
	c := new(container)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append([]string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "DOZE_DATA_DIR=" + filepath.Join(dir, "data"), "DOZE_UNPROTECTED=true", "DOZE_SCHEMA_REGISTRY_ADDR=127.0.0.1:0", "DOZE_CONSOLE_ADDR=127.0.0.1:0",
	}, environ...)
	cmd.Stdout, cmd.Stderr = c, c
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) //nolint:errcheck // it may have ended
		cmd.Wait()                                      //nolint:errcheck // a signal ends it
	})
	return c
}

// freePorts are ports that nobody has just now.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var ports []int
	for range n {
		ln, err := net.Listen("tcp", ":0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		ports = append(ports, ln.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// forward stands for a port that an engine maps: it returns the outside address.
func forward(t *testing.T, to string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			go func() { io.Copy(out, in); out.Close() }() //nolint:errcheck // either end may go
			go func() { io.Copy(in, out); in.Close() }()  //nolint:errcheck // either end may go
		}
	}()
	return fmt.Sprintf("localhost:%d", ln.Addr().(*net.TCPAddr).Port)
}
