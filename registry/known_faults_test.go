package registry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Faults that others' registries had, a test a row of the list that they were collected in (K14: shapes and codes; K15: identity,
// compatibility, deletion). Here are our own words for the steps and what must come.

// expect sends a request and holds its status, and what its body must contain.
func (h *harness) expect(status int, contains, method, path, body string, headers ...string) string {
	h.tb.Helper()
	got, answer := h.do(method, path, body, headers...)
	if got != status || !strings.Contains(answer, contains) {
		h.tb.Errorf("%s %s %.200s\nis   %d %s\nwant %d %s", method, path, body, got, answer, status, contains)
	}
	return answer
}

func (h *harness) register(subject, schemaType, schema string) string {
	h.tb.Helper()
	return h.expect(200, `"id":`, "POST", "/subjects/"+subject+"/versions", quoted(schemaType, schema))
}

func versionsOf(tb testing.TB, h *harness, subject string) string {
	tb.Helper()
	_, answer := h.do("GET", "/subjects/"+subject+"/versions", "")
	return answer
}

// B-97: latest in any case and -1 are the newest version; no other number below one is a version.
func TestB97VersionsInPaths(t *testing.T) {
	h := newHarness(t)
	h.register("s", "AVRO", `"int"`)
	h.expect(200, `"id"`, "POST", "/subjects/s/versions?force=true", quoted("AVRO", `"string"`))
	for _, version := range []string{"-1", "latest", "LATEST", "%20latest%20", "2"} {
		h.expect(200, `"version":2`, "GET", "/subjects/s/versions/"+version, "")
	}
	for _, version := range []string{"0", "-2", "2147483648", "abc"} {
		h.expect(422, `"error_code":42202`, "GET", "/subjects/s/versions/"+version, "")
	}
}

// B-98: an error has its code and message and nothing else; a version has no fields that strict clients do not know; numbers are
// numbers. Releases from 8 on write the type AVRO and "deleted": false too: that is a difference to the row, which is about release 7.
func TestB98NothingMoreInBodies(t *testing.T) {
	h := newHarness(t)
	h.register("s", "AVRO", `"int"`)
	h.register("j", "JSON", `{}`)
	h.expect(200, "FULL", "PUT", "/config/s", `{"compatibility":"FULL"}`)
	known := map[string]bool{"subject": true, "version": true, "id": true, "guid": true, "schemaType": true, "schema": true, "ts": true}
	for _, subject := range []string{"s", "j"} {
		var fields map[string]any
		if err := json.Unmarshal([]byte(h.expect(200, "", "GET", "/subjects/"+subject+"/versions/1", "")), &fields); err != nil {
			t.Fatal(err)
		}
		for name, value := range fields {
			if value == false && name == "deleted" {
				continue
			}
			if _, number := value.(float64); !known[name] || number != (name == "id" || name == "version" || name == "ts") {
				t.Errorf("version of %s has %s: %v", subject, name, value)
			}
		}
	}
	var fault map[string]any
	if err := json.Unmarshal([]byte(h.expect(404, "", "GET", "/subjects/none/versions", "")), &fault); err != nil || len(fault) != 2 || fault["error_code"] != 40401.0 {
		t.Errorf("an error is %v, %v", fault, err)
	}
}

// B-100: nothing is incompatible with latest of a subject that is not there; a version by number must be.
func TestB100CompatibilityWithNothing(t *testing.T) {
	h := newHarness(t)
	body := quoted("AVRO", `"int"`)
	h.expect(200, `{"is_compatible":true}`, "POST", "/compatibility/subjects/none/versions/latest", body)
	h.expect(200, `{"is_compatible":true}`, "POST", "/compatibility/subjects/none/versions", body)
	h.expect(404, `"error_code":40402`, "POST", "/compatibility/subjects/none/versions/1", body)
}

// B-101: the level has one name in a PUT and another in a GET, and a subject without its own says so unless the global one is asked for.
func TestB101NamesOfTheLevel(t *testing.T) {
	h := newHarness(t)
	h.expect(404, `"error_code":40408`, "GET", "/config/s", "")
	h.expect(404, `"error_code":40409`, "GET", "/mode/s", "")
	h.expect(200, `{"compatibilityLevel":"BACKWARD"}`, "GET", "/config/s?defaultToGlobal=true", "")
	h.expect(200, `{"mode":"READWRITE"}`, "GET", "/mode/s?defaultToGlobal=true", "")
	h.expect(200, `{"compatibility":"NONE"}`, "PUT", "/config/s", `{"compatibility":"NONE"}`)
	h.expect(200, `{"compatibilityLevel":"NONE"}`, "GET", "/config/s", "")
	h.expect(200, `{"compatibilityLevel":"NONE"}`, "DELETE", "/config/s", "")
	h.expect(404, `"error_code":40408`, "GET", "/config/s", "")
	h.expect(200, `{"mode":"READONLY"}`, "PUT", "/mode/s", `{"mode":"READONLY"}`)
	h.expect(200, `{"mode":"READONLY"}`, "DELETE", "/mode/s", "")
	h.expect(404, `"error_code":40409`, "GET", "/mode/s", "")
}

