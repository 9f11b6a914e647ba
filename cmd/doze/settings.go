package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"doze/acls"
	"doze/configs"
)

// setting is one flag of doze serve, which is also a key of doze.toml and, in capitals, a DOZE_ variable.
type setting struct {
	name string
	list bool     // may come several times
	only []string // what it may be; nil: it is looked at where it is used
	// property is Kafka's name of the same setting; convert turns the flag's notation into the property's.
	property string
	convert  func(string) (string, error)
	join     func([]string) (string, error) // makes one value of a list's; nil: the last counts
}

// Values of settings that have few.
var (
	onOff   = []string{"true", "false"}
	syncs   = []string{"durable", "always"}
	formats = []string{"text", "json"}
)

// settings are in the order of --help.
var settings = []setting{
	{name: "listen", list: true},
	{name: "advertise", list: true},
	{name: "name"},
	{name: "data-dir"},
	{name: "ephemeral", only: onOff},
	{name: "kafka-version"},
	{name: "default-partitions", property: "num.partitions"},
	{name: "auto-create-topics", property: "auto.create.topics.enable"},
	{name: "message-max-bytes", property: "message.max.bytes"},
	{name: "group-initial-rebalance-delay", property: "group.initial.rebalance.delay.ms", convert: inUnits(time.Millisecond)},
	{name: "offsets-retention", property: "offsets.retention.minutes", convert: inUnits(time.Minute)},
	{name: "authorizer", property: configs.AuthorizerClass, convert: authorizerClass},
	{name: "super-user", property: configs.SuperUsers, list: true, join: superUsers},
	{name: "allow-if-no-acl", property: configs.AllowIfNoACL},
	{name: "journal-retention"},
	{name: "sync", only: syncs},
	{name: "sasl-mechanisms"},
	{name: "user", list: true},
	{name: "user-file"},
	{name: "oauth-jwks"},
	{name: "oauth-unsecured", only: onOff},
	{name: "connections-max-reauth", property: "connections.max.reauth.ms", convert: inUnits(time.Millisecond)},
	{name: "tls-cert"},
	{name: "tls-key"},
	{name: "tls-client-ca"},
	{name: "tls-client-auth", property: "ssl.client.auth"},
	{name: "unprotected", only: onOff},
	{name: "console", only: onOff},
	{name: "console-addr"},
	{name: "console-unprotected", only: onOff},
	{name: "console-login", only: onOff},
	{name: "console-trace-header", list: true},
	{name: "schema-registry", only: onOff},
	{name: "schema-registry-addr"},
	{name: "health-addr"},
	{name: "ready-file"},
	{name: "seed", list: true},
	{name: "announce"},
	{name: "log-level"},
	{name: "log-format", only: formats},
}

func findSetting(name string) (setting, bool) {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name })
	if i < 0 {
		return setting{}, false
	}
	return settings[i], true
}

func settingNames(yield func(string) bool) {
	for _, s := range settings {
		if !yield(s.name) {
			return
		}
	}
}

// authorizerClass names Kafka's authorizer when there is to be one.
func authorizerClass(s string) (string, error) {
	on, err := strconv.ParseBool(s)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is neither true nor false", s)
	case on:
		return acls.StandardAuthorizer, nil
	}
	return "", nil
}

// superUsers writes names of users as super.users does, which cannot say a name with a semicolon.
func superUsers(names []string) (string, error) {
	for i, name := range names {
		if strings.Contains(name, ";") {
			return "", fmt.Errorf("%q has a semicolon, which would make two users of it; name each user by itself", name)
		}
		if !strings.Contains(name, ":") {
			names[i] = "User:" + name
		}
	}
	return strings.Join(names, ";"), nil
}

// inUnits writes a duration as a whole number of units, as Kafka's properties do.
func inUnits(unit time.Duration) func(string) (string, error) {
	return func(s string) (string, error) {
		d, err := time.ParseDuration(s)
		if err != nil {
			return "", fmt.Errorf("%q is no duration; write it as 200ms, 30s, 10m or 168h", s)
		}
		if d%unit != 0 {
			return "", fmt.Errorf("%s is not a whole number of %s", s, map[time.Duration]string{time.Millisecond: "milliseconds", time.Minute: "minutes"}[unit])
		}
		return strconv.FormatInt(int64(d/unit), 10), nil
	}
}

// given is a value with the place that it comes from, as a person would say it: "flag --listen", "KAFKA_NUM_PARTITIONS".
type given struct {
	values []string
	from   string
}

func (g given) value() string { return last(g.values) }

// last is the value that counts; a list may be empty, as an empty variable is.
func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// place is what one place sets: doze's own settings by flag name, and Kafka's properties.
type place struct {
	own        map[string]given
	properties map[string]given
}

func newPlace() place { return place{map[string]given{}, map[string]given{}} }

