package doze

import (
	"fmt"
	"slices"
	"strings"

	"doze/acls"
	"doze/configs"
)

// fillAuthorizer settles who may do what: by ACLs when an authorizer is asked for, or when clients log in and nobody said
// otherwise. A resource without ACLs is open to everybody unless allow.everyone.if.no.acl.found is false, as Kafka has it.
func (o *Options) fillAuthorizer() error {
	class, said := o.Properties[configs.AuthorizerClass]
	if class = strings.TrimSpace(class); !said && o.logins() {
		class = acls.StandardAuthorizer
	}
	switch class {
	case "":
		return nil
	case acls.StandardAuthorizer:
	default:
		return fmt.Errorf("property %s is %s; the one authorizer that there is is %s: name it, or leave the property out", configs.AuthorizerClass, class, acls.StandardAuthorizer)
	}
	if err := acls.CheckSuperUsers(o.Properties[configs.SuperUsers]); err != nil {
		return fmt.Errorf("property %s: %w", configs.SuperUsers, err)
	}
	if o.Properties == nil {
		o.Properties = map[string]string{}
	}
	o.Properties[configs.AuthorizerClass] = class
	if _, set := o.Properties[configs.AllowIfNoACL]; !set {
		o.Properties[configs.AllowIfNoACL] = "true"
	}
	return nil
}

// logins says whether clients of some listener are asked who they are.
func (o *Options) logins() bool { return slices.ContainsFunc(o.Listeners, o.asksForLogin) }
