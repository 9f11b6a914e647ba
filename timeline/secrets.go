package timeline

import (
	"slices"

	"doze/console/inside"
	"doze/journal"
	"doze/projections"
)

// configValue is what is shown of a config. Credentials are in no journal; one may have been set under a name that only looks
// like a config's.
func configValue(name, value string) string {
	if inside.SecretConfig(name) {
		return inside.Hidden
	}
	return value
}

// withoutSecrets is the event with those values hidden.
func withoutSecrets(event journal.Event) journal.Event {
	altered, ok := event.(*journal.ConfigsAltered)
	if !ok || !slices.ContainsFunc(altered.Set, func(p journal.ConfigPair) bool { return inside.SecretConfig(p.Name) }) {
		return event
	}
	shown := *altered
	shown.Set = slices.Clone(altered.Set)
	for i := range shown.Set {
		shown.Set[i].Value = configValue(shown.Set[i].Name, shown.Set[i].Value)
	}
	return &shown
}

// withoutSecretValue is a row of a config with such a value hidden.
func withoutSecretValue(fields []projections.Field) []projections.Field {
	name, _ := fieldOf(fields, "config").(string)
	if !inside.SecretConfig(name) {
		return fields
	}
	out := slices.Clone(fields)
	for i := range out {
		if out[i].Name == "value" {
			out[i].Value = inside.Hidden
		}
	}
	return out
}
