package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"doze"
	"doze/fixtures"
)

// Exit codes of doze run beside the command's own: those of env, timeout and shells.
const (
	exitOurs       = 125 // the broker or what it starts with is at fault, the command never ran
	exitCannotRun  = 126
	exitNotFound   = 127
	exitSignalBase = 128 // and the signal's number
)

// runCmd declares the flags of doze run. Those of serve are read as serve reads them, but from the command line alone.
type runCmd struct {
	Topics            []string `help:"Topic to create first: NAME or NAME:PARTITIONS. May be repeated, or have commas." placeholder:"NAME[:N]"`
	Seed              []string `help:"File of topics, configs, ACLs, schemas and records to create first. May be repeated." placeholder:"FILE" sep:"none"`
	DataDir           string   `help:"Keep the data here for doze replay and doze inspect. Default: a temporary directory, removed at exit." placeholder:"DIR"`
	SchemaRegistry    bool     `help:"Serve the schema registry. Default: true." negatable:""`
	KafkaVersion      string   `help:"As doze serve --kafka-version." placeholder:"VERSION"`
	DefaultPartitions string   `help:"As doze serve --default-partitions." placeholder:"N"`
	Set               []string `help:"As doze serve --set." placeholder:"NAME=VALUE" sep:"none"`
	Properties        []string `help:"As doze serve --properties." placeholder:"FILE" sep:"none"`
	LogLevel          string   `help:"As doze serve --log-level." placeholder:"LEVEL"`
	Command           []string `arg:"" optional:"" passthrough:"" help:"The command and its arguments, after --."`
}

// Help is shown below the flags.
func (*runCmd) Help() string {
	return `It starts a broker and a schema registry on free ports, creates what --topics and --seed say, and runs the command with
KAFKA_BOOTSTRAP_SERVERS, SCHEMA_REGISTRY_URL and the names that Spring and Quarkus read in its environment. Signals go on to
the command; its exit status is doze's. Status 125 says that the command was not run. docs/run.md has the variables and the
format of the file.

Examples:
  doze run -- go test ./...
  doze run --topics orders:3,payments -- mvn verify
  doze run --seed testdata/seed.yaml -- npm test`
}

// Run starts a broker, runs the command and stops the broker.
func (c *runCmd) Run(kctx *kong.Context, p *process) error {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return usageError{errors.New("run has no command; write it after --: doze run -- npm test")}
	}
	o, err := c.options(kctx, p)
	if err != nil {
		return usageError{err}
	}
	code, err := c.around(o, p, command)
	if err != nil {
		fmt.Fprintf(p.stderr, "doze: %s\n", indentMore(err.Error()))
	}
	return exitCode(code)
}

// options are what the flags say, on free ports. Settings of files and the environment are those of other brokers.
func (c *runCmd) options(kctx *kong.Context, p *process) (doze.Options, error) {
	files, flags, err := flagPlace(kctx)
	if err != nil {
		return doze.Options{}, err
	}
	merged, err := mergePlaces(files, flags)
	if err != nil {
		return doze.Options{}, err
	}
	if c.DataDir == "" {
		merged.own["ephemeral"] = given{[]string{"true"}, "doze run"}
	}
	if merged.properties["listeners"].values == nil {
		merged.own["listen"] = given{[]string{"127.0.0.1:0"}, "doze run"}
	}
	return gathered{place: merged}.options(p.stderr)
}

// around runs the command with a broker around it, and returns the exit status.
func (c *runCmd) around(o doze.Options, p *process, command []string) (int, error) {
	seeds, err := c.seeds()
	if err != nil {
		return exitOurs, err
	}
	path, err := lookPath(command[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return cannotRun(command[0], err)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn...)
	defer signal.Stop(signals)
	broker, err := doze.New(o)
	if err != nil {
		return exitOurs, err
	}
	served := make(chan error, 1)
	go func() { served <- broker.Run(context.Background()) }()
	code, err := c.inside(broker, o, p, path, command, seeds, signals)
	return code, errors.Join(err, broker.Close(), <-served)
}

// lookPath finds the command; doze itself is found wherever it is, so that go run ./cmd/doze run -- doze topic list works.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil && name == "doze" {
		return os.Executable()
	}
	return path, err
}

