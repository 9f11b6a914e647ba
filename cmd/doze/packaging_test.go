package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"doze/fixtures"
)

// TestWorkflowsAndComposeAreYAML reads what no tool of ours runs.
func TestWorkflowsAndComposeAreYAML(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		var w struct {
			Name string
			On   any
			Jobs map[string]struct {
				RunsOn string `yaml:"runs-on"`
				Steps  []struct{ Uses, Run string }
			}
		}
		readYAML(t, name, &w)
		if w.Name == "" || w.On == nil || len(w.Jobs) == 0 {
			t.Errorf("%s: %+v", name, w)
		}
		for job, j := range w.Jobs {
			if j.RunsOn == "" || len(j.Steps) == 0 {
				t.Errorf("%s: job %s: %+v", name, job, j)
			}
			for _, s := range j.Steps {
				if (s.Uses == "") == (s.Run == "") {
					t.Errorf("%s: job %s: step %+v", name, job, s)
				}
				for _, file := range regexp.MustCompile(`(?:^|\s)((?:\.ci|packaging)/[\w.]+)`).FindAllStringSubmatch(s.Run, -1) {
					if _, err := os.Stat("../../" + file[1]); err != nil {
						t.Errorf("%s: job %s: %v", name, job, err)
					}
				}
			}
		}
	}
}

func readYAML(t *testing.T, name string, to any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = yaml.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestComposeStartsABroker holds that doze takes the settings of the image and of the example.
func TestComposeStartsABroker(t *testing.T) {
	var c struct {
		Services map[string]struct {
			Environment map[string]string
			Command     []string
		}
	}
	readYAML(t, "../../packaging/compose.yaml", &c)
	environ := imageEnvironment(t)
	for name, value := range c.Services["kafka"].Environment {
		environ = append(environ, name+"="+value)
	}
	kafka, remarks, err := fromKafka(environ)
	own, err2 := fromDoze(environ)
	if err != nil || err2 != nil || len(remarks) != 0 {
		t.Fatal(err, err2, remarks)
	}
	merged, err := mergePlaces(kafka, own)
	if err != nil {
		t.Fatal(err)
	}
	o, err := gathered{place: merged}.options(io.Discard)
	if err != nil || len(o.Listeners) != 2 || o.Listeners[0].Advertise != "localhost:9092" || o.Listeners[1].Advertise != "kafka:29092" || !o.Unprotected {
		t.Errorf("%+v, %v", o.Listeners, err)
	}
	if _, err := fixtures.Load("../../packaging/seed.yaml"); err != nil {
		t.Error(err)
	}
}

// imageEnvironment is what the Dockerfile sets; its instructions are those there are.
func imageEnvironment(t *testing.T) (environ []string) {
	t.Helper()
	text, err := os.ReadFile("../../packaging/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	known := regexp.MustCompile(`^(FROM|ARG|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|STOPSIGNAL|HEALTHCHECK|CMD) \S`)
	for _, line := range strings.Split(strings.ReplaceAll(string(text), "\\\n", " "), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !known.MatchString(line) {
			t.Errorf("Dockerfile: %q is no instruction", line)
		}
		if rest, ok := strings.CutPrefix(line, "ENV "); ok {
			environ = append(environ, strings.Fields(rest)...)
		}
	}
	return environ
}