// add records a setting; one that is a Kafka property becomes that property.
func (p place) add(s setting, from string, values ...string) error {
	if s.property == "" {
		if value := last(values); s.only != nil && !slices.Contains(s.only, value) {
			return fmt.Errorf("%s is %q; give it %s or %s", from, value, strings.Join(s.only[:len(s.only)-1], ", "), s.only[len(s.only)-1])
		}
		p.own[s.name] = given{values, from}
		return nil
	}
	value := last(values)
	if s.join != nil {
		joined, err := s.join(values)
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		value = joined
	}
	if s.convert != nil {
		converted, err := s.convert(value)
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		value = converted
	}
	return p.addProperty(s.property, from, value)
}

// addProperty records a Kafka property, unless the place sets it already to something else.
func (p place) addProperty(name, from, value string) error {
	d, known := configs.BrokerKeys.Lookup(name)
	if !known && !configs.IsListenerKey(name) && !configs.IsAuthorizerKey(name) {
		return unknown(from, "property "+name, configs.BrokerKeys.Nearest(name))
	}
	if known {
		if _, err := d.Parse(value); err != nil {
			return fmt.Errorf("%s: %w; correct the value", from, err)
		}
	}
	if other, twice := p.properties[name]; twice && other.value() != value {
		if !known || d.Sensitive() {
			return fmt.Errorf("%s and %s set the same (%s), to two values; keep one", other.from, from, name)
		}
		return fmt.Errorf("%s and %s set the same (%s), one to %q, the other to %q; keep one", other.from, from, name, other.value(), value)
	}
	p.properties[name] = given{[]string{value}, from}
	return nil
}

// unknown is the error for a name that means nothing, with the one that it may stand for.
func unknown(from, what, nearest string) error {
	if nearest == "" {
		return fmt.Errorf("%s: %s is not known; leave it out, or see doze serve --help", from, what)
	}
	return fmt.Errorf("%s: %s is not known; did you mean %s?", from, what, nearest)
}

// over lays a place over those before it. Where to listen and what to advertise are two settings: who overrides one keeps
// the other.
func (p place) over(below place) (place, error) {
	merged := place{maps.Clone(below.own), maps.Clone(below.properties)}
	for _, same := range [][2]string{{"listen", "listeners"}, {"advertise", "advertised.listeners"}} {
		flag, byFlag := p.own[same[0]]
		property, byProperty := p.properties[same[1]]
		switch {
		case byFlag && byProperty:
			return place{}, fmt.Errorf("%s and %s both say where to %s; keep one", flag.from, property.from, same[0])
		case byFlag:
			delete(merged.properties, same[1])
		case byProperty:
			delete(merged.own, same[0])
		}
	}
	if _, ok := p.properties["listeners"]; ok {
		delete(merged.own, "advertise") // its addresses were for the listeners of before
	}
	maps.Copy(merged.own, p.own)
	maps.Copy(merged.properties, p.properties)
	return merged, nil
}

// mergePlaces lays the places over one another, the first one lowest.
func mergePlaces(places ...place) (place, error) {
	merged := newPlace()
	for _, p := range places {
		var err error
		if merged, err = p.over(merged); err != nil {
			return place{}, err
		}
	}
	return merged, nil
}

// fromDoze reads the DOZE_ variables of an environment of NAME=VALUE texts. DOZE_CONFIG names the file; the caller reads it.
// Lists are separated by commas.
//
//fuzz:parser class=config FuzzDozeEnvironment
func fromDoze(environ []string) (place, error) {
	p := newPlace()
	var errs []error
	for _, e := range environ {
		variable, value, ok := strings.Cut(e, "=")
		rest, ours := strings.CutPrefix(variable, "DOZE_")
		if !ok || !ours || rest == "CONFIG" || strings.HasPrefix(rest, "CLIENT_") { // those of commands that are clients
			continue
		}
		s, known := findSetting(strings.ToLower(strings.ReplaceAll(rest, "_", "-")))
		switch {
		case !known:
			errs = append(errs, unknown("environment", "DOZE_"+rest, dozeVariable(configs.Nearest(strings.ToLower(strings.ReplaceAll(rest, "_", "-")), settingNames))))
		case s.list:
			errs = append(errs, p.add(s, variable, configs.Entries(value)...))
		default:
			errs = append(errs, p.add(s, variable, value))
		}
	}
	return p, errors.Join(errs...)
}

func dozeVariable(name string) string {
	if name == "" {
		return ""
	}
	return "DOZE_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// fromKafka reads the KAFKA_ variables that Kafka's container images take. One that is nearly a property's name is an error;
// one that resembles none is somebody else's, and only remarked upon.
func fromKafka(environ []string) (p place, remarks []string, err error) {
	p = newPlace()
	var errs []error
	for _, property := range configs.FromEnvironment(environ) {
		variable := configs.EnvironmentName(property.Name)
		_, known := configs.BrokerKeys.Lookup(property.Name)
		nearest := configs.BrokerKeys.Nearest(property.Name)
		switch {
		case known || configs.IsListenerKey(property.Name) || configs.IsAuthorizerKey(property.Name):
			errs = append(errs, p.addProperty(property.Name, variable, property.Value))
		case nearest != "":
			errs = append(errs, unknown("environment", variable, configs.EnvironmentName(nearest)))
		default:
			remarks = append(remarks, variable+" is no property of a broker and is left aside")
		}
	}
	return p, remarks, errors.Join(errs...)
}
