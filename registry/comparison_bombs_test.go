//go:build unix

package registry

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// comparisonBombs are pairs of schemas that are small enough each, and whose comparison is not unless something bounds it.
func comparisonBombs() map[string][3]string {
	list := func(n int, sep, format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(all, sep)
	}
	long := strings.Repeat("x", 300_000)
	all := map[string][3]string{}
	add := func(name, kind string, of func(v int) string) { all[name] = [3]string{kind, of(1), of(2)} }
	add("symbols that are all other ones", Avro, func(v int) string {
		return `{"type":"enum","name":"E","symbols":[` + list(60_000, ",", fmt.Sprintf(`"s%d_%%d"`, v)) + `]}`
	})
	add("a type reached by 3^40 ways", Avro, func(v int) string { return ways(0, 40, v) })
	add("a long namespace said often", Avro, func(v int) string {
		return `{"type":"record","name":"R","namespace":"` + long[:1000] + `","fields":[` + list(9000, ",", fmt.Sprintf(`{"name":"f%%[1]d","type":{"type":"fixed","name":"F%d_%%[1]d","size":1}}`, v)) + `]}`
	})
	add("patterns over names", JSON, func(v int) string {
		return `{"patternProperties":{` + list(2000, ",", `"(x+x+)+y%d":{}`) + `},"additionalProperties":false,"properties":{` +
			list(3000, ",", fmt.Sprintf(`"%s%d_%%d":{"type":"string"}`, strings.Repeat("x", 40), v)) + `}}`
	})
	add("patterns that repeat much", JSON, func(v int) string {
		return `{"patternProperties":{` + list(300, ",", `"(?:x?y?){900}z%d":{}`) + `},"additionalProperties":false,"properties":{` +
			list(3000, ",", fmt.Sprintf(`"%s%d_%%d":{"type":"string"}`, strings.Repeat("x", 40), v)) + `}}`
	})
	add("a long name in many paths", JSON, func(v int) string {
		return `{"properties":{"` + long + `":{"properties":{` + list(15_000, ",", fmt.Sprintf(`"p%%d":{"maximum":%d}`, 9-v)) + `}}}}`
	})
	add("a long name in many paths", Protobuf, func(v int) string {
		kind := map[int]string{1: "int32", 2: "string"}[v]
		return "message " + long + " { " + list(9_000, " ", "optional "+kind+" f%[1]d = %[1]d;") + " }"
	})
	add("values of enums", JSON, func(v int) string { return `{"enum":[` + list(60_000, ",", fmt.Sprintf(`"%d_%%d"`, v)) + `]}` })
	add("members of anyOf", JSON, func(v int) string {
		return `{"$schema":"https://json-schema.org/draft/2020-12/schema","anyOf":[` + list(3000, ",", fmt.Sprintf(`{"type":"string","minimum":%%d,"maxItems":%d}`, v)) + `]}`
	})
	return all
}

// ways is a record with three fields of the next one, and so on; the last differs.
func ways(n, depth, v int) string {
	if n == depth {
		return fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"f%d","type":"int"}]}`, n, v)
	}
	return fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"a","type":%s},{"name":"b","type":"R%[3]d"},{"name":"c","type":"R%[3]d"}]}`, n, ways(n+1, depth, v), n+1)
}

// A namespace counts with every name in it, so names have a bound.
func TestLongNamespaces(t *testing.T) {
	h := newHarness(t)
	record := `{"type":"record","name":"R","namespace":"` + strings.Repeat("x", 300_000) + `","fields":[]}`
	h.expect(422, "the name of a type is longer than", "POST", "/subjects/s/versions", quoted(Avro, record))
}

// A comparison of two hostile schemas costs what one of them may: two seconds of the processor and 128 MiB.
func TestComparisonBombs(t *testing.T) {
	h := newHarness(t)
	h.opt.RequestTimeout = time.Minute // what bounds the work is looked at, not the clock, which the race detector runs into
	for name, b := range comparisonBombs() {
		subject := strings.ReplaceAll(b[0]+name, " ", "-")
		if status, answer := h.do("POST", "/subjects/"+subject+"/versions", quoted(b[0], b[1])); status != 200 {
			t.Errorf("%s: %d %.200s", name, status, answer)
			continue
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := processorTime(t)
		status, answer := h.do("POST", "/subjects/"+subject+"/versions", quoted(b[0], b[2]))
		took := processorTime(t) - began
		runtime.ReadMemStats(&after)
		if took > bombLimit {
			t.Errorf("%s %s took %v", b[0], name, took)
		}
		if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 128<<20 {
			t.Errorf("%s %s took %d MiB", b[0], name, grown>>20)
		}
		if status != 409 || !json.Valid([]byte(answer)) {
			t.Errorf("%s %s: %d %.300s", b[0], name, status, answer)
		}
	}
}
