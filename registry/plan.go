package registry

import (
	"context"

	"doze/journal"
	"doze/projections"
)

// plan is what a change worked out on a view: what it relies on, and what follows if that still holds. A is the answer.
type plan[A any] interface {
	holds(v view) bool
	decide(tx *journal.Tx[*projections.State]) (*A, error)
}

// maxAttempts bounds how often a change starts over because others changed what it relies on meanwhile.
const maxAttempts = 100

// carryOut makes a change that is heavy to work out. work does that on a view, and gives a plan, or the answer when nothing is
// to change. The decision looks again at what the plan relies on, and all starts over when another has changed it. No answer
// and no error: that was so every time.
func carryOut[A any](ctx context.Context, r *Registry, c cause, work func(view) (plan[A], *A, error)) (*A, error) {
	for range maxAttempts {
		p, known, err := work(view{r.view()})
		if err != nil || known != nil {
			return known, err
		}
		var answer *A
		err = r.update(ctx, c, func(tx *journal.Tx[*projections.State]) error {
			if !p.holds(view{tx.State}) {
				return nil
			}
			var err error
			answer, err = p.decide(tx)
			return err
		})
		if err != nil || answer != nil {
			return answer, err
		}
	}
	return nil, nil
}
