package registry

import (
	"slices"
	"strings"
	"unicode"

	"doze/projections"
)

// associationRequest says what the keys and values of a resource are to have. In a batch each part is an operation.
type associationRequest struct {
	Name         string            `json:"resourceName"`
	Namespace    string            `json:"resourceNamespace"`
	ID           *string           `json:"resourceId"`
	Type         string            `json:"resourceType"`
	Associations []associationPart `json:"associations"`
}

// associationPart is what is asked for the keys or the values.
type associationPart struct {
	Op        string         `json:"opType"` // CREATE, UPSERT, DELETE; empty outside of a batch
	Subject   *string        `json:"subject"`
	Of        string         `json:"associationType"`
	Lifecycle string         `json:"lifecycle"`
	Frozen    *bool          `json:"frozen"`
	Schema    *schemaRequest `json:"schema"`
	Normalize bool           `json:"normalize"`
	Cascade   bool           `json:"cascadeLifecycle"`
}

const (
	opCreate = "CREATE"
	opUpsert = "UPSERT"
	opDelete = "DELETE"
)

func (q *associationRequest) id() string {
	if q.ID == nil {
		return ""
	}
	return *q.ID
}

// ownSubject is the subject that a resource owns for its keys or values.
func (q *associationRequest) ownSubject(of string) string {
	return ":." + q.Namespace + ":" + q.Name + "-" + of
}

// copy is a request whose parts may be filled in.
func (q *associationRequest) copy(parts []associationPart) *associationRequest {
	c := *q
	c.Associations = slices.Clone(parts)
	return &c
}

// check refuses what no state could make right, and fills in what is not said.
func (q *associationRequest) check(dryRun bool) error {
	for _, name := range []struct{ property, is string }{{"resourceName", q.Name}, {"resourceNamespace", q.Namespace}} {
		if err := checkName(name.property, name.is); err != nil {
			return err
		}
	}
	switch {
	case !dryRun && q.id() == "":
		return invalidAssociation("resourceId", "it must be there")
	case len(q.id()) > MaxSubject:
		return invalidAssociation("resourceId", "it is longer than %d bytes", MaxSubject)
	case q.Type != "" && q.Type != topicResource:
		return invalidAssociation("resourceType", "'%s' is the only one", topicResource)
	case len(q.Associations) == 0:
		return invalidAssociation("associations", "there must be one")
	}
	q.Type = topicResource
	seen := map[string]bool{}
	for i := range q.Associations {
		part := &q.Associations[i]
		if err := part.check(q); err != nil {
			return err
		}
		if seen[part.Of] {
			return invalidAssociation("associationType", "'%s' is there more than once", part.Of)
		}
		seen[part.Of] = true
	}
	return nil
}

func checkName(property, name string) error {
	if name == "" {
		return invalidAssociation(property, "it must be there")
	}
	if len(name) > maxName {
		return invalidAssociation(property, "it is longer than %d", maxName)
	}
	if i := strings.IndexFunc(name, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '-' }); i >= 0 {
		return invalidAssociation(property, "a character of '%s' is not a letter, a digit, '_' or '-'", name)
	}
	return nil
}

func (p *associationPart) check(q *associationRequest) error {
	if p.Of == "" {
		p.Of = "value"
	}
	switch {
	case p.Op != opCreate && p.Op != opUpsert && p.Op != opDelete:
		return invalidAssociation("opType", "it is one of %s, %s and %s", opCreate, opUpsert, opDelete)
	case p.Of != "key" && p.Of != "value":
		return invalidAssociation("associationType", "it is 'key' or 'value'")
	case p.Lifecycle != "" && p.Lifecycle != lifecycleStrong && p.Lifecycle != lifecycleWeak:
		return invalidAssociation("lifecycle", "it is %s or %s", lifecycleStrong, lifecycleWeak)
	case p.Subject != nil && (*p.Subject == "" || !validSubject(*p.Subject, false)):
		return invalidAssociation("subject", "'%s' is no subject", *p.Subject)
	case p.Op == opDelete:
		return nil
	}
	if p.Op == opCreate {
		return p.checkNew(q)
	}
	return p.checkWeak()
}

func (p *associationPart) checkWeak() error {
	if p.Lifecycle != lifecycleWeak {
		return nil
	}
	if p.Schema != nil {
		return invalidAssociation("lifecycle", "it cannot be %s with a schema", lifecycleWeak)
	}
	if p.Frozen != nil && *p.Frozen {
		return invalidAssociation("frozen", "a %s association cannot be frozen", lifecycleWeak)
	}
	return nil
}

func (p *associationPart) checkNew(q *associationRequest) error {
	if err := p.fill(true); err != nil {
		return err
	}
	if err := p.checkWeak(); err != nil {
		return err
	}
	own := q.ownSubject(p.Of)
	if p.Subject == nil {
		if p.Lifecycle == lifecycleWeak {
			return invalidAssociation("subject", "a %s association needs one", lifecycleWeak)
		}
		p.Subject = &own
	}
	return p.checkSubject(own)
}

// checkSubject holds to who may have the subject that is called after the resource.
func (p *associationPart) checkSubject(own string) error {
	switch {
	case p.Frozen != nil && *p.Frozen && *p.Subject != own:
		return invalidAssociation("subject", "that of a frozen association is '%s'", own)
	case p.Lifecycle == lifecycleWeak && *p.Subject == own:
		return invalidAssociation("subject", "a %s association cannot have '%s'", lifecycleWeak, own)
	}
	return nil
}

// fill sets lifecycle and frozen of an association that is not there yet: with a schema it is strong, and what is strong is frozen.
func (p *associationPart) fill(create bool) error {
	switch {
	case p.Schema != nil && !create:
		return invalidAssociation("schema", "a topic that is there already cannot get one; associations with a schema are made with the topic")
	case p.Schema != nil && p.Lifecycle == lifecycleWeak:
		return invalidAssociation("lifecycle", "it cannot be %s with a schema", lifecycleWeak)
	case p.Schema != nil && p.Frozen != nil && !*p.Frozen:
		return invalidAssociation("frozen", "it cannot be false with a schema")
	case p.Schema != nil:
		p.Lifecycle = lifecycleStrong
	case p.Lifecycle == "":
		p.Lifecycle = lifecycleWeak
	}
	frozen := p.Lifecycle == lifecycleStrong
	if p.Frozen != nil && *p.Frozen != frozen {
		return invalidAssociation("frozen", "that of a %s association cannot be %t", p.Lifecycle, *p.Frozen)
	}
	p.Frozen = &frozen
	return nil
}

// qualify puts the subjects of the parts into the context and what they stand for in their place.
func (v view) qualify(context string, q *associationRequest) error {
	for i := range q.Associations {
		part := &q.Associations[i]
		if part.Subject == nil {
			continue
		}
		subject := *part.Subject
		if !startsWithContext(subject) {
			subject = context + subject
		}
		subject = v.aliased(subject)
		if v.isReadOnly(subject) {
			return inReadOnlyMode(subject)
		}
		part.Subject = &subject
	}
	return nil
}

// aliased is the subject that another stands for, or that subject itself.
func (v view) aliased(subject string) string {
	subject = normalizeSubject(subject)
	c := v.Registry.Config(subject)
	if c == nil || c.Alias == "" {
		return subject
	}
	context, _ := projections.SplitSubject(subject)
	return projections.QualifyReference(context, c.Alias)
}
