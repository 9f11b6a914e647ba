package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"doze/console"
)

const (
	orderV1 = `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}`
	orderV2 = `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string","default":""}]}`
	orderV3 = `{"type":"record","name":"Order","fields":[{"name":"id","type":"string"}]}`
)

// register registers a schema by the form.
func (w *walk) registers(subject, kind, text string, more ...string) reply {
	w.t.Helper()
	return w.changes("/schemas/new", append([]string{"subject", subject, "type", kind, "schema", text, "do", "register"}, more...)...)
}

func TestSchemaEvolution(t *testing.T) {
	w := start(t)
	w.get("/schemas").has(t, "No schema is registered", "BACKWARD: the new schema reads")
	w.get("/schemas/new").has(t, `name="ref-name"`)
	first := w.post("/schemas/new", "subject", "orders-value", "type", "AVRO", "schema", orderV1, "do", "check")
	first.has(t, "It would be the first version")
	w.registers("orders-value", "AVRO", orderV1).has(t, "Registered orders-value version 1 with id 1", "Version 1", "Order", "Guid")

	w.get("/schemas/new?subject=orders-value&from=1").has(t, "&#34;name&#34;: &#34;Order&#34;", "BACKWARD")
	checked := w.post("/schemas/new", "subject", "orders-value", "type", "AVRO", "schema", orderV3, "do", "check")
	checked.has(t, "Not compatible", "TYPE_MISMATCH", "Against version 1", `class="removed"`)
	if got := w.post("/schemas/new", "subject", "orders-value", "type", "AVRO", "schema", orderV3, "do", "register"); got.Status != http.StatusConflict {
		t.Errorf("an incompatible schema: %d", got.Status)
	}
	w.post("/schemas/new", "subject", "orders-value", "type", "AVRO", "schema", orderV2, "do", "check").has(t, "Compatible: it may be registered", `class="added"`)
	w.registers("orders-value", "AVRO", orderV2).has(t, "version 2 with id 2", "Version 2", "what changed")
	w.post("/schemas/new", "subject", "orders-value", "type", "AVRO", "schema", orderV2, "do", "check").has(t, "This very schema is version 2 already")

	w.get("/schemas").has(t, `href="/schemas/subjects/orders-value"`, "1 subject")
	w.get("/schemas/subjects/orders-value/diff?from=1&to=2").has(t, "added", "&#34;note&#34;")
	w.get("/schemas/subjects/orders-value/diff?from=2&to=1&view=side").has(t, "removed", "Version 2")
	w.get("/schemas/subjects/orders-value/diff?from=1&to=1").has(t, "no difference")
	w.registers("other-value", "AVRO", orderV1).has(t, "The same schema elsewhere", "orders-value version 1")
	w.get("/schemas/subjects/orders-value/diff?from=2&other=other-value&to=1").has(t, "other-value version 1")
}

func TestSchemaReferences(t *testing.T) {
	w := start(t)
	w.registers("address", "AVRO", `{"type":"record","name":"Address","namespace":"shop","fields":[{"name":"city","type":"string"}]}`)
	person := `{"type":"record","name":"Person","namespace":"shop","fields":[{"name":"home","type":"shop.Address"}]}`
	more := w.post("/schemas/new", "subject", "person", "type", "AVRO", "schema", person, "ref-name", "shop.Address", "ref-subject", "address", "ref-version", "1", "do", "more")
	if rows := strings.Count(more.Body, `name="ref-name"`); rows < 4 {
		t.Errorf("%d rows of references", rows)
	}
	more.has(t, `value="shop.Address"`)
	w.post("/schemas/new", "subject", "person", "type", "AVRO", "schema", person, "ref-name", "shop.Address", "ref-subject", "address", "ref-version", "x", "do", "check").has(t, "give its name, its subject")
	w.registers("person", "AVRO", person, "ref-name", "shop.Address", "ref-subject", "address", "ref-version", "1").has(t, `<a href="/schemas/subjects/address?version=1">address version 1</a>`)
	w.get("/schemas/subjects/address").has(t, `<a href="/schemas/subjects/person?version=1">person version 1</a>`)
	w.get("/schemas/subjects/address/delete?version=1").has(t, "It is referred to by person version 1")
	w.get("/schemas/new?subject=person").has(t, `value="shop.Address"`)
}

