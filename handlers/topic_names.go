package handlers

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"doze/projections"
)

// maxTopicName is the longest name of a topic, as Kafka has it: 249 bytes leave room for a partition's number in a file name.
const maxTopicName = 249

// reservedTopics are the names of Kafka's internal topics. They do not exist here, their content is the journal, and
// nobody can create them (docs/differences.md).
var reservedTopics = []string{clusterMetadata, "__consumer_offsets", "__share_group_state", "__transaction_state"}

// clusterMetadata is the name of Kafka's own log of metadata, which is no topic.
const clusterMetadata = "__cluster_metadata"

func reserved(topic string) bool {
	for _, name := range reservedTopics {
		if name == topic {
			return true
		}
	}
	return false
}

// internal tells whether Kafka has an internal topic of this name: it is marked so, and nobody may produce to it.
func internal(topic string) bool { return reserved(topic) && topic != clusterMetadata }

// internalPartitions are the configs that say how many partitions Kafka's internal topics have.
var internalPartitions = map[string]string{
	offsetsTopic:          "offsets.topic.num.partitions",
	"__share_group_state": "share.coordinator.state.topic.num.partitions",
	"__transaction_state": "transaction.state.log.num.partitions",
}

// hasInternal tells whether Kafka's internal topic of that name has a partition of that number.
func (b *Broker) hasInternal(topic string, number int32) bool {
	return number >= 0 && int64(number) < b.static.Int(internalPartitions[topic])
}

// invalidTopicName says what is wrong with a topic's name in Kafka's words; "" when nothing is.
func invalidTopicName(name string) string {
	switch {
	case name == "":
		return "Topic name is invalid: the empty string is not allowed"
	case name == "." || name == "..":
		return fmt.Sprintf("Topic name is invalid: '%s' is not allowed", name)
	case utf8.RuneCountInString(name) > maxTopicName:
		return fmt.Sprintf("Topic name is invalid: the length of '%s' is longer than the max allowed length %d", name, maxTopicName)
	case strings.ContainsFunc(name, illegalInTopicName):
		return fmt.Sprintf("Topic name is invalid: '%s' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'", name)
	}
	return ""
}

func illegalInTopicName(r rune) bool {
	legal := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
	return !legal
}

// checkNewTopicName refuses a name that no topic may have or that meets one of the topics that are there (before: the
// state before the request, since two names of one request may collide by '.' and '_' in Kafka; now: the state so far).
func checkNewTopicName(before, now projections.Topics, name string) *refusal {
	if now.Named(name) != nil {
		return refuse(topicAlreadyExists, fmt.Sprintf("Topic '%s' already exists.", name))
	}
	if reserved(name) {
		return refuse(invalidTopicException, fmt.Sprintf("Topic '%s' is reserved: doze keeps its content in the control journal.", name))
	}
	if strings.ContainsAny(name, "._") { // comes before the name's own check, as in Kafka
		if colliding := before.Colliding(name); len(colliding) > 0 {
			return refuse(invalidTopicException, fmt.Sprintf("Topic '%s' collides with existing topic: %s", name, colliding[0].Name))
		}
	}
	if wrong := invalidTopicName(name); wrong != "" {
		return refuse(invalidTopicException, wrong)
	}
	if other := now.FoldsTo(name); other != nil {
		return refuse(invalidTopicException, fmt.Sprintf("Topic '%s' differs only in case from existing topic: %s", name, other.Name))
	}
	return nil
}
