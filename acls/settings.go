package acls

import (
	"fmt"
	"strings"
)

// StandardAuthorizer is the name of Kafka's authorizer, which is the one that there is.
const StandardAuthorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"

// SuperUsers takes the value of super.users apart: principals with semicolons between them.
//
//fuzz:parser class=config FuzzSuperUsers
func SuperUsers(value string) []string {
	var list []string
	for _, name := range strings.Split(value, ";") {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
	}
	return list
}

// CheckSuperUsers says what is wrong with a value of super.users.
func CheckSuperUsers(value string) error {
	for _, name := range SuperUsers(value) {
		if !strings.Contains(name, ":") {
			return fmt.Errorf("super user %q is not TYPE:NAME; write it as User:%s", name, name)
		}
	}
	return nil
}

// Truth is how Java reads a boolean: anything but "true" is false.
func Truth(value string) bool { return strings.EqualFold(strings.TrimSpace(value), "true") }
