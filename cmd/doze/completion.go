package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// completionCmd prints a script that completes words of doze in a shell.
type completionCmd struct {
	Shell string `arg:"" help:"bash, zsh or fish." enum:"bash,zsh,fish"`
}

// Help is shown below the flags.
func (*completionCmd) Help() string {
	return `The script asks doze itself, and doze the broker for the names of topics and groups.

Examples:
  eval "$(doze completion bash)"                                    in ~/.bashrc
  eval "$(doze completion zsh)"                                     in ~/.zshrc, after compinit
  doze completion fish > ~/.config/fish/completions/doze.fish`
}

// completeWord is the command that the scripts call with the words so far, the last one unfinished.
const completeWord = "__complete"

var completionScripts = map[string]string{
	"bash": `_doze() {
  local IFS=$'\n'
  COMPREPLY=($(doze __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _doze doze
`,
	"zsh": `_doze() {
  local -a found
  found=("${(@f)$(doze __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${found[*]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _doze doze
`,
	"fish": `complete -c doze -a '(doze __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

// Run prints the script.
func (c *completionCmd) Run(p *process) error {
	_, err := fmt.Fprint(p.stdout, completionScripts[c.Shell])
	return err
}

// complete prints what the last of the words may become, a word a line.
func complete(app *kong.Application, words []string, p *process) {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	for _, word := range candidates(app.Node, words[:len(words)-1], last, p) {
		if strings.HasPrefix(word, last) {
			fmt.Fprintln(p.stdout, word)
		}
	}
}

// candidates are the words that may stand after those before.
func candidates(node *kong.Node, before []string, last string, p *process) []string {
	flags := flagsOf(node)
	var previous *kong.Flag // that waits for its value
	arguments := 0
	for _, word := range before {
		switch name, _, hasValue := strings.Cut(word, "="); {
		case word == "--":
			return nil // another command's words
		case previous != nil:
			previous = nil
		case flags[name] != nil:
			if !hasValue && !flags[name].IsBool() {
				previous = flags[name]
			}
		case child(node, word) != nil:
			node = child(node, word)
			flags = flagsOf(node)
		default:
			arguments++
		}
	}
	switch {
	case previous != nil:
		return flagValuesOf(previous, p)
	case strings.HasPrefix(last, "-"):
		return slices.Sorted(maps.Keys(flags))
	case len(node.Children) > 0:
		return childNames(node)
	case arguments < len(node.Positional) || len(node.Positional) > 0 && node.Positional[len(node.Positional)-1].IsSlice():
		return namesFor(node.Positional[min(arguments, len(node.Positional)-1)], p)
	}
	return nil
}

func child(node *kong.Node, name string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func childNames(node *kong.Node) []string {
	var names []string
	for _, c := range node.Children {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// flagsOf are a command's flags by --name and -n, with those of the commands that it belongs to.
func flagsOf(node *kong.Node) map[string]*kong.Flag {
	all := map[string]*kong.Flag{}
	for ; node != nil; node = node.Parent {
		for _, f := range node.Flags {
			if f.Hidden {
				continue
			}
			all["--"+f.Name] = f
			if f.Short != 0 {
				all["-"+string(f.Short)] = f
			}
			if f.Tag != nil && f.Tag.Negatable != "" {
				all["--no-"+f.Name] = f
			}
		}
	}
	return all
}

func flagValuesOf(f *kong.Flag, p *process) []string {
	if f.Enum != "" {
		return slices.Sorted(maps.Keys(f.EnumMap()))
	}
	return namesFor(f.Value, p)
}

// namesFor are the broker's names for an argument that is one of a topic or group; none when it does not answer soon.
func namesFor(v *kong.Value, p *process) []string {
	if v.Enum != "" {
		return slices.Sorted(maps.Keys(v.EnumMap()))
	}
	if v.Name != "topic" && v.Name != "group" {
		return nil
	}
	at, err := clientFlags{}.find(p)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionLimit)
	defer cancel()
	client, err := at.client(ctx)
	if err != nil {
		return nil
	}
	defer client.Close()
	admin := newAdministrator(client)
	if v.Name == "topic" {
		topics, _ := admin.ListTopics(ctx)
		return slices.Sorted(maps.Keys(topics))
	}
	groups, _ := admin.ListGroups(ctx)
	return slices.Sorted(maps.Keys(groups))
}

// completionLimit is how long a person waits for a name after a tab.
const completionLimit = time.Second
