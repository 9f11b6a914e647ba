package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"doze/journal"
	"doze/projections"
	"doze/registry/internal/vectors"
)

// TestIdentityOfConfluent holds guids to those that Confluent's registry gives, with and without references, metadata and rules.
func TestIdentityOfConfluent(t *testing.T) {
	raw := vectors.Read(t, "confluent-core/schema-md5-golden-data.json")
	var golden struct {
		Schemas        map[string]string
		References     []reference
		Metadata       *metadata
		Rules          *ruleSet
		ExpectedHashes map[string]map[string]string
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	for kind, hashes := range golden.ExpectedHashes {
		for parts, want := range hashes {
			c := content{Type: kind, Text: golden.Schemas[strings.ToLower(kind)]}
			if parts[0] == '1' {
				for _, r := range golden.References {
					c.References = append(c.References, journal.SchemaReference{Name: r.Name, Subject: r.Subject, Version: *r.Version})
				}
			}
			if parts[1] == '1' {
				c.Metadata = golden.Metadata
			}
			if parts[2] == '1' {
				c.RuleSet = golden.Rules
			}
			if got := uuid(c.guid()); got != want {
				t.Errorf("%s %s is %s, want %s", kind, parts, got, want)
			}
		}
	}
}

// quoted is a schema as the body of a request.
func quoted(schemaType, schema string) string {
	b, _ := json.Marshal(map[string]string{"schemaType": schemaType, "schema": schema})
	return string(b)
}

func record(n int) string {
	return fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"a","type":"int"}]}`, n)
}

// Registrations of many clients at once get one version each, in a row, and one id for one schema.
func TestRegistrationsAtOnce(t *testing.T) {
	h := newHarness(t)
	if status, answer := h.do("PUT", "/config", `{"compatibility":"NONE"}`); status != http.StatusOK {
		t.Fatal(answer)
	}
	const clients, each = 8, 20
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range each {
				status, answer := h.do("POST", fmt.Sprintf("/subjects/s%d/versions", i%3), quoted("AVRO", record((c+i)%10)))
				if status != http.StatusOK {
					t.Errorf("%d %s", status, answer)
				}
			}
		})
	}
	wg.Wait()
	ids := map[string]bool{}
	for s := range 3 {
		_, versions := h.do("GET", fmt.Sprintf("/subjects/s%d/versions", s), "")
		if versions != "[1,2,3,4,5,6,7,8,9,10]" {
			t.Errorf("s%d has %s", s, versions)
		}
	}
	for id := range 10 {
		_, text := h.do("GET", fmt.Sprintf("/schemas/ids/%d/schema", id+1), "")
		ids[text] = true
	}
	if status, _ := h.do("GET", "/schemas/ids/11", ""); len(ids) != 10 || status != http.StatusNotFound {
		t.Errorf("%d schemas have ids to 10", len(ids))
	}
}

// corpus are texts that take others' registries long, much memory, or down.
func corpus() map[string][2]string {
	rep := strings.Repeat
	all := map[string][2]string{}
	for _, kind := range []string{"AVRO", "JSON", "PROTOBUF"} {
		for name, text := range map[string]string{
			"brackets": rep("[", 50_000), "braces": rep("{", 50_000), "objects": rep(`{"a":`, 20_000), "quotes": rep(`"`, 50_000), "zeros": rep("0", 50_000), "escapes": `"` + rep(`\u0000`, 9_000) + `"`,
			"commas": "[" + rep("0,", 90_000) + "0]", "spaces": rep(" ", 100_000) + "x", "nul": "\x00", "invalid": rep("\xff", 10_000), "exponent": `{"a":1e999999999}`, "members": "{" + rep(`"a":0,`, 30_000) + `"b":0}`,
		} {
			all[kind+" "+name] = [2]string{kind, text}
		}
	}
	all["AVRO arrays"] = [2]string{"AVRO", rep(`{"type":"array","items":`, 10_000) + `"int"` + rep("}", 10_000)}
	all["AVRO records"] = [2]string{"AVRO", rep(`{"type":"record","name":"R","fields":[{"name":"f","type":`, 5_000)}
	all["AVRO fields"] = [2]string{"AVRO", `{"type":"record","name":"R","fields":[` + rep(`{"name":"f","type":"int"},`, 20_000) + `{"name":"g","type":"int"}]}`}
	all["AVRO default"] = [2]string{"AVRO", `{"type":"record","name":"R","fields":[{"name":"f","type":"R","default":` + rep(`{"f":`, 90) + `{}` + rep("}", 90) + `}]}`}
	all["AVRO symbols"] = [2]string{"AVRO", `{"type":"enum","name":"E","symbols":[` + rep(`"A",`, 90_000) + `"B"]}`}
	all["JSON refs"] = [2]string{"JSON", `{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/a"}}}`}
	all["JSON pattern"] = [2]string{"JSON", `{"type":"string","pattern":"` + rep("(a*)*", 1_500) + `"}`}
	all["JSON repeats"] = [2]string{"JSON", `{"type":"string","pattern":"((a{1000}){1000}){1000}"}`}
	all["JSON anyOf"] = [2]string{"JSON", rep(`{"anyOf":[`, 5_000) + "{}" + rep("]}", 5_000)}
	all["JSON wide"] = [2]string{"JSON", `{"anyOf":[` + rep(`{"type":"string"},`, 30_000) + `{}]}`}
	all["JSON file"] = [2]string{"JSON", `{"$ref":"file:///dev/zero"}`}
	all["JSON multiple"] = [2]string{"JSON", `{"multipleOf":1e-99999999}`}
	all["JSON enum"] = [2]string{"JSON", `{"enum":[` + rep(`{"a":1},`, 30_000) + `0]}`}
	all["PROTOBUF messages"] = [2]string{"PROTOBUF", rep("message A {", 20_000)}
	all["PROTOBUF options"] = [2]string{"PROTOBUF", "option a = " + rep("{a:", 20_000)}
	all["PROTOBUF many"] = [2]string{"PROTOBUF", "syntax = \"proto3\";" + rep("message A {}\n", 30_000)}
	all["PROTOBUF comment"] = [2]string{"PROTOBUF", "/*" + rep("*", 500_000)}
	all["PROTOBUF groups"] = [2]string{"PROTOBUF", "message A {" + rep("optional group G = 1 {", 5_000)}
	all["PROTOBUF import"] = [2]string{"PROTOBUF", rep("import \"google/protobuf/any.proto\";\n", 20_000)}
	all["PROTOBUF ranges"] = [2]string{"PROTOBUF", "message A { reserved " + rep("1 to max,", 20_000) + "5; }"}
	return all
}

