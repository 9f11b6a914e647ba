package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"doze"
	"doze/conformance/kafka"
	"doze/disk"
	"doze/handlers"
	"doze/replay"
)

// dozeOptions is what a scenario asks of its broker.
func dozeOptions(s Scenario, dir string) doze.Options {
	set := maps.Clone(s.Set)
	maps.DeleteFunc(set, func(_, value string) bool { return value == "" }) // "" takes one of the recorder's own away
	listeners := []doze.Listener{{Address: "127.0.0.1:0"}}
	if s.Logins {
		withLogins := LoginProperties()
		if s.SignedTokens {
			signed, err := SignedTokenProperties()
			if err != nil {
				panic(err)
			}
			maps.Copy(withLogins, signed)
		}
		maps.Copy(withLogins, set)
		set = withLogins
		listeners = append(listeners, doze.Listener{Name: loginListener, Address: "127.0.0.1:0"})
	}
	opt := doze.Options{DataDir: dir, KafkaVersion: s.Kafka, Properties: set, Listeners: listeners}
	if set["metric.reporters"] == kafka.TelemetryReporter { // doze has no plugins: this is the same
		delete(set, "metric.reporters")
		opt.Telemetry = &handlers.Telemetry{Sink: forgetful{}}
	}
	return opt
}

// forgetful lets go of what clients push.
type forgetful struct{}

func (forgetful) Push(handlers.TelemetryPush) error { return nil }

// inProcess is doze in this process.
type inProcess struct {
	opt    doze.Options
	broker *doze.Broker
	done   chan struct{} // closed when Run has returned ran
	ran    error
}

func startInProcess(opt doze.Options) (*inProcess, error) {
	b := &inProcess{opt: opt}
	return b, b.start()
}

func (b *inProcess) start() error {
	broker, err := doze.New(b.opt)
	if err != nil {
		return err
	}
	b.broker, b.done = broker, make(chan struct{})
	go func() {
		defer close(b.done)
		b.ran = broker.Run(context.Background())
	}()
	return nil
}

func (b *inProcess) Addr() string { return b.broker.Addr() }

func (b *inProcess) LoginAddr() string { return loginAddrOf(b.broker.Ready().Kafka) }

// loginAddrOf is the second of two listeners' addresses.
func loginAddrOf(addrs []string) string { return addrs[min(1, len(addrs)-1)] }

func (b *inProcess) Restart() error { return errors.Join(b.Close(), b.start()) }

func (b *inProcess) Kill() error {
	return errors.New("a broker in this process cannot be killed")
}

// Close may be called again, as it is after a restart that failed.
func (b *inProcess) Close() error {
	err := b.broker.Close()
	<-b.done
	return errors.Join(err, b.ran)
}

// asProcess is doze in a process of its own, for scenarios that kill it: this test's binary, started again.
type asProcess struct {
	opt   doze.Options
	cmd   *exec.Cmd
	stdin io.Closer
	addrs []string
}

// serveEnv makes the test's binary a broker; it holds the options.
const serveEnv = "DOZE_CONFORMANCE_SERVE"

func startAsProcess(opt doze.Options) (*asProcess, error) {
	b := &asProcess{opt: opt}
	return b, b.start()
}

func (b *asProcess) start() error {
	opt, err := json.Marshal(servedOptions{b.opt.DataDir, b.opt.KafkaVersion, b.opt.Properties, b.opt.Listeners})
	if err != nil {
		return err
	}
	b.cmd = exec.Command(os.Args[0])
	b.cmd.Env = append(os.Environ(), serveEnv+"="+string(opt))
	b.cmd.Stderr = os.Stderr
	if b.stdin, err = b.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := b.cmd.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return errors.Join(fmt.Errorf("read the broker's address: %w", err), b.cmd.Wait())
	}
	b.addrs = strings.Fields(line)
	return nil
}

func (b *asProcess) Addr() string { return b.addrs[0] }

func (b *asProcess) LoginAddr() string { return loginAddrOf(b.addrs) }

func (b *asProcess) Restart() error { return errors.Join(b.Close(), b.start()) }

func (b *asProcess) Kill() error {
	err := b.cmd.Process.Kill()
	b.cmd.Wait()
	return errors.Join(err, b.start())
}

// Close ends the process cleanly: the end of its input is its signal.
func (b *asProcess) Close() error { return errors.Join(b.stdin.Close(), b.cmd.Wait()) }

type servedOptions struct {
	DataDir, KafkaVersion string
	Properties            map[string]string
	Listeners             []doze.Listener
}

func TestMain(m *testing.M) {
	if text := os.Getenv(serveEnv); text != "" {
		if err := serve(text); err != nil {
			fmt.Fprintln(os.Stderr, "serve:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	playAtOnce(scenariosAtOnce)
	code := m.Run()
	_ = RemoveSignedTokens()
	os.Exit(code)
}

// scenariosAtOnce is how many scenarios are played at a time: most of them wait, for throttled answers and for timers.
const scenariosAtOnce = 6

// playAtOnce lets at least n tests run in parallel, unless the command line says how many.
func playAtOnce(n int) {
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if said || runtime.GOMAXPROCS(0) >= n {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err) // the flag is there, and takes numbers
	}
}

func serve(text string) error {
	var o servedOptions
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	broker, err := doze.New(doze.Options{DataDir: o.DataDir, KafkaVersion: o.KafkaVersion, Properties: o.Properties, Listeners: o.Listeners})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	fmt.Println(strings.Join(broker.Ready().Kafka, " "))
	return broker.Run(ctx)
}

// checkJournal replays the journal that a scenario left and compares the state with the hash that the broker wrote.
func checkJournal(t *testing.T, dir string) {
	t.Helper()
	fs, err := disk.OpenOS(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	result, err := replay.Run(fs, "journal", replay.Options{Check: true})
	if err != nil {
		t.Fatalf("replay the journal: %v", err)
	}
	if result.Status != replay.Replayed || !result.Clean || result.Compared == 0 {
		t.Errorf("the journal's replay is not the state that was live: %s", result)
	}
}

// closeInTime closes a broker and fails the test when it takes too long.
func closeInTime(t *testing.T, b Broker) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- b.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("close the broker: %v", err)
		}
	case <-time.After(patience):
		stacks := make([]byte, 1<<20)
		t.Fatalf("the broker did not stop within %s\n%s", patience, stacks[:runtime.Stack(stacks, true)])
	}
}
