package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"doze/journal"
	"doze/projections"
)

// configAnswer is a config as GET and DELETE give it; PUT gives it with the level under another name.
type configAnswer struct {
	Alias              string    `json:"alias,omitempty"`
	AliasForDeks       string    `json:"aliasForDeks,omitempty"`
	Normalize          *bool     `json:"normalize,omitempty"`
	ValidateFields     *bool     `json:"validateFields,omitempty"`
	ValidateNewSchemas *bool     `json:"validateNewSchemas,omitempty"`
	ValidateRules      *bool     `json:"validateRules,omitempty"`
	Level              string    `json:"compatibilityLevel,omitempty"`
	PutLevel           string    `json:"compatibility,omitempty"`
	Policy             string    `json:"compatibilityPolicy,omitempty"`
	Group              string    `json:"compatibilityGroup,omitempty"`
	DefaultMetadata    *metadata `json:"defaultMetadata,omitempty"`
	OverrideMetadata   *metadata `json:"overrideMetadata,omitempty"`
	DefaultRuleSet     *ruleSet  `json:"defaultRuleSet,omitempty"`
	OverrideRuleSet    *ruleSet  `json:"overrideRuleSet,omitempty"`
}

func answerConfig(c *projections.RegistryConfig) *configAnswer {
	is := func(s uint8) *bool {
		if s == journal.SwitchUnset {
			return nil
		}
		on := isOn(s)
		return &on
	}
	return &configAnswer{
		Alias: c.Alias, AliasForDeks: c.AliasForDeks, Normalize: is(c.Normalize), ValidateFields: is(c.ValidateFields),
		ValidateNewSchemas: is(c.ValidateNewSchemas), ValidateRules: is(c.ValidateRules), Level: c.Compatibility, Policy: c.Policy, Group: c.Group,
		DefaultMetadata: unstored[metadata](c.DefaultMetadata), OverrideMetadata: unstored[metadata](c.OverrideMetadata),
		DefaultRuleSet: unstored[ruleSet](c.DefaultRuleSet), OverrideRuleSet: unstored[ruleSet](c.OverrideRuleSet),
	}
}

// configRequest is what a PUT says: a field that is not there stays, null clears it.
type configRequest map[string]json.RawMessage

// change makes the change that the request asks for. Of several fields that are wrong the first of these is told.
func (q configRequest) change(c *projections.RegistryConfig) error {
	anyText := func(s string) (string, error) { return s, nil }
	anyMetadata := func(*metadata) error { return nil }
	return cmp.Or(
		set(q["alias"], &c.Alias, anyText),
		set(q["aliasForDeks"], &c.AliasForDeks, anyText),
		set(q["compatibilityGroup"], &c.Group, anyText),
		set(q["compatibility"], &c.Compatibility, level),
		set(q["compatibilityPolicy"], &c.Policy, policy),
		setSwitch(q["normalize"], &c.Normalize),
		setSwitch(q["validateFields"], &c.ValidateFields),
		setSwitch(q["validateNewSchemas"], &c.ValidateNewSchemas),
		setSwitch(q["validateRules"], &c.ValidateRules),
		setStored(q["defaultMetadata"], &c.DefaultMetadata, anyMetadata),
		setStored(q["overrideMetadata"], &c.OverrideMetadata, anyMetadata),
		setStored(q["defaultRuleSet"], &c.DefaultRuleSet, (*ruleSet).check),
		setStored(q["overrideRuleSet"], &c.OverrideRuleSet, (*ruleSet).check),
	)
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(raw, []byte("null")) }

func malformed(err error) *Error {
	return &Error{Status: 400, Code: 400, Message: "Malformed request body: " + err.Error()}
}

func set(raw json.RawMessage, field *string, check func(string) (string, error)) (err error) {
	if raw == nil {
		return nil
	}
	var value string
	if err := unmarshal(raw, &value); err != nil {
		return malformed(err)
	}
	if !isNull(raw) {
		if value, err = check(value); err != nil {
			return err
		}
	}
	*field = value
	return nil
}

func setSwitch(raw json.RawMessage, field *uint8) error {
	if raw == nil {
		return nil
	}
	var on *bool
	if err := unmarshal(raw, &on); err != nil {
		return malformed(err)
	}
	switch {
	case on == nil:
		*field = journal.SwitchUnset
	case *on:
		*field = journal.SwitchOn
	default:
		*field = journal.SwitchOff
	}
	return nil
}

func setStored[T any](raw json.RawMessage, field *string, check func(*T) error) error {
	if raw == nil {
		return nil
	}
	var value *T
	if err := unmarshal(raw, &value); err != nil {
		return malformed(err)
	}
	if value != nil {
		if err := check(value); err != nil {
			return err
		}
	}
	*field = stored(value)
	return nil
}

func level(name string) (string, error) {
	if upper := strings.ToUpper(name); slices.Contains(levels, upper) {
		return upper, nil
	}
	return "", fail(42203, "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive")
}

func policy(name string) (string, error) {
	// LOGICAL is in no release yet. What cannot be judged by it is not taken.
	if upper := strings.ToUpper(name); upper == "STRICT" || upper == "LENIENT" {
		return upper, nil
	}
	return "", fail(42203, "Invalid compatibility policy. Valid values are strict and lenient")
}

// putConfig changes the config of the scope and gives it as it is then.
func (r *Registry) putConfig(ctx context.Context, c cause, scope string, q configRequest) (now *configAnswer, err error) {
	err = r.update(ctx, c, func(tx *journal.Tx[*projections.State]) error {
		v := view{tx.State}
		if v.isReadOnly(scope) {
			return inReadOnlyMode(scope)
		}
		changed := projections.RegistryConfig{Scope: scope}
		if old := v.Registry.Config(scope); old != nil {
			changed = *old
		} else if v.Registry.Bytes() > MaxBytes {
			return fail(50001, "The registry holds %d bytes; delete subjects permanently to make room", v.Registry.Bytes())
		}
		if err := q.change(&changed); err != nil {
			return err
		}
		if old := v.Registry.Config(scope); old == nil || *old != changed {
			tx.Emit(&changed)
		}
		now = answerConfig(&changed)
		now.Level, now.PutLevel = "", now.Level
		return nil
	})
	return now, err
}

// deleteConfig takes the scope's own config away and gives what it was.
func (r *Registry) deleteConfig(ctx context.Context, c cause, scope string) (old *configAnswer, err error) {
	err = r.update(ctx, c, func(tx *journal.Tx[*projections.State]) error {
		v := view{tx.State}
		was := v.ownConfig(scope)
		switch {
		case was == nil:
			return subjectNotFound(scope)
		case v.isReadOnly(scope):
			return inReadOnlyMode(scope)
		}
		old = answerConfig(was)
		if v.Registry.Config(scope) != nil {
			tx.Emit(&journal.RegistryConfigDeleted{Scope: scope})
		}
		return nil
	})
	return old, err
}
