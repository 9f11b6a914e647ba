//lint:file-ignore ST1005 clients see these texts, as another registry writes them

package registry

import (
	"fmt"

	"doze/journal"
	"doze/projections"
)

// Bounds of what one schema may refer to, in all.
const (
	maxReferences     = 1000
	maxReferenceDepth = 100
	maxReferenceBytes = 8 << 20
)

// resolved is a schema that another refers to, under the name that the first reference to it gave.
type resolved struct {
	name    string
	subject string // as the reference has it
	version int32
	text    string
	direct  bool // a reference of the schema itself

	place projections.SchemaVersion
}

// resolver follows references. Each is after those that it refers to itself; of a name that is there twice the first counts.
type resolver struct {
	view
	strict bool // new schemas do not see hidden versions
	found  []resolved
	names  map[string]bool
	bytes  int
}

// resolve gives what the references lead to, in a schema of that context, and the references with their versions: -1 is the
// newest one.
func (v view) resolve(context string, refs []journal.SchemaReference, strict bool) ([]resolved, []journal.SchemaReference, error) {
	r := &resolver{view: v, strict: strict, names: map[string]bool{}}
	refs, err := r.follow(context, refs, 0)
	return r.found, refs, err
}

func (r *resolver) follow(context string, refs []journal.SchemaReference, depth int) (fixed []journal.SchemaReference, err error) {
	if depth > maxReferenceDepth || len(refs)+len(r.found) > maxReferences {
		return nil, fmt.Errorf("references are nested deeper than %d, or more than %d in all", maxReferenceDepth, maxReferences)
	}
	for _, ref := range refs {
		subject := projections.QualifyReference(context, ref.Subject)
		place, found := r.get(subject, ref.Version, !r.strict)
		if !found {
			return nil, fmt.Errorf("No schema reference found for subject \"%s\" and version %d", subject, ref.Version)
		}
		ref.Version = place.Version
		fixed = append(fixed, ref)
		if r.names[ref.Name] {
			continue
		}
		r.names[ref.Name] = true
		schema := r.Registry.OfVersion(place)
		if r.bytes += len(schema.Text); r.bytes > maxReferenceBytes {
			return nil, fmt.Errorf("what it refers to has more than %d bytes", maxReferenceBytes)
		}
		own, _ := projections.SplitSubject(subject)
		if _, err := r.follow(own, schema.References, depth+1); err != nil {
			return nil, err
		}
		r.found = append(r.found, resolved{name: ref.Name, subject: ref.Subject, version: ref.Version, text: schema.Text, direct: depth == 0, place: place})
	}
	return fixed, nil
}

// load parses a version that is stored.
func (v view) load(version projections.SchemaVersion) (model, error) {
	s := v.Registry.OfVersion(version)
	refs, _, err := v.resolve(s.Context, s.References, false)
	if err != nil {
		return nil, invalid(s.Type, err)
	}
	return parse(s.Type, s.Text, refs, false)
}
