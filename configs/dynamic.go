package configs

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// wrong is a refusal that Kafka calls a wrong request: so it calls every broker's config that does not fit.
func wrong(message string) *Error { return &Error{Message: message, Request: true} }

// perListener are the security keys that change while the broker runs, but only for one listener.
var perListener = []string{"ssl.key.password", "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.keystore.location",
	"ssl.keystore.password", "ssl.keystore.type", "ssl.truststore.certificates", "ssl.truststore.location",
	"ssl.truststore.password", "ssl.truststore.type"}

// CheckDynamic refuses what the dynamic values of this broker (own) or of all brokers would become when they do not fit, as
// Kafka does: keys that take a restart, values, what they mean together, and how far a number of threads may move at once.
// It gives the broker as it would be.
func (b *Broker) CheckDynamic(values map[string]string, own bool) (*Broker, error) {
	values = maps.Clone(values)
	maps.DeleteFunc(values, func(name, _ string) bool { return strings.HasPrefix(name, "config.providers") })
	if err := checkNames(values, own); err != nil {
		return nil, err
	}
	next := b.WithDynamic(values, b.own)
	if own {
		next = b.WithDynamic(b.cluster, values)
	}
	if err := next.checkMaps(); err != nil {
		return nil, err
	}
	if next.Int("log.cleaner.threads") == 0 {
		return nil, wrong("/ by zero")
	}
	if err := next.Check(); err != nil {
		return nil, err
	}
	if err := b.checkMove(next); err != nil {
		return nil, wrong("Invalid value org.apache.kafka.common.config.ConfigException: " + err.Error() +
			" for configuration Invalid dynamic configuration")
	}
	return next, nil
}

// checkNames refuses keys that cannot change, or not here, and values that cannot be read.
func checkNames(values map[string]string, own bool) error {
	if err := refuseAll(values, "Cannot update these configs dynamically", func(name string) bool {
		d, known := BrokerKeys.Lookup(name)
		return known && d.Update == ReadOnly
	}); err != nil {
		return err
	}
	if err := refuseAll(values, "These security configs can be dynamically updated only per-listener using the listener prefix",
		func(name string) bool { return slices.Contains(perListener, name) }); err != nil {
		return err
	}
	for _, name := range sortedNames(values) {
		if err := checkDynamicValue(baseName(name), values[name]); err != nil {
			return wrong(err.Error())
		}
	}
	if own {
		return nil
	}
	return refuseAll(values, "Cannot update these configs at default cluster level, broker id must be specified", func(name string) bool {
		if key, ok := listenerKey(name); ok {
			return !slices.Contains([]string{"max.connections", "max.connection.creation.rate", "num.network.threads"}, key)
		}
		d, known := BrokerKeys.Lookup(name)
		return known && d.Update == PerBroker
	})
}

func refuseAll(values map[string]string, why string, refused func(name string) bool) error {
	names := slices.DeleteFunc(sortedNames(values), func(name string) bool { return !refused(name) })
	if len(names) == 0 {
		return nil
	}
	return wrong(why + ": [" + strings.Join(names, ", ") + "]")
}

// baseName is the key that a listener's key overrides, or the key itself.
func baseName(name string) string {
	if key, ok := listenerKey(name); ok {
		return key
	}
	return name
}

func checkDynamicValue(name, value string) error {
	d, known := BrokerKeys.Lookup(name)
	if !known || d.Update == ReadOnly {
		return nil // a plug-in's key, or one of a listener's mechanism: nothing is known of its value
	}
	if t := javaTrim(value); d.Type == Class && t != d.Default {
		return badValue(name, value, "Class "+value+" could not be found.") // there are no classes here but the defaults
	}
	_, err := d.Parse(value)
	return err
}

// checkMaps refuses texts that hold pairs, when the pairs cannot be read.
func (b *Broker) checkMaps() error {
	protocols, err := b.pairs("listener.security.protocol.map")
	if err != nil {
		return err
	}
	if err := b.checkListenerProtocols(protocols); err != nil {
		return err
	}
	limits, err := b.pairs("max.connections.per.ip.overrides")
	if err != nil {
		return err
	}
	for _, p := range limits {
		if _, err := strconv.ParseInt(p.value, 10, 32); err != nil {
			return wrong(`For input string: "` + p.value + `"`)
		}
	}
	if b.Int("max.connections.per.ip") == 0 && len(limits) == 0 {
		return wrong("requirement failed: max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides property is set.")
	}
	return b.checkCordoned()
}

type pair struct{ name, value string }

// pairs reads a text of NAME:VALUE,... as Kafka does, with the error of its runtime where a colon is missing.
func (b *Broker) pairs(key string) ([]pair, error) {
	var all []pair
	for _, entry := range splitList(b.Text(key)) {
		colon := strings.LastIndexByte(entry, ':')
		if colon < 0 {
			return nil, wrong("Error parsing configuration property '" + key + "': begin 0, end -1, length " + strconv.Itoa(len(entry)))
		}
		all = append(all, pair{javaTrim(entry[:colon]), javaTrim(entry[colon+1:])})
	}
	return all, nil
}

