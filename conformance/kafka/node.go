package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Options say what to start.
type Options struct {
	Name    string            // names the data directory; "ref" when empty
	Version string            // the release; Reference when empty
	Port    int               // the listener's port on 127.0.0.1; the controller takes the next one; 29092 when 0
	Set     map[string]string // broker properties over those that a single node needs; "" takes one away
	Java    []string          // options of the JVM; a heap of 1 GiB at most when empty
	Command []string          // put before java, as taskset -c 0; nothing when empty
	Detach  bool              // the node outlives the program that started it
}

// Node is a started Kafka.
type Node struct {
	opt       Options
	dir       string
	classPath string
	cmd       *exec.Cmd
	exited    chan struct{}
}

// startTimeout is how long a node may take to accept requests.
const startTimeout = 90 * time.Second

// Start starts a node, on the data of an earlier one of that name if there is some, and waits until it serves.
func Start(ctx context.Context, opt Options) (*Node, error) {
	opt.fillDefaults()
	home, err := Home()
	if err != nil {
		return nil, err
	}
	cp, err := ClassPath(ctx, opt.Version)
	if err != nil {
		return nil, err
	}
	if opt.Set["metric.reporters"] == TelemetryReporter {
		if cp, err = withPlugin(ctx, home, opt.Version, cp); err != nil {
			return nil, fmt.Errorf("compile the telemetry plugin: %w", err)
		}
	}
	n := &Node{opt: opt, dir: filepath.Join(home, "node-"+opt.Name), classPath: cp}
	if err := n.prepare(ctx); err != nil {
		return nil, fmt.Errorf("prepare Kafka node %s: %w", opt.Name, err)
	}
	if err := n.launch(ctx); err != nil {
		return nil, fmt.Errorf("start Kafka node %s: %w", opt.Name, err)
	}
	return n, nil
}

func (o *Options) fillDefaults() {
	if o.Name == "" {
		o.Name = "ref"
	}
	if o.Version == "" {
		o.Version = Reference
	}
	if o.Port == 0 {
		o.Port = 29092
	}
	if len(o.Java) == 0 {
		o.Java = []string{"-Xmx1g", "-Xms256m"}
	}
}

// Addr is where clients connect.
func (n *Node) Addr() string { return fmt.Sprintf("127.0.0.1:%d", n.opt.Port) }

// Dir holds the node's properties, log and data.
func (n *Node) Dir() string { return n.dir }