// References that go round through versions, and chains of them, are bounded.
func TestReferencesAreBounded(t *testing.T) {
	h := newHarness(t)
	body := `{"schemaType":"JSON","schema":"{}"}`
	for i := range 200 {
		status, answer := h.do("POST", fmt.Sprintf("/subjects/s%d/versions", i), body)
		if status != http.StatusOK {
			if i < 50 || !strings.Contains(answer, "references are nested deeper") {
				t.Fatalf("%d: %s", i, answer)
			}
			return
		}
		body = fmt.Sprintf(`{"schemaType":"JSON","schema":"{\"title\":\"%d\"}","references":[{"name":"r%d","subject":"s%d","version":1}]}`, i, i, i)
	}
	t.Error("a chain of 200 references is taken")
}

func TestBodiesAndMediaTypes(t *testing.T) {
	h := newHarness(t)
	for _, c := range []struct {
		media, body string
		want        int
	}{
		{mediaV1, `{"schema":"\"int\""}`, 200}, {mediaDefault, `{"schema":"\"int\""}`, 200}, {mediaJSON + "; charset=utf-8", `{"schema":"\"int\""}`, 200},
		{mediaBytes, `{"schema":"\"int\""}`, 200}, {"text/plain", `{"schema":"\"int\""}`, 415}, {mediaV1, strings.Repeat(" ", MaxBody+1), 413},
	} {
		if status, answer := h.do("POST", "/subjects/s/versions", c.body, "Content-Type", c.media); status != c.want || !json.Valid([]byte(answer)) {
			t.Errorf("%s of %d bytes: %d %s", c.media, len(c.body), status, answer)
		}
	}
	r, _ := http.NewRequestWithContext(t.Context(), "GET", "http://x/subjects", nil)
	r.Header.Set("Accept", "text/html, application/json;q=0.5")
	if media := mediaFor(r.Header.Get("Accept")); media != mediaJSON {
		t.Errorf("answers %s", media)
	}
}