func (b *Broker) checkListenerProtocols(protocols []pair) error {
	for _, p := range protocols {
		if !slices.Contains([]string{"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}, p.value) {
			return wrong("Invalid security protocol `" + p.value + "` defined in listener.security.protocol.map")
		}
	}
	listeners := b.Entries("listeners")
	all := "Error creating broker listeners from '[" + strings.Join(listeners, ", ") + "]': "
	for _, l := range listeners {
		name, _, ok := strings.Cut(l, "://")
		if !ok {
			return wrong(all + "Unable to parse " + l + " to a broker endpoint")
		}
		if !slices.ContainsFunc(protocols, func(p pair) bool { return strings.EqualFold(p.name, name) }) {
			return wrong(all + "No security protocol defined for listener " + strings.ToUpper(name))
		}
	}
	return nil
}

func (b *Broker) checkCordoned() error {
	cordoned := b.Entries("cordoned.log.dirs")
	if len(cordoned) == 1 && cordoned[0] == "*" {
		return nil
	}
	dirs := append(b.Entries("log.dirs"), b.Entries("log.dir")...)
	missing := slices.DeleteFunc(cordoned, func(dir string) bool { return slices.Contains(dirs, dir) })
	if len(missing) == 0 {
		return nil
	}
	return wrong("requirement failed: All entries in cordoned.log.dirs must be present in log.dirs or log.dir. Missing entries : " +
		strings.Join(missing, ", "))
}

// threadKeys may at most double or halve at once.
var threadKeys = []string{"num.io.threads", "num.network.threads", "num.replica.fetchers", "num.recovery.threads.per.data.dir",
	"background.threads", "remote.log.reader.threads", "remote.log.manager.copier.thread.pool.size",
	"remote.log.manager.expiration.thread.pool.size", "remote.log.manager.follower.thread.pool.size"}

// checkMove refuses a change that is too large to make while the broker runs, or that the part it concerns would not take.
func (b *Broker) checkMove(next *Broker) error {
	if l := next.Entries("metric.reporters"); slices.ContainsFunc(l, func(class string) bool { return class != "org.apache.kafka.common.metrics.JmxReporter" }) {
		return invalid("Validation of dynamic config update of Set(metric.reporters) failed with class class kafka.server.DynamicMetricsReporters")
	}
	for _, key := range threadKeys {
		if err := checkThreads(key, b.Int(key), next.Int(key)); err != nil {
			return err
		}
	}
	if err := checkCleaners(b.Int("log.cleaner.threads"), next.Int("log.cleaner.threads")); err != nil {
		return err
	}
	for _, key := range []string{"max.connections", "max.connection.creation.rate"} {
		if next.Int(key) <= 0 {
			return invalid("Invalid " + key + " " + Format(next.value(key)))
		}
	}
	return next.checkLocalRetention()
}

func checkThreads(key string, was, will int64) error {
	why := "Dynamic thread count update validation failed for " + key + "=" + strconv.FormatInt(will, 10) + ", value should "
	switch {
	case will == was:
		return nil
	case will <= 0:
		return invalid(why + "be at least 1")
	case will < was/2:
		return invalid(why + "be at least half the current value " + strconv.FormatInt(was, 10))
	case will > was*2:
		return invalid(why + "not be greater than double the current value " + strconv.FormatInt(was, 10))
	}
	return nil
}

func checkCleaners(was, will int64) error {
	switch {
	case will < was/2:
		return invalid("Log cleaner threads cannot be reduced to less than half the current value " + strconv.FormatInt(was, 10))
	case will > was*2:
		return invalid("Log cleaner threads cannot be increased to more than double the current value " + strconv.FormatInt(was, 10))
	}
	return nil
}

// checkLocalRetention holds what would stay on local disk under tiered storage to what is kept at all.
func (b *Broker) checkLocalRetention() error {
	ms := max(b.millis("log.retention.ms", unit{"log.retention.minutes", minute}, unit{"log.retention.hours", hour}), -1)
	if err := checkLocal("log.local.retention.ms", b.Int("log.local.retention.ms"), "log.retention.ms", ms); err != nil {
		return err
	}
	return checkLocal("log.local.retention.bytes", b.Int("log.local.retention.bytes"), "log.retention.bytes", b.Int("log.retention.bytes"))
}

func checkLocal(localKey string, local int64, key string, all int64) error {
	const same = -2 // local retention is what retention is
	kept := strconv.FormatInt(all, 10)
	switch {
	case all <= -1 || local == same:
		return nil
	case local == -1:
		return badValue(localKey, "-1", "Value must not be -1 as "+key+" value is set as "+kept+".")
	case local > all:
		return badValue(localKey, strconv.FormatInt(local, 10), "Value must not be more than "+key+" property value: "+kept)
	}
	return nil
}

const minISR = "min.insync.replicas"

// valueMax bounds a config's value, in UTF-16 units as Java counts.
const valueMax = 32767

// CheckChange refuses changes that a running cluster does not allow, whatever the values. elr: set and removed are of a broker
// (own) or of all brokers, in a cluster whose eligible.leader.replicas.version is above 0.
func CheckChange(set map[string]string, removed []string, elr, own bool) error {
	if elr {
		_, sets := set[minISR]
		removes := slices.Contains(removed, minISR)
		if own && (sets || removes) {
			return invalid("Broker-level min.insync.replicas cannot be altered while ELR is enabled.")
		}
		if !own && removes {
			return invalid("Cluster-level min.insync.replicas cannot be removed while ELR is enabled.")
		}
	}
	for _, name := range sortedNames(set) {
		if utf16Len(set[name]) > valueMax {
			return invalid("The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes.")
		}
	}
	return nil
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
