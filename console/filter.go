package console

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"github.com/twmb/franz-go/pkg/kgo"
)

// filter says which records a scan is after: those with a text in key, value or headers, and those for which a CEL expression is
// true. Both are bounded: an expression in its length and in what one evaluation may cost.
type filter struct {
	text    string
	in      string // key, value, header; "" all of them
	program cel.Program
	decode  decoder
	ctx     context.Context // of the request, for schemas that are asked for

	failed    int // evaluations that ended in an error
	firstFail string
}

// Bounds of an expression.
const (
	maxExpression  = 8 << 10
	maxEvalCost    = 200_000
	maxFilterValue = 1 << 20 // bytes of a value that an expression sees decoded
)

// celEnv declares what an expression sees.
// It is made with the first filter: a broker that starts does not pay for it.
var celEnv = sync.OnceValue(func() *cel.Env {
	env, err := cel.NewEnv(
		cel.Variable("key", cel.DynType), cel.Variable("value", cel.DynType), cel.Variable("keyText", cel.StringType), cel.Variable("valueText", cel.StringType),
		cel.Variable("headers", cel.MapType(cel.StringType, cel.StringType)), cel.Variable("partition", cel.IntType), cel.Variable("offset", cel.IntType),
		cel.Variable("timestamp", cel.TimestampType), cel.Variable("timestampMs", cel.IntType), cel.Variable("size", cel.IntType),
		cel.ParserRecursionLimit(40), cel.ParserExpressionSizeLimit(maxExpression),
	)
	if err != nil {
		panic(err) // the declarations are ours
	}
	return env
})

// newFilter compiles what a person typed; nil when he typed nothing.
//
//fuzz:parser class=http FuzzFilter
func newFilter(ctx context.Context, text, in, expression string, d decoder) (*filter, error) {
	if text == "" && strings.TrimSpace(expression) == "" {
		return nil, nil
	}
	d.whole = true
	f := &filter{text: strings.ToLower(text), in: in, decode: d, ctx: ctx}
	if strings.TrimSpace(expression) == "" {
		return f, nil
	}
	if len(expression) > maxExpression {
		return nil, badRequest("The filter has %d bytes: at most %d are taken", len(expression), maxExpression)
	}
	env := celEnv()
	ast, issues := env.Compile(expression)
	if err := issues.Err(); err != nil {
		return nil, problem{Status: 422, Message: "The filter is no CEL expression", Hint: err.Error()}
	}
	if t := ast.OutputType(); t != cel.BoolType && t != cel.DynType {
		return nil, problem{Status: 422, Message: "The filter gives " + t.String() + ", not true or false", Hint: `Such as: value.total > 100 && key.startsWith("eu-")`}
	}
	var err error
	f.program, err = env.Program(ast, cel.CostLimit(maxEvalCost), cel.InterruptCheckFrequency(100))
	if err != nil {
		return nil, badRequest("The filter cannot be evaluated: %v", err)
	}
	return f, nil
}

// matches says whether a record is one of those.
func (f *filter) matches(r *kgo.Record) bool {
	if r.Attrs.IsControl() {
		return false
	}
	var key, value decoded
	if f.program != nil || f.text != "" {
		key, value = f.sides(r)
	}
	if f.text != "" && !f.hasText(r, key, value) {
		return false
	}
	if f.program == nil {
		return true
	}
	out, _, err := f.program.ContextEval(f.ctx, variables(r, key, value))
	if err != nil {
		f.failed++
		if f.firstFail == "" {
			f.firstFail = fmt.Sprintf("partition %d, offset %d: %v", r.Partition, r.Offset, err)
		}
		return false
	}
	yes, ok := out.Value().(bool)
	return ok && yes
}

// variables are what an expression sees of a message.
func variables(r *kgo.Record, key, value decoded) map[string]any {
	return map[string]any{
		"key": asAny(key), "value": asAny(value), "keyText": key.Text, "valueText": value.Text, "headers": headerTexts(r),
		"partition": int64(r.Partition), "offset": r.Offset, "timestamp": r.Timestamp, "timestampMs": r.Timestamp.UnixMilli(), "size": int64(len(r.Key) + len(r.Value)),
	}
}

// sides decodes key and value; what is very large is only looked at as it is.
func (f *filter) sides(r *kgo.Record) (key, value decoded) {
	key = f.decode.keyOf(f.ctx, r)
	if len(r.Value) > maxFilterValue {
		return key, decoded{As: "text", Text: strings.ToValidUTF8(string(r.Value), "\uFFFD")}
	}
	return key, f.decode.valueOf(f.ctx, r)
}

func (f *filter) hasText(r *kgo.Record, key, value decoded) bool {
	has := func(d decoded, raw []byte) bool {
		return strings.Contains(strings.ToLower(d.Text), f.text) || strings.Contains(strings.ToLower(string(raw)), f.text)
	}
	if (f.in == "" || f.in == "key") && has(key, r.Key) || (f.in == "" || f.in == "value") && has(value, r.Value) {
		return true
	}
	if f.in != "" && f.in != "header" {
		return false
	}
	for _, h := range r.Headers {
		if strings.Contains(strings.ToLower(h.Key+"="+string(h.Value)), f.text) {
			return true
		}
	}
	return false
}

// asAny is what an expression sees of a key or a value: JSON as its value, text as text, null as null.
func asAny(d decoded) any {
	if d.Null {
		return nil
	}
	if !d.JSON {
		return d.Text
	}
	dec := json.NewDecoder(strings.NewReader(d.Text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return d.Text
	}
	return exactly(v)
}

// exactly turns numbers into integers where they are, so that none is rounded.
func exactly(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(string(v), 10, 64); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return math.Inf(1)
		}
		return f
	case map[string]any:
		for k, item := range v {
			v[k] = exactly(item)
		}
	case []any:
		for i, item := range v {
			v[i] = exactly(item)
		}
	}
	return v
}

// headerTexts are a record's headers by name; of several of one name the last.
func headerTexts(r *kgo.Record) map[string]string {
	m := make(map[string]string, len(r.Headers))
	for _, h := range r.Headers {
		m[strings.ToValidUTF8(h.Key, "\uFFFD")] = strings.ToValidUTF8(string(h.Value), "\uFFFD")
	}
	return m
}
