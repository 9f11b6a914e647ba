package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"doze/configs"
)

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // the command could not do what it was asked to
	exitUsage = 2 // it was asked in a way that makes no sense
)

type commands struct {
	Serve serveCmd `cmd:"" help:"Run the broker."`
	Run   runCmd   `cmd:"" help:"Run a command with a broker of its own around it: for tests."`
	Env   envCmd   `cmd:"" help:"Print the environment that clients of the broker need."`

	Topic   topicCmd   `cmd:"" help:"List, create, describe, delete and configure topics."`
	Produce produceCmd `cmd:"" help:"Write records that are read from standard input."`
	Consume consumeCmd `cmd:"" help:"Print records."`
	Group   groupCmd   `cmd:"" help:"List, describe, reset and delete groups."`
	Seed    seedCmd    `cmd:"" help:"Give a running broker topics, configs, ACLs, schemas and records from a file."`
	Console consoleCmd `cmd:"" help:"Show a Kafka in the browser: a running doze, or any other."`

	Setup  setupCmd  `cmd:"" help:"Give every broker of this machine a name and an address of its own: the .doze zone."`
	Doctor doctorCmd `cmd:"" help:"Look for what would keep the broker from running, and say how to mend it."`
	Cert   certCmd   `cmd:"" help:"Make certificates for development: an authority, and what a server or a client shows."`

	Replay  replayCmd  `cmd:"" help:"Run a journal again: print it, cut it, check it, compare it."`
	Inspect inspectCmd `cmd:"" help:"Show what a data directory or a running broker has: topics, groups, offsets, segments; or verify it."`
	Repair  repairCmd  `cmd:"" help:"Go on after damage: show what would be given up, and give it up with --accept-loss."`

	Completion completionCmd `cmd:"" help:"Print a script that completes words in bash, zsh or fish."`
	Version    versionCmd    `cmd:"" help:"Print the version of doze and the release of Kafka that it answers as."`
}

const description = `A Kafka for development: one process that any Kafka client takes for Apache Kafka.

Example: doze serve`

func main() { os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr)) }

// run is the program without its process: arguments and environment in, exit code out.
func run(args, environ []string, stdout, stderr io.Writer) int {
	args = habits(args)
	exited, code := false, 0
	parser, err := kong.New(grammar(args[0]), kong.Name("doze"), kong.Description(description), kong.UsageOnError(),
		kong.Writers(stdout, stderr), kong.Exit(func(c int) { exited, code = true, c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		panic(err) // the commands' own tags are wrong
	}
	if args[0] == completeWord {
		complete(parser.Model, args[1:], &process{environ, stdout, stderr})
		return exitOK
	}
	kctx, err := parser.Parse(args)
	switch {
	case exited: // --help
		return code
	case err != nil:
		fmt.Fprintf(stderr, "doze: %s; %s\n", mistaken(parser, args, err), seeHelp(err))
		return exitUsage
	}
	err = kctx.Run(kctx, &process{environ, stdout, stderr})
	var usage usageError
	var silent exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &silent):
		return int(silent)
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "doze: %s\n", indentMore(err.Error()))
		return exitUsage
	}
	fmt.Fprintf(stderr, "doze: %s\n", indentMore(err.Error()))
	return exitError
}

// grammar is what there is to be read of arguments that begin with a word: the command that it names and no other, else all of them.
// Reading the tags of all commands' flags is a quarter of a start's CPU.
func grammar(word string) any {
	all := reflect.TypeFor[commands]()
	for i := range all.NumField() {
		if f := all.Field(i); strings.ToLower(f.Name) == word {
			return reflect.New(reflect.StructOf([]reflect.StructField{f})).Interface()
		}
	}
	return new(commands)
}

// habits turns what people type at other programs into what kong takes.
func habits(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	}
	return args
}

// mistaken says what was wrong, of a command that is none with the one that it may stand for.
func mistaken(parser *kong.Kong, args []string, err error) string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return err.Error()
	}
	var names []string
	for _, command := range parser.Model.Children {
		names = append(names, command.Name)
	}
	if slices.Contains(names, args[0]) {
		return err.Error()
	}
	if nearest := configs.Nearest(args[0], slices.Values(names)); nearest != "" {
		return fmt.Sprintf("there is no command %q, did you mean %s?", args[0], nearest)
	}
	return fmt.Sprintf("there is no command %q, there are %s", args[0], strings.Join(names, ", "))
}

// process is what a command has of its process.
type process struct {
	environ        []string
	stdout, stderr io.Writer
}

// usageError says that the command was asked in a way that makes no sense.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitCode ends the process with a code when everything that there is to say is said.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// seeHelp is what to do about arguments that make no sense.
func seeHelp(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Command() != "" {
		command, _, _ := strings.Cut(parse.Context.Command(), " <") // its arguments follow
		return "see doze " + command + " --help"
	}
	return "see doze --help"
}

// indentMore sets the further lines of an error of several apart.
func indentMore(s string) string { return strings.ReplaceAll(s, "\n", "\n  ") }
