package handlers

import (
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

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
	filter := txnFilter{req: req, now: b.clock.NowMillis()}
	if req.TransactionalIDPattern != nil && *req.TransactionalIDPattern != "" {
		if filter.pattern = compileBounded(*req.TransactionalIDPattern); filter.pattern == nil {
			resp.ErrorCode = invalidRegularExpression
			return resp, nil
		}
	}
	for _, name := range req.StateFilters {
		if !slices.Contains(txnStates, name) && !slices.Contains(resp.UnknownStateFilters, name) {
			resp.UnknownStateFilters = append(resp.UnknownStateFilters, name)
		}
	}
	state, _ := b.view()
	state.Transactions.Each(func(t *projections.Transaction) bool {
		if filter.passes(t) {
			one := kmsg.NewListTransactionsResponseTransactionState()
			one.TransactionalID, one.ProducerID, one.TransactionState = t.ID, t.ProducerID, t.State.String()
			resp.TransactionStates = append(resp.TransactionStates, one)
		}
		return true
	})
	return resp, nil
}

// txnStates are the names that a filter may have. The last two are never seen.
var txnStates = []string{
	"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence",
}

type txnFilter struct {
	req     *kmsg.ListTransactionsRequest
	now     int64
	pattern *regexp.Regexp
}

func (f *txnFilter) passes(t *projections.Transaction) bool {
	switch {
	case len(f.req.ProducerIDFilters) > 0 && !slices.Contains(f.req.ProducerIDFilters, t.ProducerID),
		len(f.req.StateFilters) > 0 && !slices.Contains(f.req.StateFilters, t.State.String()),
		f.req.Version >= 1 && f.req.DurationFilterMillis >= 0 && f.now-t.StartAt <= f.req.DurationFilterMillis:
		return false
	}
	return f.pattern == nil || f.pattern.MatchString(t.ID)
}

// Patterns of clients are held to a length and to a size once compiled: matching takes time in proportion to both.
const (
	maxPattern     = 1_000 // bytes
	maxPatternInst = 2_000 // instructions
)

// compileBounded compiles a pattern that must match a whole name; nil when it is none, or too large.
func compileBounded(pattern string) *regexp.Regexp {
	compiled, _ := compilePattern(pattern)
	return compiled
}

// compilePattern compiles a pattern of RE2 that must match a whole name, or says in RE2's words what is wrong with it. What
// compiling takes is bounded by the pattern's length, what matching takes by its instructions.
//
//fuzz:parser class=config FuzzCompilePattern
func compilePattern(pattern string) (compiled *regexp.Regexp, wrong string) {
	if len(pattern) > maxPattern {
		return nil, tooLargePattern
	}
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, describePattern(err) // what is no pattern by itself must not become one between the parentheses
	}
	whole := `\A(?:` + pattern + `)\z`
	parsed, err := syntax.Parse(whole, syntax.Perl)
	if err != nil {
		return nil, describePattern(err)
	}
	if prog, err := syntax.Compile(parsed.Simplify()); err != nil || len(prog.Inst) > maxPatternInst {
		return nil, tooLargePattern
	}
	compiled, err = regexp.Compile(whole)
	if err != nil {
		return nil, describePattern(err)
	}
	return compiled, ""
}

const tooLargePattern = "expression too large"

func describePattern(err error) string {
	var wrong *syntax.Error
	if errors.As(err, &wrong) {
		return wrong.Code.String()
	}
	return err.Error()
}
