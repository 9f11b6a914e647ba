package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"doze/conformance/recording"
)

// citation is how claims name a recording: [create-topics-versions].
var citation = regexp.MustCompile(`\[([a-z0-9.-]+)\]`)

func readClaims(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("claims/*.md")
	if err != nil {
		t.Fatal(err)
	}
	claims := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		claims[file] = string(text)
	}
	return claims
}

// Every citation names a recording that exists; every recording that is not one of a matrix is cited.
func TestClaimsAndRecordingsAgree(t *testing.T) {
	cited := map[string]bool{}
	for file, text := range readClaims(t) {
		for _, m := range citation.FindAllStringSubmatch(text, -1) {
			cited[m[1]] = true
			if _, err := recording.Load("recordings", m[1]); err != nil && !strings.HasSuffix(m[1], "-") {
				t.Errorf("%s cites %s: %v", file, m[1], err)
			}
		}
	}
	for _, s := range Scenarios() {
		if !cited[s.Name] && !(strings.HasPrefix(s.Name, "matrix-") && cited["matrix-"]) {
			t.Errorf("no claim cites recording %s", s.Name)
		}
	}
}

// Scenarios and recordings are the same set, with the same claims.
func TestEveryScenarioHasItsRecording(t *testing.T) {
	names := map[string]bool{}
	for _, s := range Scenarios() {
		if names[s.Name] {
			t.Errorf("two scenarios are named %s", s.Name)
		}
		names[s.Name] = true
		rec, err := recording.Load("recordings", s.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if rec.Claim != s.Claim || rec.Part != s.Part || rec.Kafka != s.Kafka {
			t.Errorf("recording %s was made of another state of its scenario: claim, part or release differ", s.Name)
		}
	}
	files, err := filepath.Glob("recordings/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".json"); !names[name] {
			t.Errorf("recording %s belongs to no scenario", name)
		}
	}
}

// The table of the matrix is what the recorded broker advertises.
func TestMatrixCoversWhatKafkaAdvertises(t *testing.T) {
	rec, err := recording.Load("recordings", "api-versions-4.3")
	if err != nil {
		t.Fatal(err)
	}
	keys, ok := rec.Steps[0].Answer.Get("ApiKeys").([]recording.Value)
	if !ok || len(keys) != len(advertised) {
		t.Fatalf("Kafka advertises %d APIs, the matrix has %d", len(keys), len(advertised))
	}
	for i, k := range keys {
		o := k.(recording.Object)
		got := versionRange{int16(o.Get("ApiKey").(int64)), int16(o.Get("MinVersion").(int64)), int16(o.Get("MaxVersion").(int64))}
		if got != advertised[i] {
			t.Errorf("Kafka advertises %v, the matrix has %v", got, advertised[i])
		}
	}
}

// The rows of the known faults of other brokers' logs and transactions (K4 to K8, K13) each stand beside a recording.
func TestKnownFaultsOfTheLogAreClaimed(t *testing.T) {
	var all strings.Builder
	for _, text := range readClaims(t) {
		all.WriteString(strings.Join(strings.Fields(text), " "))
	}
	for _, row := range strings.Fields(`B-23 B-25 B-26 B-28 B-29 B-31 B-32 B-34 B-35 B-37 B-38 B-40 B-41 B-43 B-44
		B-46 B-47 B-49 B-50 B-52 B-53 B-55 B-56 B-58 B-59 B-61 B-62 B-64 B-65 B-67 B-94 B-95`) {
		if !strings.Contains(all.String(), row) {
			t.Errorf("no claim says what shows that row %s of the known faults holds", row)
		}
	}
}