// A request ends with its time, inside a comparison too.
func TestTimeEndsComparisons(t *testing.T) {
	union := func(suffix string) string {
		var branches []string
		for i := range 400 {
			branches = append(branches, fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"a","type":"int"}]}`, i))
		}
		return `[` + strings.Join(branches, ",") + suffix + `]`
	}
	parts := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"type":"object","properties":{"a":{"type":"string","maxLength":%d}}}`, i))
		}
		return `{"anyOf":[` + strings.Join(all, ",") + `]}`
	}
	message := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "message M%d { int32 a = 1; }\n", i)
		}
		return b.String()
	}
	for kind, texts := range map[string][2]string{"AVRO": {union(""), union(`,"int"`)}, "JSON": {parts(200), parts(201)}, "PROTOBUF": {message(300), message(301)}} {
		old, err1 := parse(kind, texts[0], nil, false)
		update, err2 := parse(kind, texts[1], nil, false)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		messages, _ := update.refusals(ctx, false, old, "new", "old")
		if len(messages) != 1 || !strings.Contains(messages[0], "context canceled") {
			t.Errorf("%s: %d messages, the first is %.200q", kind, len(messages), messages)
		}
	}
}

func TestLogins(t *testing.T) {
	h := newHarness(t)
	h.opt.Authenticate = func(r *http.Request) (string, bool) {
		name, password, _ := r.BasicAuth()
		return "User:" + name, password == "secret"
	}
	if status, _ := h.do("GET", "/subjects", ""); status != http.StatusUnauthorized {
		t.Errorf("without a login: %d", status)
	}
	if status, _ := h.do("GET", "/subjects", "", "Authorization", "Basic YWxpY2U6c2VjcmV0"); status != http.StatusOK {
		t.Errorf("with a login: %d", status)
	}
}

// FuzzRequests: whatever comes is answered with JSON or a bare schema, and the state holds together.
func FuzzRequests(f *testing.F) {
	files, _ := filepath.Glob("testdata/transcripts/*.txt")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			method, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			if path, body, _ := strings.Cut(rest, " "); method == "GET" || method == "POST" || method == "PUT" || method == "DELETE" {
				f.Add(method, path, body)
			}
		}
	}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		if _, err := http.NewRequest(method, "http://registry/"+strings.TrimPrefix(path, "/"), nil); err != nil {
			return
		}
		h := newHarness(t)
		h.do("POST", "/subjects/s/versions", `{"schema":"\"int\"","metadata":{"properties":{"a":"b"}}}`)
		h.do("POST", "/subjects/:.lab:t/versions", `{"schemaType":"JSON","schema":"{}"}`)
		for range 2 {
			status, answer := h.do(method, "/"+strings.TrimPrefix(path, "/"), body)
			if status == 500 || status != 204 && method != "HEAD" && !strings.HasSuffix(strings.Split(path, "?")[0], "/schema") && !json.Valid([]byte(answer)) {
				t.Fatalf("%s %s %s: %d %s", method, path, body, status, answer)
			}
		}
	})
}

func BenchmarkRegister(b *testing.B) {
	h := newHarness(b)
	b.ResetTimer()
	for i := range b.N {
		if status, answer := h.do("POST", fmt.Sprintf("/subjects/s%d/versions", i), quoted("AVRO", record(i))); status != http.StatusOK {
			b.Fatal(answer)
		}
	}
}

func BenchmarkReadByID(b *testing.B) {
	h := newHarness(b)
	h.do("POST", "/subjects/s/versions", quoted("AVRO", record(1)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		h.do("GET", "/schemas/ids/1?subject=s", "")
	}
}

// BenchmarkStart opens a journal of 100,000 schemas that was closed.
func BenchmarkStart(b *testing.B) {
	h := newHarness(b)
	const schemas, each = 100_000, 1000
	for i := 0; i < schemas; i += each {
		err := h.update(b.Context(), cause{name: "bench"}, func(tx *journal.Tx[*projections.State]) error {
			for n := i; n < i+each; n++ {
				c := content{Type: Avro, Text: strings.Replace(record(n), "]", strings.Repeat(`,{"name":"b","type":["null","string"],"default":null}`, 8)+"]", 1)}
				tx.Emit(&journal.SchemaRegistered{Subject: fmt.Sprintf("topic-%d-value", n), Version: 1, ID: int32(n + 1), GUID: c.guid(), Type: c.Type, Schema: c.Text})
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for range b.N {
		if err := h.store.Close(); err != nil {
			b.Fatal(err)
		}
		h.open()
	}
}
