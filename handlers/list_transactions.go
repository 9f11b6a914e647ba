package handlers

import (
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/acls"
	"doze/projections"
	"doze/wire"
)

// ListTransactions (key 66), v0-v2 (KIP-664): transactional ids, by filters that must all let them pass.
//
//	v1  those whose transaction began longer ago than a duration (KIP-994)     v2  those whose name matches a pattern (KIP-1152)
//
// A state that is not known is answered as such, and lets nothing pass.
func (b *Broker) listTransactions(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.ListTransactionsRequest)
	resp := respond[*kmsg.ListTransactionsResponse](r)
	filter := txnFilter{req: req, now: b.store.Now(), producers: setOf(req.ProducerIDFilters), states: setOf(req.StateFilters)}
	if req.TransactionalIDPattern != nil && *req.TransactionalIDPattern != "" {
		if filter.pattern, filter.steps = compileBounded(*req.TransactionalIDPattern); filter.pattern == nil {
			resp.ErrorCode = invalidRegularExpression
			return resp, nil
		}
	}
	unknown := setOf(req.StateFilters)
	for _, name := range req.StateFilters {
		if unknown[name] && !slices.Contains(txnStates, name) {
			unknown[name] = false
			resp.UnknownStateFilters = append(resp.UnknownStateFilters, name)
		}
	}
	state, _ := b.view()
	may := b.access(r)
	state.Transactions.Each(func(t *projections.Transaction) bool {
		if filter.passes(t) && may.may(acls.Describe, acls.TransactionalID, t.ID) {
			one := kmsg.NewListTransactionsResponseTransactionState()
			one.TransactionalID, one.ProducerID, one.TransactionState = t.ID, t.ProducerID, t.State.String()
			resp.TransactionStates = append(resp.TransactionStates, one)
		}
		return filter.work <= maxPatternWork
	})
	if filter.work > maxPatternWork {
		resp.ErrorCode, resp.TransactionStates = invalidRegularExpression, nil
	}
	return resp, nil
}

// txnStates are the names that a filter may have. The last two are never seen.
var txnStates = []string{
	"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence",
}

type txnFilter struct {
	req       *kmsg.ListTransactionsRequest
	now       int64
	producers map[int64]bool // empty: all
	states    map[string]bool
	pattern   *regexp.Regexp
	steps     int64 // that a byte takes at most to match
	work      int64 // steps taken
}

func setOf[T comparable](all []T) map[T]bool {
	set := make(map[T]bool, len(all))
	for _, one := range all {
		set[one] = true
	}
	return set
}

func (f *txnFilter) passes(t *projections.Transaction) bool {
	switch {
	case len(f.producers) > 0 && !f.producers[t.ProducerID],
		len(f.states) > 0 && !f.states[t.State.String()],
		f.req.Version >= 1 && f.req.DurationFilterMillis >= 0 && f.now-t.StartAt <= f.req.DurationFilterMillis:
		return false
	}
	if f.pattern == nil {
		return true
	}
	f.work += f.steps * int64(len(t.ID)+1)
	return f.pattern.MatchString(t.ID)
}

// Patterns of clients are held to a length and to a size once compiled: matching takes time in proportion to both.
const (
	maxPattern     = 1_000       // bytes
	maxPatternInst = 2_000       // instructions
	maxPatternWork = 100_000_000 // instructions times bytes, over all names: some seconds
)

// compileBounded compiles a pattern that must match a whole name, and gives its number of instructions; nil when it is none,
// or too large.
func compileBounded(pattern string) (*regexp.Regexp, int64) {
	compiled, steps, _ := compilePattern(pattern)
	return compiled, steps
}

// compilePattern compiles a pattern of RE2 that must match a whole name, with its number of instructions, or says in RE2's words
// what is wrong with it. What compiling takes is bounded by the pattern's length, what matching takes by its instructions.
//
//fuzz:parser class=config FuzzCompilePattern
func compilePattern(pattern string) (compiled *regexp.Regexp, steps int64, wrong string) {
	if len(pattern) > maxPattern {
		return nil, 0, tooLargePattern
	}
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, 0, describePattern(err) // what is no pattern by itself must not become one between the parentheses
	}
	whole := `\A(?:` + pattern + `)\z`
	parsed, err := syntax.Parse(whole, syntax.Perl)
	if err != nil {
		return nil, 0, describePattern(err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(prog.Inst) > maxPatternInst {
		return nil, 0, tooLargePattern
	}
	compiled, err = regexp.Compile(whole)
	if err != nil {
		return nil, 0, describePattern(err)
	}
	return compiled, int64(len(prog.Inst)), ""
}

const tooLargePattern = "expression too large"

func describePattern(err error) string {
	var wrong *syntax.Error
	if errors.As(err, &wrong) {
		return wrong.Code.String()
	}
	return err.Error()
}
