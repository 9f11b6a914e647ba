package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"doze/journal"
	"doze/projections"
)

// Store is where the state is and changes: a journal.Store.
type Store interface {
	View() (*projections.State, uint64)
	Update(ctx context.Context, cause journal.Cause, decide func(*journal.Tx[*projections.State])) error
}

// Options are what a registry needs.
type Options struct {
	Store Store
	// RequestTimeout bounds a request. Default 10 s.
	RequestTimeout time.Duration
	// Authenticate names the principal of a request; false refuses it. nil: everybody is User:ANONYMOUS.
	Authenticate func(*http.Request) (principal string, ok bool)
	// Report gets errors that are not the client's.
	Report func(error)
}

// Bounds of what is stored. What is more is refused; what is in the journal is never refused when it is read.
const (
	MaxVersions     = 1_000_000
	MaxBytes        = 1 << 30
	MaxSubject      = 4096 // bytes
	MaxAssociations = 100_000
)

// Registry answers the registry's HTTP interface: see ServeHTTP.
type Registry struct {
	opt   Options
	known answers
}

// New makes a registry over the store.
func New(opt Options) *Registry {
	if opt.RequestTimeout <= 0 {
		opt.RequestTimeout = 10 * time.Second
	}
	if opt.Report == nil {
		opt.Report = func(error) {}
	}
	return &Registry{opt: opt}
}

func (r *Registry) view() *projections.State {
	state, _ := r.opt.Store.View()
	return state
}

// cause is who asks for a change.
type cause struct {
	name      string // "registry POST /subjects/{subject}/versions"
	client    string
	principal string
}

func (c cause) journal() journal.Cause {
	j := journal.Timed(c.name)
	j.ClientID, j.Principal = c.client, c.principal
	return j
}

// update decides in the store's loop. An error of the decision means that nothing happened, whatever it had emitted.
func (r *Registry) update(ctx context.Context, c cause, decide func(tx *journal.Tx[*projections.State]) error) error {
	var refused error
	err := r.opt.Store.Update(ctx, c.journal(), func(tx *journal.Tx[*projections.State]) {
		if refused = decide(tx); refused != nil {
			tx.Drop()
		}
	})
	if errors.Is(err, journal.ErrDropped) {
		return refused
	}
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			return fail(50002, "Operation timed out")
		}
		r.opt.Report(fmt.Errorf("%s: %w", c.name, err))
		return fail(50001, "Error in the backend data store: %v", err)
	}
	return nil
}
