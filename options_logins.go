package doze

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"doze/configs"
	"doze/sasl"
)

// Protocols of listeners.
const (
	protocolPlain   = "PLAINTEXT"
	protocolSSL     = "SSL"
	protocolSASL    = "SASL_PLAINTEXT"
	protocolSASLSSL = "SASL_SSL"
)

var protocols = []string{protocolPlain, protocolSSL, protocolSASL, protocolSASLSSL}

// protocolOf is what a listener speaks: what it says itself, else what the map of names says, else what its name is, else
// TLS when there is a certificate.
func (o Options) protocolOf(l Listener) string {
	if l.Protocol != "" {
		return l.Protocol
	}
	if mapped, said := mappedProtocol(o.Properties[protocolMap], l.Name); said {
		return mapped
	}
	switch {
	case slices.Contains(protocols, l.Name):
		return l.Name
	case o.TLS.CertFile != "" && !strings.HasPrefix(l.Address, unixPrefix):
		return protocolSSL
	}
	return protocolPlain
}

const protocolMap = "listener.security.protocol.map"

// mappedProtocol is what the map of names says of a listener's: of a name that is there twice the last counts, as in Kafka.
func mappedProtocol(pairs, name string) (protocol string, said bool) {
	for _, pair := range configs.Entries(pairs) {
		colon := strings.LastIndexByte(pair, ':')
		if colon >= 0 && strings.EqualFold(strings.TrimSpace(pair[:colon]), name) {
			protocol, said = strings.ToUpper(strings.TrimSpace(pair[colon+1:])), true
		}
	}
	return protocol, said
}

// asksForLogin says whether clients of the listener log in.
func (o Options) asksForLogin(l Listener) bool { return strings.HasPrefix(o.protocolOf(l), "SASL_") }

// ownPrefix begins the properties that are set for a listener alone.
func ownPrefix(l Listener) string { return "listener.name." + strings.ToLower(l.Name) + "." }

// ofListener is a property as it holds for a listener: its own before the one of all.
func (o Options) ofListener(l Listener, name string) string {
	if v, own := o.Properties[ownPrefix(l)+name]; own {
		return v
	}
	return o.Properties[name]
}

// ofMechanism is a property as it holds for a mechanism of a listener.
func (o Options) ofMechanism(l Listener, mechanism, name string) string {
	if v := o.ofListener(l, strings.ToLower(mechanism)+"."+name); v != "" {
		return v
	}
	return o.ofListener(l, name)
}

// mechanismsOf are the names of the mechanisms of a listener that asks for a login.
func (o Options) mechanismsOf(l Listener) []string {
	return configs.Entries(o.ofListener(l, "sasl.enabled.mechanisms"))
}

// mechanisms that doze has.
var mechanismNames = []string{"PLAIN", sasl.SHA256.Mechanism(), sasl.SHA512.Mechanism(), mechanismOAuth}

// checkLogins says what is wrong with users, mechanisms and the users that properties name.
func (o Options) checkLogins() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(o.Users)) {
		if name == "" || o.Users[name] == "" {
			errs = append(errs, errors.New("a user has no name or no password; write it as NAME:PASSWORD"))
		}
	}
	for _, l := range o.Listeners {
		if o.asksForLogin(l) {
			errs = append(errs, o.checkLogin(l))
		}
	}
	return errors.Join(errs...)
}

func (o Options) checkLogin(l Listener) error {
	mechanisms := o.mechanismsOf(l)
	if len(mechanisms) == 0 {
		return fmt.Errorf("listener %s asks for a login, by no mechanism; name some, as --sasl-mechanisms PLAIN", l.Name)
	}
	for _, m := range mechanisms {
		if !slices.Contains(mechanismNames, m) {
			return fmt.Errorf("listener %s: mechanism %s is not one of %s; name one of these", l.Name, m, strings.Join(mechanismNames, ", "))
		}
		if _, err := o.maxReauth(l, m); err != nil {
			return err
		}
		if m == mechanismOAuth {
			if _, err := o.oauthSigned(l); err != nil {
				return err
			}
		}
	}
	_, err := o.plainUsers(l)
	return err
}

// plainUsers are who logs in by PLAIN: Users, and those of the listener's JAAS text.
func (o Options) plainUsers(l Listener) (map[string]string, error) {
	users := maps.Clone(o.Users)
	if users == nil {
		users = map[string]string{}
	}
	named, err := sasl.ParseJAAS(o.ofMechanism(l, "PLAIN", "sasl.jaas.config"))
	if err != nil {
		return nil, fmt.Errorf("listener %s: property plain.sasl.jaas.config: %w", l.Name, err)
	}
	for option, value := range named {
		if name, isUser := strings.CutPrefix(option, "user_"); isUser {
			users[name] = value
		}
	}
	return users, nil
}

// maxReauth is how long a session by a mechanism lasts; 0: for ever.
func (o Options) maxReauth(l Listener, mechanism string) (time.Duration, error) {
	text := o.ofMechanism(l, mechanism, "connections.max.reauth.ms")
	if text == "" {
		return 0, nil
	}
	ms, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || ms > int64(1<<62/time.Millisecond) {
		return 0, fmt.Errorf("listener %s: connections.max.reauth.ms is %q; give it a number of milliseconds", l.Name, text)
	}
	return max(0, time.Duration(ms)*time.Millisecond), nil
}
