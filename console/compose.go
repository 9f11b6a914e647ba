package console

import (
	"context"
	"errors"
	"fmt"

	"doze/registry/serde"
)

// latest is the codec of a subject's latest schema.
func (s *schemas) latest(ctx context.Context, subject string) (schemaFound, int, error) {
	of, err := s.client.SchemaByVersion(ctx, subject, -1)
	if err != nil {
		return schemaFound{}, 0, fmt.Errorf("subject %s: %w", subject, err)
	}
	found, err := s.codecOf(ctx, of.Schema, fmt.Sprintf("%s version %d", subject, of.Version))
	return found, of.ID, err
}

// encode writes a value of JSON under the latest schema of a subject, behind the prefix that names the schema.
func (r *request) encode(s side) ([]byte, error) {
	if r.c.schemas == nil {
		return nil, badRequest("The %s: there is no schema registry", s.Name)
	}
	if s.Subject == "" {
		return nil, badRequest("The %s: name the subject whose schema it is under", s.Name)
	}
	found, id, err := r.c.schemas.latest(r.Context(), s.Subject)
	if err != nil {
		return nil, problem{Status: 422, Message: "The schema of the " + s.Name + " is not to be had", Hint: err.Error()}
	}
	payload, err := found.codec.Payload([]byte(s.Text))
	if err != nil {
		return nil, problem{Status: 422, Message: "The " + s.Name + " does not fit " + found.name, Hint: err.Error()}
	}
	return append(serde.Append(nil, serde.Ref{ID: int32(id)}), payload...), nil
}

// exampleOf is a value to begin from under a subject's latest schema.
func (r *request) exampleOf(subject string) (string, error) {
	if r.c.schemas == nil {
		return "", errors.New("there is no schema registry")
	}
	found, _, err := r.c.schemas.latest(r.Context(), subject)
	if err != nil {
		return "", problem{Status: 422, Message: "There is no schema to make an example of", Hint: err.Error()}
	}
	b, err := serde.Example(r.Context(), found.text)
	return indented(b), err
}