func TestSchemaDeletionAndRestore(t *testing.T) {
	w := start(t)
	w.registers("orders-value", "AVRO", orderV1)
	w.registers("orders-value", "AVRO", orderV2)
	w.get("/schemas/subjects/orders-value/delete?version=2").has(t, "soft deletion")
	w.changes("/schemas/subjects/orders-value/delete", "version", "2").has(t, "It can be restored", "deleted")
	w.get("/schemas/subjects/orders-value?version=2").has(t, "Restore version 2", "for good")
	w.changes("/schemas/subjects/orders-value/restore", "version", "2").has(t, "Restored version 2 of orders-value", "with its id 2")

	w.changes("/schemas/subjects/orders-value/delete").has(t, "Deleted subject orders-value", "Hide deleted", "deleted")
	hasLacks(t, w.get("/schemas"), []string{"No schema is registered"}, `href="/schemas/subjects/orders-value"`)
	w.get("/schemas/subjects/orders-value").has(t, "Restore version", "Delete the subject for good")
	w.get("/schemas/subjects/orders-value/delete").has(t, "goes for good")
	if got := w.post("/schemas/subjects/orders-value/delete", "permanent", "1", "typed", "orders"); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("another name typed: %d", got.Status)
	}
	w.changes("/schemas/subjects/orders-value/delete", "permanent", "1", "typed", "orders-value").has(t, "for good")
	if got := w.do("GET", "/schemas/subjects/orders-value", "", nil); got.Status != http.StatusNotFound {
		t.Errorf("a subject that is gone: %d", got.Status)
	}
}

func TestSchemaSettings(t *testing.T) {
	w := start(t)
	w.registers("orders-value", "AVRO", orderV1)
	w.get("/schemas/settings").has(t, "Compatibility level")
	w.changes("/schemas/settings", "what", "level", "value", "FULL").has(t, "The level of all subjects is FULL", "FULL: the new schema and the last one")
	w.changes("/schemas/subjects/orders-value/settings", "what", "level", "value", "NONE").has(t, "NONE: nothing is checked")
	w.changes("/schemas/subjects/orders-value/settings", "what", "mode", "value", "READONLY").has(t, "READONLY: nothing changes")
	if got := w.post("/schemas/new", "subject", "orders-value", "type", "AVRO", "schema", orderV2, "do", "register"); got.Status == http.StatusSeeOther {
		t.Error("a subject that is read-only took a schema")
	}
	w.changes("/schemas/subjects/orders-value/settings", "what", "mode", "value", "").has(t, "is that of all again", "READWRITE")
	w.changes("/schemas/subjects/orders-value/settings", "what", "level", "value", "").has(t, "of all")
	for _, pair := range [][2]string{{"level", "<b>"}, {"mode", "FULL"}, {"x", "FULL"}} {
		if got := w.post("/schemas/settings", "what", pair[0], "value", pair[1]); got.Status != http.StatusUnprocessableEntity {
			t.Errorf("%v: %d", pair, got.Status)
		}
	}
}

// TestFindSchema: an id or a guid, as a record carries it, leads to the schema.
func TestFindSchema(t *testing.T) {
	w := start(t)
	guid := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).FindString(w.registers("orders-value", "AVRO", orderV1).Body)
	for _, what := range []string{"1", guid} {
		got := w.do("GET", "/schemas/find?what="+what, "", nil)
		if got.Status != http.StatusSeeOther || got.Header.Get("Location") != "/schemas/subjects/orders-value?version=1" {
			t.Errorf("%s: %d %s", what, got.Status, got.Header.Get("Location"))
		}
	}
	for _, what := range []string{"99", "", "<b>", "-1", "99999999999999999999"} {
		if got := w.do("GET", "/schemas/find?what="+url.QueryEscape(what), "", nil); got.Status != http.StatusNotFound {
			t.Errorf("%q: %d", what, got.Status)
		}
	}
}

func TestHostileSchemas(t *testing.T) {
	w := start(t)
	const evil = "<script>alert(1)</script>"
	w.changes("/schemas/settings", "what", "level", "value", "NONE")
	w.registers(evil, "JSON", `{"title":"`+evil+`","type":"object"}`, "normalize", "1")
	w.registers(evil, "JSON", `{"title":"<img src=x onerror=alert(2)>","type":"object","properties":{"<b>":{}},"additionalProperties":false}`)
	for _, at := range []string{"/schemas", "/schemas/subjects/" + url.PathEscape(evil), "/schemas/subjects/" + url.PathEscape(evil) + "/diff?from=1&to=2", "/schemas/subjects/" + url.PathEscape(evil) + "/diff?from=1&to=2&view=side", "/schemas/new?subject=" + url.QueryEscape(evil)} {
		w.get(at).lacks(t, "<script>alert", "<img", "<b>")
	}
}

func TestWithoutRegistry(t *testing.T) {
	w := start(t, func(o *console.Options) { o.Registry = "" })
	for _, at := range []string{"/schemas", "/schemas/new", "/schemas/subjects/x", "/schemas/settings"} {
		if got := w.do("GET", at, "", nil); got.Status != http.StatusNotFound || !strings.Contains(got.Body, "no schema registry") {
			t.Errorf("%s: %d", at, got.Status)
		}
	}
}
