package registry

import (
	"context"
	"slices"
	"strings"

	"doze/journal"
	"doze/projections"
)

type modeAnswer struct {
	Mode *string `json:"mode"`
}

func answerMode(mode string) *modeAnswer {
	if mode == "" {
		return &modeAnswer{}
	}
	return &modeAnswer{&mode}
}

// putMode sets the mode of the scope; none takes its own away. IMPORT needs a scope without schemas, or force.
func (r *Registry) putMode(ctx context.Context, c cause, scope string, mode *string, force bool) error {
	name := ""
	if mode != nil {
		name = strings.ToUpper(*mode)
		if !slices.Contains(modes, name) {
			return fail(42204, "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.")
		}
	}
	if name == modeForward && scope != globalScope {
		return fail(42204, "Forward mode only supported on global level")
	}
	return r.update(ctx, c, func(tx *journal.Tx[*projections.State]) error {
		v := view{tx.State}
		if name == modeImport && v.modeInScope(scope) != modeImport && !force {
			if err := clearForImport(tx, v, scope); err != nil {
				return err
			}
		}
		switch was := v.Registry.Mode(scope); {
		case name == "" && was != "":
			tx.Emit(&journal.RegistryModeDeleted{Scope: scope})
		case name != was:
			tx.Emit(&journal.RegistryModeSet{Scope: scope, Mode: name})
		}
		return nil
	})
}

// clearForImport takes hidden versions of the scope away for good; there must be none that are not hidden.
func clearForImport(tx *journal.Tx[*projections.State], v view, scope string) error {
	var hidden []*journal.SchemaVersionsDeleted
	var refused error
	v.eachInScope(scope, scope == "", func(s projections.SchemaVersion) bool {
		switch {
		case !s.Deleted:
			refused = notPermitted("Cannot import since found existing subjects")
		case len(v.referrers(s.Subject, s.Version, true)) > 0:
			refused = referenceExists(s.Subject, s.Version)
		}
		if last := len(hidden) - 1; last >= 0 && hidden[last].Subject == s.Subject {
			hidden[last].Versions = append(hidden[last].Versions, s.Version)
		} else {
			hidden = append(hidden, &journal.SchemaVersionsDeleted{Subject: s.Subject, Versions: []int32{s.Version}, Permanent: true})
		}
		return refused == nil
	})
	if refused != nil {
		return refused
	}
	for _, e := range hidden {
		tx.Emit(e)
	}
	return nil
}

// deleteMode takes the scope's own mode away, with recursive those of the subjects of a context too, and gives what it was.
func (r *Registry) deleteMode(ctx context.Context, c cause, scope string, recursive bool) (old *modeAnswer, err error) {
	err = r.update(ctx, c, func(tx *journal.Tx[*projections.State]) error {
		v := view{tx.State}
		was := v.ownMode(scope)
		if was == "" && !recursive {
			return subjectNotFound(scope)
		}
		old = answerMode(was)
		if v.Registry.Mode(scope) != "" {
			tx.Emit(&journal.RegistryModeDeleted{Scope: scope})
		}
		context, name := projections.SplitSubject(scope)
		if !recursive || name != "" {
			return nil
		}
		var inside []string
		v.Registry.Modes("", func(m projections.RegistryMode) bool {
			if own, name := projections.SplitSubject(m.Scope); own == context && name != "" {
				inside = append(inside, m.Scope)
			}
			return true
		})
		for _, subject := range inside {
			tx.Emit(&journal.RegistryModeDeleted{Scope: subject})
		}
		return nil
	})
	return old, err
}
