package protobuf

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"doze/registry/internal/vectors"
)

type example struct {
	Description  string
	Original     string `json:"original_schema"`
	Update       string `json:"update_schema"`
	OriginalRefs []struct {
		Name, Subject string
		Version       int32
	} `json:"original_references"`
	UpdateRefs []struct {
		Name, Subject string
		Version       int32
	} `json:"update_references"`
	OriginalDeps []struct{ Name, Dependency string } `json:"original_dependencies"`
	UpdateDeps   []struct{ Name, Dependency string } `json:"update_dependencies"`
	Changes      []string
	Compatible   bool
}

func TestDifferencesOfConfluent(t *testing.T) {
	for _, file := range []string{"diff-schema-examples.json", "diff-schema-examples-with-meta.json"} {
		var examples []example
		if err := json.Unmarshal(vectors.Read(t, "confluent-protobuf/"+file), &examples); err != nil {
			t.Fatal(err)
		}
		for _, e := range examples {
			text := func(s string) string {
				if strings.HasSuffix(s, ".proto") {
					return string(vectors.Read(t, "confluent-protobuf/"+s))
				}
				return s
			}
			imports := func(refs []struct {
				Name, Subject string
				Version       int32
			}, deps []struct{ Name, Dependency string }) (all []Import) {
				for _, d := range deps {
					i := Import{Name: d.Name, Text: text(d.Dependency)}
					for _, r := range refs {
						if r.Name == d.Name {
							i.Subject, i.Version = r.Subject, r.Version
						}
					}
					all = append(all, i)
				}
				return all
			}
			original, err1 := Parse(text(e.Original), imports(e.OriginalRefs, e.OriginalDeps))
			update, err2 := Parse(text(e.Update), imports(e.UpdateRefs, e.UpdateDeps))
			if err := errors.Join(err1, err2); err != nil {
				t.Errorf("%s: %v", e.Description, err)
				continue
			}
			found, err := Compare(original, update)
			if err != nil {
				t.Errorf("%s: %v", e.Description, err)
				continue
			}
			var got []string
			fine := true
			for _, d := range found {
				got = append(got, d.Type+" "+d.Path)
				fine = fine && Allowed(d.Type)
			}
			slices.Sort(got)
			slices.Sort(e.Changes)
			if fine != e.Compatible || !slices.Equal(got, e.Changes) {
				t.Errorf("%s\n%s\n%s\nis        %v %v\nConfluent %v %v", e.Description, e.Original, e.Update, fine, got, e.Compatible, e.Changes)
			}
		}
		t.Logf("%s: %d examples", file, len(examples))
	}
}
