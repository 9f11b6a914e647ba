package inside

import (
	"slices"
	"strings"
)

// Hidden stands for a value that is not shown, whether there is one or not.
const Hidden = "(hidden)"

// secretWords are parts of the names of configs whose values may let people in.
var secretWords = []string{"password", "passphrase", "secret", "jaas", "credential", "token", "private", "keystore.key", "certificate"}

// SecretConfig says whether a config's value is not shown, by its name: also one that Kafka does not know, for it may be a slip
// of the pen. All that show a console what was asked and what happened go by it.
func SecretConfig(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}
