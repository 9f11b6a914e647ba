package registry

import (
	"context"
	"strconv"

	"doze/journal"
	"doze/projections"
)

// deleteSubject hides the subject's versions, or takes hidden ones away for good; it gives their numbers.
func (r *Registry) deleteSubject(ctx context.Context, c cause, subject string, permanent bool) (versions []int32, err error) {
	err = r.update(ctx, c, func(tx *journal.Tx[*projections.State]) error {
		versions, err = decideDeleteSubject(view{tx.State}, subject, permanent)
		return emitDeleted(tx, subject, versions, permanent, err)
	})
	return versions, err
}

func decideDeleteSubject(v view, subject string, permanent bool) (versions []int32, err error) {
	switch {
	case !v.has(subject, true):
		return nil, subjectNotFound(subject)
	case !permanent && !v.has(subject, false):
		return nil, fail(40404, "Subject '%s' was soft deleted.Set permanent=true to delete permanently", subject)
	case v.isReadOnly(subject):
		return nil, inReadOnlyMode(subject)
	case len(v.associationsWith(subject)) > 0:
		return nil, subjectAssociated(subject)
	}
	versions = []int32{}
	for _, version := range v.versions(subject) {
		if !permanent && version.Deleted {
			continue
		}
		if v.referredFromElsewhere(subject, version.Version, permanent) {
			return nil, referenceExists(subject, version.Version)
		}
		if permanent && !version.Deleted {
			return nil, fail(40405, "Subject '%s' was not deleted first before being permanently deleted", subject)
		}
		versions = append(versions, version.Version)
	}
	return versions, nil
}

// referredFromElsewhere says whether a version of another subject refers to the version; hidden ones count when deleted.
func (v view) referredFromElsewhere(subject string, version int32, deleted bool) (found bool) {
	for _, id := range v.referrers(subject, version, deleted) {
		v.Registry.UsesOf(id.Context, id.ID, func(s projections.SchemaVersion) bool {
			found = s.Subject != subject && (deleted || !s.Deleted)
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// emitDeleted emits what a deletion decided. Config and mode of a subject go with its last version.
func emitDeleted(tx *journal.Tx[*projections.State], subject string, versions []int32, permanent bool, err error) error {
	if err != nil || len(versions) == 0 {
		return err
	}
	tx.Emit(&journal.SchemaVersionsDeleted{Subject: subject, Versions: versions, Permanent: permanent})
	v := view{tx.State}
	if !permanent || len(v.versions(subject)) > 0 {
		return nil
	}
	if v.Registry.Mode(subject) != "" {
		tx.Emit(&journal.RegistryModeDeleted{Scope: subject})
	}
	if v.Registry.Config(subject) != nil {
		tx.Emit(&journal.RegistryConfigDeleted{Scope: subject})
	}
	return nil
}

// deleteVersion hides a version, or takes a hidden one away for good; it gives the version's number.
func (r *Registry) deleteVersion(ctx context.Context, c cause, subject string, version int32, permanent bool) (deleted int32, err error) {
	err = r.update(ctx, c, func(tx *journal.Tx[*projections.State]) error {
		deleted, err = decideDeleteVersion(view{tx.State}, subject, version, permanent)
		return emitDeleted(tx, subject, []int32{deleted}, permanent, err)
	})
	return deleted, err
}

func decideDeleteVersion(v view, subject string, version int32, permanent bool) (int32, error) {
	found, ok := v.get(subject, version, true)
	name := strconv.Itoa(int(found.Version))
	switch {
	case !ok && !v.has(subject, true):
		return 0, subjectNotFound(subject)
	case !ok:
		return 0, versionNotFound(version)
	case !permanent && found.Deleted:
		return 0, fail(40406, "Subject '%s' Version %s was soft deleted.Set permanent=true to delete permanently", subject, name)
	case v.isReadOnly(subject):
		return 0, inReadOnlyMode(subject)
	case !permanent && v.lastOfAssociation(subject, found.Version):
		return 0, noLiveVersion(subject)
	case len(v.referrers(subject, found.Version, permanent)) > 0:
		return 0, referenceExists(subject, found.Version)
	case permanent && !found.Deleted:
		return 0, fail(40407, "Subject '%s' Version %s was not deleted first before being permanently deleted", subject, name)
	}
	return found.Version, nil
}

// deleteContext takes a context without subjects off the list.
func (r *Registry) deleteContext(ctx context.Context, c cause, context string) error {
	return r.update(ctx, c, func(tx *journal.Tx[*projections.State]) error {
		v := view{tx.State}
		if v.has(context, true) {
			return fail(42211, "The specified context '%s' is not empty.", context)
		}
		name, _ := projections.SplitSubject(context)
		if known, found := v.Registry.Context(name); found && known.Listed && name != projections.DefaultContext {
			tx.Emit(&journal.RegistryContextDeleted{Context: name})
		}
		return nil
	})
}