// B-103: four media types and none are JSON, a form is refused, and answers are of the registry's own type unless another is asked for.
func TestB103MediaTypes(t *testing.T) {
	h := newHarness(t)
	body := quoted("JSON", `{"type":"string"}`)
	for _, media := range []string{mediaV1, mediaDefault, mediaJSON, mediaBytes, ""} {
		h.expect(200, `"id":1`, "POST", "/subjects/s/versions", body, "Content-Type", media)
	}
	h.expect(415, `"error_code":415`, "POST", "/subjects/s/versions", body, "Content-Type", "application/x-www-form-urlencoded")
	for accept, want := range map[string]string{"": mediaV1, "*/*": mediaV1, "text/plain": mediaV1, mediaDefault: mediaDefault, "application/json, */*": mediaJSON} {
		if got := mediaFor(accept); got != want {
			t.Errorf("who accepts %q gets %s", accept, got)
		}
	}
}

// B-104: an escaped slash is part of a name, a bare one is another path.
func TestB104SlashesInNames(t *testing.T) {
	h := newHarness(t)
	for _, subject := range []string{"a%2Fb%20c.proto", ":.ctx:x", "%3A.ctx%3Ax%2Fy"} {
		h.register(subject, "AVRO", `"int"`)
		h.expect(200, "[1]", "GET", "/subjects/"+subject+"/versions", "")
		h.expect(200, `"version":1`, "GET", "/subjects/"+subject+"/versions/1", "")
	}
	h.expect(200, `["a/b c.proto"]`, "GET", "/subjects?subjectPrefix=a", "")
	h.expect(404, `{"error_code":404,`, "GET", "/subjects/a/b%20c.proto/versions", "")
	h.expect(200, "[1]", "DELETE", "/subjects/a%2Fb%20c.proto", "")
	h.expect(200, "[]", "GET", "/subjects?subjectPrefix=a", "")
}

// B-106: lists of schemas and what an id leads to are there, and a path that is not has a body like every error.
func TestB106ListsOfSchemas(t *testing.T) {
	h := newHarness(t)
	h.register("a", "AVRO", `"int"`)
	h.register("a", "AVRO", `"long"`)
	h.register("b", "AVRO", `"int"`)
	for path, want := range map[string]int{
		"/schemas": 3, "/schemas?latestOnly=true": 2, "/schemas?subjectPrefix=b": 1, "/schemas?offset=1&limit=1": 1, "/schemas/ids/1/versions": 2,
	} {
		var list []map[string]any
		if err := json.Unmarshal([]byte(h.expect(200, "", "GET", path, "")), &list); err != nil || len(list) != want {
			t.Errorf("%s: %d, %v", path, len(list), err)
		}
	}
	h.expect(200, "[1]", "DELETE", "/subjects/b", "")
	h.expect(200, `"deleted":true`, "GET", "/schemas?deleted=true", "")
	h.expect(200, "AVRO", "GET", "/schemas/types", "")
	h.expect(200, `["a"]`, "GET", "/schemas/ids/1/subjects", "")
	h.expect(200, `"int"`, "GET", "/schemas/ids/1/schema", "")
	h.expect(404, `{"error_code":404,"message":`, "GET", "/no/such/path", "")
}

// B-107: the text that is kept is the canonical one, and it decides which schemas are one.
func TestB107OneTextOneID(t *testing.T) {
	h := newHarness(t)
	h.register("s", "AVRO", `{"type":"string"}`)
	h.expect(200, `"schema":"\"string\""`, "GET", "/schemas/ids/1", "")
	h.expect(200, `"id":1`, "POST", "/subjects/t/versions", quoted("AVRO", `"string"`))
	pretty := "{\n  \"type\" : \"record\",\n  \"name\" : \"R\",\n  \"fields\" : [ ]\n}"
	h.expect(200, `"id":2`, "POST", "/subjects/r/versions", quoted("AVRO", pretty))
	h.expect(200, `"id":2`, "POST", "/subjects/r/versions", quoted("AVRO", strings.Join(strings.Fields(pretty), "")))
	if got := versionsOf(t, h, "r"); got != "[1]" {
		t.Errorf("r has %s", got)
	}
}

