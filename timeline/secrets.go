package timeline

import (
	"slices"
	"strings"

	"doze/journal"
	"doze/projections"
)

// hidden stands for a value that is not shown.
const hidden = "(hidden)"

// secretWords are parts of the names of configs whose values may let people in. Credentials are in no journal; a config may
// have been set under a name that only looks like one.
var secretWords = []string{"password", "passphrase", "secret", "jaas", "credential", "token", "private", "keystore.key", "certificate"}

func secretConfig(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

func configValue(name, value string) string {
	if secretConfig(name) {
		return hidden
	}
	return value
}

// withoutSecrets is the event with those values hidden.
func withoutSecrets(event journal.Event) journal.Event {
	altered, ok := event.(*journal.ConfigsAltered)
	if !ok || !slices.ContainsFunc(altered.Set, func(p journal.ConfigPair) bool { return secretConfig(p.Name) }) {
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
	if !secretConfig(name) {
		return fields
	}
	out := slices.Clone(fields)
	for i := range out {
		if out[i].Name == "value" {
			out[i].Value = hidden
		}
	}
	return out
}