// seeds are the fixtures of the flags, the topics of --topics first.
func (c *runCmd) seeds() ([]*fixtures.Fixture, error) {
	topics := new(fixtures.Fixture)
	for _, s := range c.Topics {
		t, err := fixtures.ParseTopic(s)
		if err != nil {
			return nil, fmt.Errorf("--topics: %w", err)
		}
		topics.Topics = append(topics.Topics, t)
	}
	all := []*fixtures.Fixture{topics}
	for _, name := range c.Seed {
		f, err := fixtures.Load(name)
		if err != nil {
			return nil, fmt.Errorf("--seed: %w", err)
		}
		all = append(all, f)
	}
	return all, nil
}

// inside seeds the broker and runs the command.
func (c *runCmd) inside(broker *doze.Broker, o doze.Options, p *process, path string, command []string, seeds []*fixtures.Fixture, signals chan os.Signal) (int, error) {
	ready := broker.Ready()
	ctx, cancel := context.WithTimeout(context.Background(), seedLimit)
	defer cancel()
	stop := cancelAtSignal(cancel, signals)
	for i, seed := range seeds {
		if err := applySeed(ctx, ready, o, seed, false); err != nil {
			stop()
			return exitOurs, fmt.Errorf("%s: %w", append([]string{"--topics"}, c.Seed...)[i], err)
		}
	}
	if sig := stop(); sig != nil {
		return exitSignalBase + signalNumber(sig), nil
	}
	cmd := exec.Command(path, command[1:]...)
	cmd.Args[0] = command[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, p.stdout, p.stderr
	cmd.Env = p.environ
	for _, v := range clientVariables(strings.Join(ready.Kafka, ","), ready.Registry) {
		cmd.Env = append(cmd.Env, v.name+"="+v.value)
	}
	return runChild(cmd, signals)
}

// seedLimit is how long a fixture may take: a request that nobody answers does not keep the command for ever.
const seedLimit = 2 * time.Minute

// applySeed gives a broker of this process a fixture, by a listener that asks for no login.
func applySeed(ctx context.Context, ready doze.Ready, o doze.Options, seed *fixtures.Fixture, once bool) error {
	for i, l := range o.Listeners {
		if l.Protocol != "" && l.Protocol != "PLAINTEXT" {
			continue
		}
		at := endpoint{servers: []string{ready.Kafka[i]}}
		_, err := fixtures.Apply(ctx, fixtures.Target{Options: at.options(), Registry: ready.Registry, Once: once}, seed)
		return err
	}
	return errors.New("every listener asks for a login; add one that does not, such as --listen unix:PATH, or use doze seed")
}

// cancelAtSignal cancels at the first signal while the seeds are made. The function that it returns ends that, and says which
// signal came.
func cancelAtSignal(cancel func(), signals chan os.Signal) func() os.Signal {
	done := make(chan struct{})
	came := make(chan os.Signal, 1)
	go func() {
		select {
		case s := <-signals:
			cancel()
			came <- s
		case <-done:
			came <- nil
		}
	}()
	return func() os.Signal {
		close(done)
		return <-came
	}
}

// runChild runs the command to its end and passes signals on to it.
func runChild(cmd *exec.Cmd, signals chan os.Signal) (int, error) {
	if err := cmd.Start(); err != nil {
		return cannotRun(cmd.Args[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if !terminalSends(s) {
				_ = cmd.Process.Signal(s) // it may have ended
			}
		case err := <-ended:
			var exit *exec.ExitError
			if err == nil || errors.As(err, &exit) {
				return exitStatus(cmd.ProcessState), nil
			}
			return exitStatus(cmd.ProcessState), fmt.Errorf("run %s: %w", cmd.Args[0], err)
		}
	}
}

func cannotRun(name string, err error) (int, error) {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return exitNotFound, fmt.Errorf("run %s: there is no such command; check its name and PATH", name)
	}
	return exitCannotRun, fmt.Errorf("run %s: %w; make it a file that you may execute", name, err)
}
