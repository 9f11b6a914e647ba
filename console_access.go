package doze

import (
	"strings"

	"doze/configs"
)

// consoleAccess tells the console the two properties of the authorizer that Kafka describes to nobody.
type consoleAccess struct{ properties map[string]string }

// Rules are the super users, and whether a resource that no ACL names is open.
func (a consoleAccess) Rules() (superUsers []string, allowIfNoACL bool) {
	for name := range strings.SplitSeq(a.properties[configs.SuperUsers], ";") {
		if name = strings.TrimSpace(name); name != "" {
			superUsers = append(superUsers, name)
		}
	}
	return superUsers, strings.EqualFold(strings.TrimSpace(a.properties[configs.AllowIfNoACL]), "true")
}