// B-109: a reader needs a default for what the writer had not, nullable or not, however deep it lies.
func TestB109FieldsWithoutDefaults(t *testing.T) {
	h := newHarness(t)
	h.register("s", "AVRO", `{"type":"record","name":"R","fields":[]}`)
	h.expect(409, `READER_FIELD_MISSING_DEFAULT_VALUE`, "POST", "/subjects/s/versions", quoted("AVRO", `{"type":"record","name":"R","fields":[{"name":"a","type":["null","int"]}]}`))
	in := `{"type":"record","name":"R","fields":[{"name":"u","type":["null",{"type":"record","name":"S","fields":[%s]}]}]}`
	h.register("u", "AVRO", fmt.Sprintf(in, ""))
	h.expect(409, `"error_code":40901`, "POST", "/subjects/u/versions", quoted("AVRO", fmt.Sprintf(in, `{"name":"a","type":"int"}`)))
	h.expect(200, `"version":2`, "POST", "/subjects/u/versions", quoted("AVRO", fmt.Sprintf(in, `{"name":"a","type":"int","default":0}`)))
}

// B-110: a name is defined once; a default is of a branch of its union, of any since Avro 1.12; null with a record is a good union.
func TestB110DefinitionsAndUnions(t *testing.T) {
	h := newHarness(t)
	enum := `{"type":"enum","name":"E","symbols":["A"]}`
	h.expect(422, `"error_code":42201`, "POST", "/subjects/s/versions", quoted("AVRO", `{"type":"record","name":"R","fields":[{"name":"a","type":`+enum+`},{"name":"b","type":`+enum+`}]}`))
	h.expect(422, `"error_code":42201`, "POST", "/subjects/s/versions", quoted("AVRO", `{"type":"record","name":"R","fields":[{"name":"a","type":["int","null"],"default":"x"}]}`))
	h.expect(200, `"version":1`, "POST", "/subjects/d/versions", quoted("AVRO", `{"type":"record","name":"R","fields":[{"name":"a","type":["int","null"],"default":null}]}`))
	h.expect(200, `"version":1`, "POST", "/subjects/s/versions", quoted("AVRO", `["null",{"type":"record","name":"R","fields":[]}]`))
}

// B-112: known imports need no references, the text is kept unless it is to be normalised, and every route gives the descriptor.
func TestB112ProtobufImportsAndForms(t *testing.T) {
	h := newHarness(t)
	text := "syntax = \"proto3\";\n\nimport \"google/protobuf/timestamp.proto\";\nimport \"confluent/meta.proto\";\n\noption java_package = \"a\";\noption go_package = \"b\";\n\nmessage M {\n  google.protobuf.Timestamp at = 1;\n}\n"
	h.register("p", "PROTOBUF", text)
	h.expect(200, `import \"google/protobuf/timestamp.proto\";\nimport \"confluent/meta.proto\";`, "GET", "/subjects/p/versions/1", "")
	other := strings.Replace(text, "option java_package = \"a\";\noption go_package = \"b\";", "option go_package = \"b\";\noption java_package = \"a\";", 1)
	h.expect(404, `"error_code":40403`, "POST", "/subjects/p", quoted("PROTOBUF", other))
	h.register("n", "PROTOBUF", text)
	h.expect(200, `"id":2`, "POST", "/subjects/n/versions?normalize=true", quoted("PROTOBUF", text))
	h.expect(200, `"id":2`, "POST", "/subjects/n?normalize=true", quoted("PROTOBUF", other))
	body := `{"schemaType":"PROTOBUF","schema":"syntax = \"proto3\"; import \"own.proto\"; message N { M m = 1; }","references":[{"name":"own.proto","subject":"p","version":1}]}`
	h.expect(200, `"id":3`, "POST", "/subjects/q/versions", body)
	serialized := func(path string) string {
		var a schemaAnswer
		if err := json.Unmarshal([]byte(h.expect(200, "", "GET", path+"?format=serialized", "")), &a); err != nil {
			t.Fatal(err)
		}
		return a.Schema
	}
	byVersion, byID := serialized("/subjects/q/versions/1"), serialized("/schemas/ids/3")
	if byVersion != byID || byVersion == "" || strings.Contains(byVersion, "message") {
		t.Errorf("descriptors are %q and %q", byVersion, byID)
	}
	h.expect(200, `"id":3`, "POST", "/subjects/q", `{"schemaType":"PROTOBUF","schema":"syntax = \"proto3\";\n\nimport \"own.proto\";\n\nmessage N {\n  M m = 1;\n}\n","references":[{"name":"own.proto","subject":"p","version":1}]}`)
}

