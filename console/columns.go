package console

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Bounds of a person's own columns.
const (
	maxColumns    = 6
	maxColumnCost = 20_000
	maxColumnTime = time.Second // of all that a page evaluates
)

// ownColumns are columns of the list of messages that a person asks for: CEL expressions over a message. nil: none.
type ownColumns struct {
	titles   []string
	programs []cel.Program
	sight    *filter // decodes what expressions see
	until    time.Time
}

// newColumns compiles expressions between semicolons.
//
//fuzz:parser class=http FuzzFilter
func newColumns(ctx context.Context, text string, d decoder) (*ownColumns, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	d.whole = true
	o := &ownColumns{sight: &filter{decode: d, ctx: ctx}, until: time.Now().Add(maxColumnTime)}
	for expression := range strings.SplitSeq(clip(text, maxText), ";") {
		expression = strings.TrimSpace(expression)
		if expression == "" {
			continue
		}
		if len(o.titles) == maxColumns {
			return nil, problem{Status: 422, Message: fmt.Sprintf("More than %d columns are asked for", maxColumns), Hint: "Leave some out."}
		}
		env := celEnv()
		ast, issues := env.Compile(expression)
		if err := issues.Err(); err != nil {
			return nil, problem{Status: 422, Message: fmt.Sprintf("The column %s is no CEL expression", clip(expression, 60)), Hint: err.Error() + "\nSuch as: headers[\"region\"]; value.total"}
		}
		program, err := env.Program(ast, cel.CostLimit(maxColumnCost), cel.InterruptCheckFrequency(100))
		if err != nil {
			return nil, badRequest("The column %s cannot be evaluated: %v", clip(expression, 60), err)
		}
		o.titles, o.programs = append(o.titles, expression), append(o.programs, program)
	}
	return o, nil
}

// ownCell is what an expression gives for a message, or why it gives nothing.
type ownCell struct{ Text, Why string }

func (o *ownColumns) cells(r *kgo.Record) []ownCell {
	if o == nil {
		return nil
	}
	cells := make([]ownCell, len(o.programs))
	if r.Attrs.IsControl() {
		return cells
	}
	key, value := o.sight.sides(r)
	sees := variables(r, key, value)
	for i, program := range o.programs {
		if time.Now().After(o.until) {
			cells[i].Why = "not evaluated: the columns of this page took too long"
			continue
		}
		if out, _, err := program.ContextEval(o.sight.ctx, sees); err != nil {
			cells[i].Why = clip(err.Error(), 300)
		} else {
			cells[i].Text = clip(celText(out), 300)
		}
	}
	return cells
}

// celText is a value in words. What comes from a message is JSON again, numbers with all their digits.
func celText(v ref.Val) string {
	switch is := v.Value().(type) {
	case map[string]any, []any:
		if b, err := json.Marshal(is); err == nil {
			return string(b)
		}
	}
	if s, ok := v.ConvertToType(types.StringType).Value().(string); ok {
		return s
	}
	return fmt.Sprint(v.Value())
}