// PID is the process id of the running node.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// prepare writes the properties and formats the storage if it is new.
func (n *Node) prepare(ctx context.Context) error {
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(n.path("server.properties"), []byte(n.properties()), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(n.path("log4j2.yaml"), []byte(logConfig), 0o644); err != nil {
		return err
	}
	if _, err := os.Stat(n.path("data/meta.properties")); err == nil {
		return nil
	}
	id, err := n.tool(ctx, "random-uuid")
	if err != nil {
		return err
	}
	lines := strings.Fields(id)
	if len(lines) == 0 {
		return errors.New("StorageTool random-uuid printed nothing")
	}
	_, err = n.tool(ctx, "format", "-t", lines[len(lines)-1], "-c", n.path("server.properties"))
	return err
}

func (n *Node) path(name string) string { return filepath.Join(n.dir, name) }

func (n *Node) tool(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "java", append([]string{"-cp", n.classPath, "kafka.tools.StorageTool"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("StorageTool %s: %w\n%s%s", args[0], err, out, stderr.String())
	}
	return string(out), nil
}

// properties are those of one node that is broker and controller, with internal topics of one replica.
func (n *Node) properties() string {
	set := map[string]string{
		"process.roles":                                    "broker,controller",
		"node.id":                                          "1",
		"controller.quorum.voters":                         fmt.Sprintf("1@127.0.0.1:%d", n.opt.Port+1),
		"listeners":                                        fmt.Sprintf("PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", n.opt.Port, n.opt.Port+1),
		"advertised.listeners":                             fmt.Sprintf("PLAINTEXT://127.0.0.1:%d", n.opt.Port),
		"listener.security.protocol.map":                   "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"controller.listener.names":                        "CONTROLLER",
		"inter.broker.listener.name":                       "PLAINTEXT",
		"log.dirs":                                         n.path("data"),
		"offsets.topic.replication.factor":                 "1",
		"transaction.state.log.replication.factor":         "1",
		"transaction.state.log.min.isr":                    "1",
		"share.coordinator.state.topic.replication.factor": "1",
		"share.coordinator.state.topic.min.isr":            "1",
	}
	for name, value := range n.opt.Set {
		set[name] = value
		if value == "" {
			delete(set, name)
		}
	}
	var lines []string
	for name, value := range set {
		lines = append(lines, name+"="+strings.ReplaceAll(value, `\`, `\\`)+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

const logConfig = `Configuration:
  Properties:
    Property: [{name: p, value: "[%d] %p %m (%c)%n"}]
  Appenders:
    Console: {name: C, PatternLayout: {pattern: "${p}"}}
  Loggers:
    Root: {level: INFO, AppenderRef: [{ref: C}]}
`

// launch starts the JVM and waits until it answers a request.
func (n *Node) launch(ctx context.Context) error {
	if serves(n.Addr()) { // it would be taken for the one that is to come, with settings that nobody knows
		return fmt.Errorf("another broker serves at %s: end it, or choose another port", n.Addr())
	}
	log, err := os.Create(n.path("log"))
	if err != nil {
		return err
	}
	defer log.Close()
	args := append(slices.Clone(n.opt.Command), "java")
	args = append(args, n.opt.Java...)
	args = append(args, "-Dlog4j2.configurationFile="+n.path("log4j2.yaml"), "-cp", n.classPath, "kafka.Kafka", n.path("server.properties"))
	n.cmd = exec.Command(args[0], args[1:]...)
	n.cmd.Stdout, n.cmd.Stderr = log, log
	if n.opt.Detach {
		n.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if err := n.cmd.Start(); err != nil {
		return err
	}
	if err := os.WriteFile(n.path("pid"), fmt.Appendln(nil, n.PID()), 0o644); err != nil {
		return errors.Join(err, n.cmd.Process.Kill())
	}
	n.exited = make(chan struct{})
	go func() {
		_ = n.cmd.Wait() // how it ended does not matter: whoever asks sees that it has
		close(n.exited)
	}()
	if err := n.awaitServing(ctx); err != nil {
		return errors.Join(err, n.end(syscall.SIGKILL))
	}
	return nil
}

func (n *Node) awaitServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if serves(n.Addr()) {
			return nil
		}
		select {
		case <-n.exited:
			return fmt.Errorf("it ended, see %s", n.path("log"))
		case <-ctx.Done():
			return fmt.Errorf("it does not serve, see %s: %w", n.path("log"), ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// metadataRequest is a frame: Metadata v1 for no topic at all.
var metadataRequest = []byte{0, 0, 0, 14, 0, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}

// serves asks for metadata: a node that knows itself as a broker is unfenced and ready.
func serves(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(5*time.Second)) != nil {
		return false
	}
	if _, err := conn.Write(metadataRequest); err != nil {
		return false
	}
	answer := make([]byte, 12)
	n := 0
	for n < len(answer) {
		m, err := conn.Read(answer[n:])
		if err != nil {
			return false
		}
		n += m
	}
	brokers := answer[8:12]
	return brokers[3] == 1
}

// Stop ends the node as an operator would (SIGTERM); its data stays.
func (n *Node) Stop() error { return n.end(syscall.SIGTERM) }

// Kill ends the node with SIGKILL; its data stays.
func (n *Node) Kill() error { return n.end(syscall.SIGKILL) }

func (n *Node) end(sig syscall.Signal) error {
	if err := n.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop Kafka node %s: %w", n.opt.Name, err)
	}
	select {
	case <-n.exited:
		return nil
	case <-time.After(60 * time.Second):
		return fmt.Errorf("stop Kafka node %s: process %d is still there", n.opt.Name, n.PID())
	}
}

// Again starts a stopped node on its data.
func (n *Node) Again(ctx context.Context) error { return n.launch(ctx) }

// Wipe deletes the data of a stopped node.
func (n *Node) Wipe() error {
	if err := os.RemoveAll(n.dir); err != nil {
		return fmt.Errorf("wipe Kafka node %s: %w", n.opt.Name, err)
	}
	return nil
}