// B-113: what tightens a JSON Schema is refused, what loosens it is not, by the content model; nothing is an error of the server.
func TestB113JSONSchemaKeywords(t *testing.T) {
	object := func(more string) string { return `{"type":"object","properties":{"a":{"type":"string"}}` + more + `}` }
	for i, c := range []struct {
		before, after string
		status        int
	}{
		{`{"type":"array"}`, `{"type":"array","uniqueItems":true}`, 409},
		{`{"type":"integer","multipleOf":2}`, `{"type":"integer","multipleOf":4}`, 409},
		{`{"type":"integer","multipleOf":4}`, `{"type":"integer","multipleOf":2}`, 200},
		{object(""), object(`,"required":["a"]`), 409},
		{`{"enum":[1,2]}`, `{"enum":[1]}`, 409},
		{`{"type":["string","null"]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, 200},
		{object(`,"additionalProperties":false`), object(""), 200},
		{object(""), object(`,"additionalProperties":false`), 409},
		{object(""), `{"$schema":"https://json-schema.org/draft/2020-12/schema",` + object("")[1:], 200},
	} {
		h := newHarness(t)
		h.register("s", "JSON", c.before)
		if status, answer := h.do("POST", "/subjects/s/versions", quoted("JSON", c.after)); status != c.status {
			t.Errorf("%d: %s after %s: %d %s", i, c.after, c.before, status, answer)
		}
	}
}

// B-115: a deletion hides first and takes away second, for subjects and for versions.
func TestB115TwoStepsOfDeletion(t *testing.T) {
	h := newHarness(t)
	h.register("s", "AVRO", `"int"`)
	h.register("s", "AVRO", `"long"`)
	h.expect(404, `"error_code":40405`, "DELETE", "/subjects/s?permanent=true", "")
	h.expect(404, `"error_code":40407`, "DELETE", "/subjects/s/versions/1?permanent=true", "")
	h.expect(200, "1", "DELETE", "/subjects/s/versions/1", "")
	h.expect(404, `"error_code":40406`, "DELETE", "/subjects/s/versions/1", "")
	h.expect(200, "[2]", "DELETE", "/subjects/s", "")
	h.expect(404, `"error_code":40404`, "DELETE", "/subjects/s", "")
	h.expect(200, "[1,2]", "DELETE", "/subjects/s?permanent=true", "")
	h.expect(404, `"error_code":40401`, "DELETE", "/subjects/s?permanent=true", "")
}

// B-116: what is referred to stays until nothing refers to it any more, and a reference must lead somewhere.
func TestB116ReferencesAndDeletion(t *testing.T) {
	h := newHarness(t)
	h.register("inner", "AVRO", `{"type":"record","name":"I","fields":[]}`)
	referring := func(subject, version string) string {
		return `{"schema":"{\"type\":\"record\",\"name\":\"O\",\"fields\":[{\"name\":\"i\",\"type\":\"I\"}]}","references":[{"name":"I","subject":"` + subject + `","version":` + version + `}]}`
	}
	h.expect(200, `"id":2`, "POST", "/subjects/outer/versions", referring("inner", "1"))
	h.expect(200, "[2]", "GET", "/subjects/inner/versions/1/referencedby", "")
	h.expect(422, `"error_code":42206`, "DELETE", "/subjects/inner", "")
	h.expect(422, `"error_code":42206`, "DELETE", "/subjects/inner/versions/1", "")
	for _, path := range []string{"/subjects/outer/versions", "/compatibility/subjects/outer/versions"} {
		h.expect(422, `"error_code":42201`, "POST", path, referring("none", "1"))
		h.expect(422, `"error_code":42201`, "POST", path, referring("inner", "7"))
	}
	h.expect(200, "[1]", "DELETE", "/subjects/outer", "")
	h.expect(200, "[1]", "DELETE", "/subjects/inner", "")
	h.expect(422, `"error_code":42201`, "POST", "/subjects/late/versions", referring("inner", "1"))
	h.expect(422, `"error_code":42206`, "DELETE", "/subjects/inner?permanent=true", "")
	h.expect(200, "[1]", "DELETE", "/subjects/outer?permanent=true", "")
	h.expect(200, "[1]", "DELETE", "/subjects/inner?permanent=true", "")
	if status, _ := h.do("GET", "/schemas/ids/1", ""); status != http.StatusNotFound {
		t.Errorf("the id of what is gone: %d", status)
	}
}
