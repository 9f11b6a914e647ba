package registry

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"doze/journal"
	"doze/projections"
)

func formatVersion(v int32) string { return strconv.Itoa(int(v)) }

func compareReferences(a, b journal.SchemaReference) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Subject, b.Subject), cmp.Compare(a.Version, b.Version))
}

func isOn(s uint8) bool { return s == journal.SwitchOn }

func hasDefaults(c *projections.RegistryConfig) bool {
	return c.DefaultMetadata != "" || c.OverrideMetadata != "" || c.DefaultRuleSet != "" || c.OverrideRuleSet != ""
}

// inherit fills metadata and rule set: the config's defaults, over them what was sent or else what the previous version has, over
// that the config's overrides. A version other than 0 is noted in metadata when one was asked for or one is noted already. It
// says whether anything is set.
func (v view) inherit(config *projections.RegistryConfig, s *submitted, previous *content, version int32) bool {
	ownMetadata, ownRules := s.Metadata, s.RuleSet
	if previous != nil {
		if ownMetadata == nil {
			ownMetadata = previous.Metadata
		}
		if ownRules == nil {
			ownRules = previous.RuleSet
		}
	}
	m := mergeMetadata(mergeMetadata(unstored[metadata](config.DefaultMetadata), ownMetadata), unstored[metadata](config.OverrideMetadata))
	r := mergeRuleSets(mergeRuleSets(unstored[ruleSet](config.DefaultRuleSet), ownRules), unstored[ruleSet](config.OverrideRuleSet))
	if version != 0 && (s.version != 0 || m.version() != "") {
		m = m.withVersion(formatVersion(version))
	}
	changed := stored(m) != stored(s.Metadata) || stored(r) != stored(s.RuleSet)
	if m != nil || r != nil {
		s.Metadata, s.RuleSet = m, r
	}
	return changed
}

func mergeMetadata(old, over *metadata) *metadata {
	switch {
	case old == nil:
		return over
	case over == nil:
		return old
	}
	merged := &metadata{Tags: map[string][]string{}, Properties: map[string]string{}, Sensitive: sortSet(slices.Concat(old.Sensitive, over.Sensitive))}
	for _, m := range []*metadata{old, over} {
		maps.Copy(merged.Tags, m.Tags)
		maps.Copy(merged.Properties, m.Properties)
	}
	return merged
}

func mergeRuleSets(old, over *ruleSet) *ruleSet {
	switch {
	case old == nil:
		return over
	case over == nil:
		return old
	}
	return &ruleSet{
		MigrationRules: mergeRules(old.MigrationRules, over.MigrationRules), DomainRules: mergeRules(old.DomainRules, over.DomainRules),
		EncodingRules: mergeRules(old.EncodingRules, over.EncodingRules), EnableAt: cmp.Or(over.EnableAt, old.EnableAt),
	}
}

// mergeRules has the old rules but those of a name that is new, then the new ones.
func mergeRules(old, over []rule) []rule {
	kept := slices.DeleteFunc(slices.Clone(old), func(r rule) bool {
		return slices.ContainsFunc(over, func(o rule) bool { return o.Name == r.Name })
	})
	return append(kept, over...)
}

var (
	migrationModes = []string{"UPGRADE", "DOWNGRADE", "UPDOWN"}
	domainModes    = []string{"WRITE", "READ", "WRITEREAD"}
)

// check says what is wrong with a rule set.
func (s *ruleSet) check() error {
	if s == nil {
		return nil
	}
	names := map[string]bool{}
	for _, list := range []struct {
		kind  string
		rules []rule
		modes []string
	}{{"Migration", s.MigrationRules, migrationModes}, {"Domain", s.DomainRules, domainModes}, {"Encoding", s.EncodingRules, domainModes}} {
		for _, r := range list.rules {
			if names[r.Name] {
				return fail(42210, "Found rule with duplicate name '%s'", r.Name)
			}
			names[r.Name] = true
			if err := r.check(); err != nil {
				return err
			}
			if !slices.Contains(list.modes, r.Mode) {
				return fail(42210, "%s rules can only be %s", list.kind, strings.Join(list.modes, ", "))
			}
		}
	}
	return nil
}

func (r *rule) check() error {
	many := r.Mode != "WRITEREAD" && r.Mode != "UPDOWN" && strings.Contains(r.OnSuccess+r.OnFailure, ",")
	switch {
	case r.Name == "":
		return fail(42210, "Missing rule name")
	case len(r.Name) > 256:
		return fail(42210, "Rule name too long")
	case !ruleName(r.Name):
		return fail(42210, "Illegal character in rule name: %s", r.Name)
	case r.Type == "":
		return fail(42210, "Missing rule type")
	case many:
		return fail(42210, "Multiple actions only valid with WRITEREAD and UPDOWN")
	case r.Kind != "TRANSFORM" && r.Kind != "CONDITION":
		return fail(42210, "Invalid rule kind: %s", r.Kind)
	}
	return nil
}

func ruleName(name string) bool {
	for i, c := range name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c > 127
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return true
}

func (s *ruleSet) hasType(name string) bool {
	is := func(r rule) bool { return r.Type == name }
	return s != nil && (slices.ContainsFunc(s.MigrationRules, is) || slices.ContainsFunc(s.DomainRules, is) || slices.ContainsFunc(s.EncodingRules, is))
}
