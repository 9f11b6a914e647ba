package conformance

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"doze/conformance/recording"
)

var slow = flag.Bool("slow", false, "play the slow scenarios, and only these")

var places = flag.Bool("places", false, "print what differs as entries of differences.json")

// unfinished lists scenarios that doze does not pass yet, each with the file that is to change. It must be empty at a release;
// one that passes must be taken off.
var unfinished = map[string]string{}

// TestRecordings plays every scenario against doze and compares with what Kafka answered.
func TestRecordings(t *testing.T) {
	ds, err := LoadDifferences("differences.json")
	if err != nil {
		t.Fatal(err)
	}
	r := &replayer{differences: ds}
	for _, s := range Scenarios() {
		if s.Slow != *slow || s.Elsewhere != "" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			r.scenario(t, s)
		})
	}
	if run := flag.Lookup("test.run"); *slow || run != nil && strings.Contains(run.Value.String(), "/") {
		return
	}
	t.Cleanup(func() {
		for _, name := range ds.Unused() {
			t.Errorf("difference %s of differences.json did not occur", name)
		}
	})
}

type replayer struct {
	mu          sync.Mutex
	differences *Differences
}

func (r *replayer) scenario(t *testing.T, s Scenario) {
	want, err := recording.Load("recordings", s.Name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	b, err := startDoze(s, want, dir)
	if err != nil {
		t.Fatal(err)
	}
	diffs, err := r.play(s, want, b)
	closeInTime(t, b)
	checkJournal(t, dir)
	if *places {
		printPlaces(s.Name, diffs)
	}
	file, known := unfinished[s.Name]
	switch passed := len(diffs) == 0 && err == nil; {
	case passed && known:
		t.Errorf("this scenario passes: take it off the list of unfinished ones")
	case !passed && !known:
		t.Errorf("doze differs from Kafka:\n%s%v", recording.Report(diffs, "Kafka", "doze"), errText(err))
	case !passed:
		t.Logf("unfinished, see %s", file)
	}
}

func printPlaces(scenario string, diffs []recording.Difference) {
	seen := map[string]bool{}
	for _, d := range diffs {
		kafka, errK := json.Marshal(d.Want)
		doze, errD := json.Marshal(d.Got)
		line, err := json.Marshal(Place{scenario, d.Step, d.Field, kafka, doze})
		if errors.Join(errK, errD, err) == nil && !seen[string(line)] {
			seen[string(line)] = true
			fmt.Printf("   %s,\n", line)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return "the script ended early: " + err.Error()
}

func startDoze(s Scenario, want *recording.Recording, dir string) (Broker, error) {
	killed := slices.ContainsFunc(want.Steps, func(step recording.Step) bool { return step.Outcome == "kill" })
	if killed {
		return startAsProcess(dozeOptions(s, dir))
	}
	return startInProcess(dozeOptions(s, dir))
}

// play gives the differences that are not on purpose.
func (r *replayer) play(s Scenario, kafka *recording.Recording, b Broker) ([]recording.Difference, error) {
	got, playErr := Play(s, b)
	text, err := got.Format()
	if err != nil {
		return nil, err
	}
	if got, err = recording.Parse(text); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kafka, narrowed := servedOnly(kafka)
	want, rewritten := r.differences.Expected(kafka)
	if narrowed && playErr == nil {
		r.differences.meet(oldVersions)
	}
	rest, met := r.differences.Unexplained(s.Name, recording.Diff(want, got))
	if playErr == nil {
		for _, d := range append(rewritten, met...) {
			d.used = true
		}
	}
	return rest, playErr
}

// oldVersions is the difference that servedOnly makes.
const oldVersions = "versions-of-other-releases"

// servedOnly is a recording without the APIs that doze leaves out on purpose, and with the versions of other releases bounded
// by those of the reference. It tells whether a version was.
func servedOnly(rec *recording.Recording) (*recording.Recording, bool) {
	out, narrowed := *rec, false
	out.Steps = slices.Clone(rec.Steps)
	for i := range out.Steps {
		if step := &out.Steps[i]; apiOf(step.API) == "ApiVersions" {
			step.Answer = withoutLeftOut(step.Answer, &narrowed)
		}
	}
	return &out, narrowed
}

func withoutLeftOut(answer recording.Object, narrowed *bool) recording.Object {
	out := slices.Clone(answer)
	for i, f := range out {
		list, ok := f.Value.([]recording.Value)
		if !ok {
			continue
		}
		out[i].Value = slices.DeleteFunc(slices.Clone(list), func(v recording.Value) bool {
			key, isAPI := v.(recording.Object).Get("ApiKey").(int64)
			return isAPI && leftOut(int16(key))
		})
		for j, v := range out[i].Value.([]recording.Value) {
			out[i].Value.([]recording.Value)[j] = bounded(v.(recording.Object), narrowed)
		}
	}
	return out
}

// bounded is a range of versions within that of the reference.
func bounded(api recording.Object, narrowed *bool) recording.Object {
	key, ok := api.Get("ApiKey").(int64)
	at := slices.IndexFunc(advertised, func(r versionRange) bool { return int64(r.key) == key })
	if !ok || at < 0 {
		return api
	}
	low, high := api.Get("MinVersion").(int64), api.Get("MaxVersion").(int64)
	within := recording.Object{
		{Name: "ApiKey", Value: key},
		{Name: "MinVersion", Value: max(low, int64(advertised[at].min))},
		{Name: "MaxVersion", Value: min(high, int64(advertised[at].max))},
	}
	*narrowed = *narrowed || within.Get("MinVersion") != low || within.Get("MaxVersion") != high
	return within
}

// The differences of differences.json and the sections of docs/differences.md are the same.
func TestDifferencesAreExplained(t *testing.T) {
	ds, err := LoadDifferences("differences.json")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	var explained []string
	for _, m := range regexp.MustCompile("(?m)^##+ .*\\(`([a-z0-9-]+)`\\)$").FindAllStringSubmatch(string(text), -1) {
		explained = append(explained, m[1])
	}
	for _, d := range ds.all {
		if !slices.Contains(explained, d.Name) {
			t.Errorf("docs/differences.md has no section of %s", d.Name)
		}
		if d.Reason == "" {
			t.Errorf("difference %s has no reason", d.Name)
		}
	}
	for _, name := range explained {
		if !slices.Contains(ds.Names(), name) {
			t.Errorf("docs/differences.md explains %s, which differences.json does not have", name)
		}
	}
}
