package eos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// FranzArgument makes cmd/eos the copier of franz-go.
const FranzArgument = "copy-with-franz-go"

// Jobs are the names of what can be run: three copiers, and the topology with the classic protocol and with that of streams groups.
var Jobs = []string{"franz-go", "java", "librdkafka", "streams", "streams-group"}

// programOf gives the program of a job; source is the directory of this package.
func programOf(name, source string) (Program, error) {
	p := Program{Name: name}
	switch name {
	case "franz-go":
		self, err := os.Executable()
		if err != nil {
			return p, err
		}
		p.Command = []string{self, FranzArgument}
	case "java":
		p.Command = []string{filepath.Join(source, "java/start"), "eos.Copy"}
	case "streams":
		p.Command = []string{filepath.Join(source, "java/start"), "eos.Count"}
	case "streams-group":
		p.Command = []string{filepath.Join(source, "java/start"), "eos.Count", "streams"}
	case "librdkafka":
		p.Command = []string{filepath.Join(source, "python/start")}
	default:
		return p, fmt.Errorf("find job %s: there are %v", name, Jobs)
	}
	return p, nil
}

// Prepare installs and builds what a job needs, once, in the cache that the client matrix uses too, and gives its program.
func Prepare(ctx context.Context, name string) (Program, error) {
	source, err := sourceDir(ctx)
	if err != nil {
		return Program{}, err
	}
	p, err := programOf(name, source)
	if err != nil {
		return p, err
	}
	cache, err := cacheDir()
	if err != nil {
		return p, err
	}
	p.Env = []string{"CI_CACHE=" + cache, "CLIENTS_CACHE=" + filepath.Join(cache, "clients")}
	if name == "franz-go" {
		return p, nil
	}
	setup := exec.CommandContext(ctx, filepath.Join(filepath.Dir(p.Command[0]), "setup"))
	setup.Env = append(os.Environ(), p.Env...)
	if out, err := setup.CombinedOutput(); err != nil {
		return p, fmt.Errorf("set up %s: %w\n%s", name, err, out)
	}
	return p, nil
}

func cacheDir() (string, error) {
	if dir := os.Getenv("CI_CACHE"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".cache", "doze-ci"), err
}

func sourceDir(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "doze/conformance/eos").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		return "", fmt.Errorf("find the sources of the jobs: %w", err)
	}
	return string(out[:len(out)-1]), nil
}
