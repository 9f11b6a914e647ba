package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"doze/projections"
)

// maxShown is how much of a schema a message shows.
const maxShown = 10 * 1024

// candidate is a schema that is to be compared with the versions of a subject.
type candidate struct {
	content
	model model
}

// incompatible says why the candidate may not follow the versions, which are in order; nothing when it may.
func (v view) incompatible(ctx context.Context, config *projections.RegistryConfig, c *candidate, previous []projections.SchemaVersion) ([]string, error) {
	var messages []string
	fields := validatesFields(config)
	if fields {
		messages = v.reservedFields(c, previous)
	}
	if config.Group != "" {
		group := property(c.Metadata, config.Group)
		previous = slices.DeleteFunc(slices.Clone(previous), func(s projections.SchemaVersion) bool {
			return property(unstored[metadata](v.Registry.OfVersion(s).Metadata), config.Group) != group
		})
	}
	found, err := v.againstAll(ctx, config, c, previous)
	if err != nil {
		return nil, err
	}
	if messages = append(messages, found...); len(messages) > 0 {
		messages = append(messages, fmt.Sprintf("{validateFields: '%t', compatibility: '%s'}", fields, config.Compatibility))
	}
	return messages, nil
}

// property of metadata; what is not set differs from what is set to nothing.
func property(m *metadata, name string) string {
	if m == nil {
		return ""
	}
	value, set := m.Properties[name]
	return fmt.Sprint(set, value)
}

// againstAll compares with the newest version, or with all from the newest on when the level is transitive, up to the first that
// does not fit.
func (v view) againstAll(ctx context.Context, config *projections.RegistryConfig, c *candidate, previous []projections.SchemaVersion) ([]string, error) {
	level, transitive := strings.CutSuffix(config.Compatibility, "_TRANSITIVE")
	if level == "NONE" {
		return nil, nil
	}
	for i := len(previous) - 1; i >= 0; i-- {
		messages, err := v.against(ctx, level, config.Policy == "LENIENT", c, previous[i])
		if ctx.Err() != nil {
			return nil, fail(50002, "Operation timed out: comparing with %d versions takes too long", len(previous))
		}
		if err != nil || len(messages) > 0 || !transitive {
			return messages, err
		}
	}
	return nil, nil
}

func (v view) against(ctx context.Context, level string, lenient bool, c *candidate, previous projections.SchemaVersion) ([]string, error) {
	stored := v.Registry.OfVersion(previous)
	if stored.Type != c.Type {
		return []string{"Incompatible because of different schema type"}, nil
	}
	old, err := v.load(previous)
	if err != nil {
		return nil, err
	}
	var messages []string
	advice := ""
	if level == "FORWARD" || level == "FULL" {
		messages, advice = old.refusals(ctx, lenient, c.model, "old", "new")
	}
	if level == "BACKWARD" || level == "FULL" {
		more, help := c.model.refusals(ctx, lenient, old, "new", "old")
		if messages = append(messages, more...); help != "" {
			advice = help
		}
	}
	if len(messages) == 0 {
		return nil, nil
	}
	messages = append(messages, fmt.Sprintf("{oldSchemaVersion: %d}", previous.Version), shownSchema(stored.Text))
	if advice != "" {
		messages = append(messages, "{advice: '"+advice+"'}")
	}
	return messages, nil
}

func shownSchema(text string) string {
	if len(text) <= maxShown {
		return "{oldSchema: '" + text + "'}"
	}
	return "{oldSchema: <truncated> '" + strings.ToValidUTF8(text[:maxShown], "") + "...'}"
}

func validatesFields(c *projections.RegistryConfig) bool { return isOn(c.ValidateFields) }

// reservedFields are names that metadata reserves: they stay reserved, and no field at the top has one.
func (v view) reservedFields(c *candidate, previous []projections.SchemaVersion) (messages []string) {
	names := reserved(c.Metadata)
	if len(previous) > 0 {
		for _, name := range reserved(unstored[metadata](v.Registry.OfVersion(previous[len(previous)-1]).Metadata)) {
			if !slices.Contains(names, name) {
				messages = append(messages, fmt.Sprintf("The new schema has reserved field %s removed from its metadata which is present in the old schema's metadata.", name))
			}
		}
	}
	for _, name := range names {
		if c.model.hasField(name) {
			messages = append(messages, fmt.Sprintf("The new schema has field that conflicts with the reserved field %s.", name))
		}
	}
	return messages
}

func reserved(m *metadata) (names []string) {
	if m == nil {
		return nil
	}
	for name := range strings.SplitSeq(m.Properties["confluent:reserved"], ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
