package configs

import (
	"slices"
	"strings"
)

// notProperties are KAFKA_ variables that the images of Kafka read themselves, and those that a client's side of a shell
// sets: none of them is a broker's property.
var notProperties = map[string]bool{
	"KAFKA_VERSION": true, "KAFKA_HEAP_OPTS": true, "KAFKA_LOG4J_OPTS": true, "KAFKA_OPTS": true, "KAFKA_JMX_OPTS": true,
	"KAFKA_JVM_PERFORMANCE_OPTS": true, "KAFKA_GC_LOG_OPTS": true, "KAFKA_LOG4J_ROOT_LOGLEVEL": true,
	"KAFKA_LOG4J_LOGGERS": true, "KAFKA_TOOLS_LOG4J_LOGLEVEL": true, "KAFKA_JMX_HOSTNAME": true, "KAFKA_JMX_PORT": true,
	"KAFKA_BOOTSTRAP_SERVERS": true, "KAFKA_HOME": true,
}

// FromEnvironment reads the properties that an environment of NAME=VALUE texts sets as Kafka's container images do:
// KAFKA_AUTO_CREATE_TOPICS_ENABLE is auto.create.topics.enable, two underscores are an underscore, three a hyphen. They come
// in name order; a variable that is no property of a broker is left out.
//
//fuzz:parser class=config FuzzEnvironment
func FromEnvironment(environ []string) []Property {
	var all []Property
	for _, e := range environ {
		variable, value, ok := strings.Cut(e, "=")
		rest, ours := strings.CutPrefix(variable, "KAFKA_")
		if !ok || !ours || rest == "" || notProperties[variable] {
			continue
		}
		all = append(all, Property{Name: propertyName(rest), Value: value})
	}
	slices.SortStableFunc(all, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// propertyName turns what follows KAFKA_ into a property's name.
func propertyName(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "_", ".")
	s = strings.ReplaceAll(s, "...", "-")
	return strings.ReplaceAll(s, "..", "_")
}

// EnvironmentName is the variable that sets a property: the inverse of the images' rule.
func EnvironmentName(property string) string {
	s := strings.ReplaceAll(property, "_", "__")
	s = strings.ReplaceAll(s, "-", "___")
	return "KAFKA_" + strings.ToUpper(strings.ReplaceAll(s, ".", "_"))
}
