package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"doze"
)

// allMechanisms are those of users.
const (
	allMechanisms  = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"
	mechanismOAuth = "OAUTHBEARER"
)

// logins fills what says how clients log in. Listeners that were given by address ask for it when mechanisms or users are
// given; those of the property listeners say themselves what they are. No error repeats a password.
func (g gathered) logins(o *doze.Options) error {
	users, err := g.users()
	if err != nil {
		return err
	}
	o.Users = users
	mechanisms := g.text("sasl-mechanisms")
	byProperty := g.properties["listeners"].values != nil
	oauth, err := g.oauth(o)
	if err != nil {
		return err
	}
	if mechanisms == "" && !byProperty && g.properties["sasl.enabled.mechanisms"].values == nil {
		mechanisms = impliedMechanisms(len(users) > 0, oauth)
	}
	if enabled := cmp.Or(mechanisms, o.Properties["sasl.enabled.mechanisms"]); oauth && enabled != "" && !strings.Contains(enabled, mechanismOAuth) {
		return fmt.Errorf("tokens of %s are let in, which is not among the mechanisms %s; add it", mechanismOAuth, enabled)
	}
	if mechanisms == "" {
		return nil
	}
	o.Properties["sasl.enabled.mechanisms"] = mechanisms
	if byProperty {
		return nil
	}
	if len(o.Listeners) == 0 {
		o.Listeners = []doze.Listener{{Address: doze.DefaultAddress}}
	}
	for i := range o.Listeners {
		if o.Listeners[i].Protocol == "" && !strings.HasPrefix(o.Listeners[i].Address, "unix:") {
			o.Listeners[i].Protocol = "SASL_PLAINTEXT"
			if o.TLS.CertFile != "" {
				o.Listeners[i].Protocol = "SASL_SSL"
			}
		}
	}
	return nil
}

// impliedMechanisms are what it takes to let in who was named.
func impliedMechanisms(users, oauth bool) string {
	switch {
	case users && oauth:
		return allMechanisms + "," + mechanismOAuth
	case users:
		return allMechanisms
	case oauth:
		return mechanismOAuth
	}
	return ""
}

// oauth says whether a flag tells how tokens of OAUTHBEARER are checked.
func (g gathered) oauth(o *doze.Options) (given bool, err error) {
	const property = "sasl.oauthbearer.jwks.endpoint.url"
	keys := g.text("oauth-jwks")
	if o.OAuthUnsecured = g.on("oauth-unsecured"); keys == "" {
		return o.OAuthUnsecured, nil
	}
	if other := g.properties[property]; other.values != nil && other.value() != keys {
		return false, fmt.Errorf("%s and %s set the same (%s), to two values; keep one", g.own["oauth-jwks"].from, other.from, property)
	}
	o.Properties[property] = keys
	return true, nil
}

// users are those of the file, then those of flags.
func (g gathered) users() (map[string]string, error) {
	users := map[string]string{}
	if name := g.text("user-file"); name != "" {
		text, err := readBounded(name)
		if err != nil {
			return nil, fmt.Errorf("read users: %w; name a file that can be read", err)
		}
		if err := addUsers(users, name, strings.Split(string(text), "\n")); err != nil {
			return nil, err
		}
	}
	given := g.own["user"]
	for _, line := range given.values {
		if err := addUser(users, line); err != nil {
			return nil, fmt.Errorf("%s: %w", given.from, err)
		}
	}
	return users, nil
}

// addUsers reads lines of NAME:PASSWORD; empty ones and those that begin with # are skipped, as is the mark that some editors
// put before a text in UTF-8. A name that stands twice is refused: of two passwords one would be thought gone.
func addUsers(users map[string]string, file string, lines []string) error {
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		if i == 0 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if said := strings.TrimSpace(line); said == "" || strings.HasPrefix(said, "#") {
			continue
		}
		known := len(users)
		err := addUser(users, line)
		if err == nil && len(users) == known {
			err = errors.New("the user of this line stands in the file twice; keep one of the lines")
		}
		if err != nil {
			return fmt.Errorf("%s line %d: %w", file, i+1, err)
		}
	}
	return nil
}

// addUser takes everything behind the first colon for the password.
func addUser(users map[string]string, text string) error {
	name, password, ok := strings.Cut(text, ":")
	if !ok || name == "" || password == "" || strings.Contains(text, "\x00") {
		return errors.New("a user is written as NAME:PASSWORD")
	}
	users[name] = password
	return nil
}
