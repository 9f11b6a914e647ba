package conformance

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"doze/conformance/recording"
)

// sortRule names a list of an answer whose order Kafka does not promise (it walks a hash map), and the fields that
// order it here. In the path a dot goes down a level, through every element of a list.
type sortRule struct {
	path string
	by   []string
	why  string
}

// sortRules by API key. Every list that is not named here is compared in the order in which it was sent.
var sortRules = map[int16][]sortRule{
	0: {
		{"Topics", []string{"Topic", "TopicID"}, "answers are gathered in a hash map by partition"},
		{"Topics.Partitions", []string{"Partition"}, "answers are gathered in a hash map by partition"},
	},
	2: {
		{"Topics", []string{"Topic"}, "answers are gathered in a hash map by partition"},
		{"Topics.Partitions", []string{"Partition"}, "answers are gathered in a hash map by partition"},
	},
	3: {
		{"Topics", []string{"Topic", "TopicID"}, "topics are gathered in a hash set"},
	},
	9: {
		{"Topics", []string{"Topic"}, "all topics of a group come from a hash map"},
		{"Topics.Partitions", []string{"Partition"}, "all partitions of a group's topic come from a hash map"},
		{"Groups.Topics", []string{"Topic", "TopicID"}, "all topics of a group come from a hash map"},
		{"Groups.Topics.Partitions", []string{"Partition"}, "all partitions of a group's topic come from a hash map"},
	},
	11: {
		{"Members", []string{"MemberID"}, "members are kept in a hash map by their random ids"},
	},
	15: {
		{"Groups.Members", []string{"MemberID"}, "members are kept in a hash map by their random ids"},
	},
	16: {
		{"Groups", []string{"Group"}, "groups are kept in a hash map"},
	},
	17: {
		{"SupportedMechanisms", nil, "mechanisms are kept in a hash set"},
	},
	18: {
		{"SupportedFeatures", []string{"Name"}, "features are kept in a hash map"},
		{"FinalizedFeatures", []string{"Name"}, "features are kept in a hash map"},
	},
	50: {
		{"Results", []string{"User"}, "users are gathered in a hash map"},
		{"Results.CredentialInfos", []string{"Mechanism"}, "mechanisms are kept in a map"},
	},
	51: {
		{"Results", []string{"User"}, "users are gathered in a hash map"},
	},
	20: {
		{"Topics", []string{"Topic", "TopicID", "ErrorCode", "ErrorMessage"}, "answers are shuffled on purpose"},
	},
	21: {
		{"Topics", []string{"Topic"}, "answers are gathered in a hash map by partition"},
		{"Topics.Partitions", []string{"Partition"}, "answers are gathered in a hash map by partition"},
	},
	24: {
		{"Topics", []string{"Topic"}, "answers that differ by partition are gathered in a hash map"},
		{"Topics.Partitions", []string{"Partition"}, "answers that differ by partition are gathered in a hash map"},
		{"Transactions", []string{"TransactionalID"}, "transactions are answered as their coordinators are done with them"},
		{"Transactions.Topics", []string{"Topic"}, "answers that differ by partition are gathered in a hash map"},
		{"Transactions.Topics.Partitions", []string{"Partition"}, "answers that differ by partition are gathered in a hash map"},
	},
	27: {
		{"Markers", []string{"ProducerID"}, "answers are gathered in a hash map by producer id"},
		{"Markers.Topics", []string{"Topic"}, "answers are gathered in a hash map by partition"},
		{"Markers.Topics.Partitions", []string{"Partition"}, "answers are gathered in a hash map by partition"},
	},
	32: {
		{"Resources.Configs", []string{"Name"}, "configs are kept in a hash map"},
	},
	34: {
		{"Topics", []string{"Topic"}, "answers are grouped in a hash map by topic"},
		{"Topics.Partitions", []string{"Partition"}, "answers are gathered in a hash map by partition"},
	},
	41: {
		{"TokenDetails", []string{"TokenID"}, "tokens are kept in a hash map by their random ids"},
	},
	35: {
		{"Dirs.Topics", []string{"Topic"}, "partitions are grouped in a hash map by topic"},
		{"Dirs.Topics.Partitions", []string{"Partition"}, "logs are kept in a hash map"},
	},
	29: {
		{"Resources", []string{"ResourceType", "ResourceName", "ResourcePatternType"}, "resources are gathered in a hash map"},
		{"Resources.ACLs", []string{"Principal", "Host", "Operation", "PermissionType"}, "entries of a resource are gathered in a hash set"},
	},
	31: {
		{"Results.MatchingACLs", []string{"ResourceType", "ResourceName", "ResourcePatternType", "Principal", "Host", "Operation", "PermissionType"}, "ACLs are kept in a hash map by random ids"},
	},
	37: {
		{"Topics", []string{"Topic"}, "topics are gathered in a hash set"},
	},
	42: {
		{"Groups", []string{"Group"}, "answers are gathered in a hash set"},
	},
	43: {
		{"Topics", []string{"Topic"}, "all topics come from a hash map"},
	},
	48: {
		{"Entries.Entity", []string{"Type"}, "the parts of an entity are kept in a hash map"},
		{"Entries.Values", []string{"Key"}, "the quotas of an entity are kept in a hash map"},
		{"Entries", []string{"Entity"}, "entities are kept in a hash map"},
	},
	49: {
		{"Entries.Entity", []string{"Type"}, "the parts of an entity are kept in a hash map"},
		{"Entries", []string{"Entity"}, "answers are gathered in a hash map by entity"},
	},
	61: {
		{"Topics.Partitions.ActiveProducers", []string{"ProducerID"}, "producers are kept in a hash map; doze answers them in id order"},
	},
	65: {
		{"TransactionStates.Topics", []string{"Topic"}, "a transaction keeps its partitions in a hash set"},
		{"TransactionStates.Topics.Partitions", nil, "a transaction keeps its partitions in a hash set"},
	},
	66: {
		{"TransactionStates", []string{"TransactionalID"}, "transactional ids are kept in a hash map"},
		{"UnknownStateFilters", nil, "filters are kept in a hash set"},
	},
	68: {
		{"Assignment.Topics", []string{"TopicID"}, "a member's partitions are kept in a hash map by topic"},
		{"Assignment.Topics.Partitions", nil, "a member's partitions of a topic are kept in a hash map"},
	},
	69: {
		{"Groups.Members", []string{"MemberID"}, "members are kept in a hash map by their ids"},
		{"Groups.Members.SubscribedTopics", nil, "a member's subscription is kept in a hash set"},
		{"Groups.Members.Assignment.TopicPartitions", []string{"Topic"}, "a member's partitions are kept in a hash map by topic"},
		{"Groups.Members.Assignment.TopicPartitions.Partitions", nil, "a member's partitions of a topic are kept in a hash map"},
		{"Groups.Members.TargetAssignment.TopicPartitions", []string{"Topic"}, "a member's partitions are kept in a hash map by topic"},
		{"Groups.Members.TargetAssignment.TopicPartitions.Partitions", nil, "a member's partitions of a topic are kept in a hash set"},
	},
	71: {
		{"RequestedMetrics", nil, "metrics of all subscriptions are gathered in a hash set"},
	},
	74: {
		{"ConfigResources", []string{"Name"}, "resources of one type come from a hash map, the types from code"},
	},
	76: {
		{"Assignment.TopicPartitions", []string{"TopicID"}, "an assignment is kept in a hash map by topic id"},
	},
	77: {
		{"Groups", []string{"Group", "GroupID"}, "groups are asked for in a hash map by the partition they belong to"},
		{"Groups.Members", []string{"MemberID"}, "members are kept in a hash map by their ids"},
		{"Groups.Members.SubscribedTopicNames", nil, "topics are kept in a hash set"},
		{"Groups.Members.Assignment.TopicPartitions", []string{"Topic", "TopicID"}, "an assignment is kept in a hash map by topic id"},
	},
	78: {
		{"Topics", []string{"TopicID"}, "answers are gathered in a hash map by partition"},
		{"Topics.Partitions", []string{"Partition"}, "answers are gathered in a hash map by partition"},
	},
	79: {
		{"Topics", []string{"TopicID"}, "answers are gathered in a hash map by partition"},
		{"Topics.Partitions", []string{"Partition"}, "answers are gathered in a hash map by partition"},
	},
	88: {
		{"ActiveTasks", []string{"SubtopologyID"}, "tasks are kept in a hash map by subtopology"},
		{"StandbyTasks", []string{"SubtopologyID"}, "tasks are kept in a hash map by subtopology"},
		{"PartitionsByUserEndpoint", []string{"UserEndpoint"}, "members are kept in a hash map"},
		{"PartitionsByUserEndpoint.ActivePartitions", []string{"Topic"}, "topics are gathered in a hash set"},
		{"PartitionsByUserEndpoint.StandbyPartitions", []string{"Topic"}, "topics are gathered in a hash set"},
	},
	89: {
		{"Groups", []string{"Group"}, "answers are gathered by partition of the offsets topic in a hash map"},
		{"Groups.Members", []string{"MemberID"}, "members are kept in a hash map"},
		{"Groups.Members.ClientTags", []string{"Key"}, "tags are kept in a hash map"},
		{"Groups.Topology.Subtopologies.RepartitionSourceTopics.Configs", []string{"Key"}, "configs are kept in a hash map"},
		{"Groups.Topology.Subtopologies.StateChangelogTopics.Configs", []string{"Key"}, "configs are kept in a hash map"},
	},
	90: {
		{"Groups.Topics", []string{"Topic"}, "topics of a group are kept in a hash map"},
		{"Groups.Topics.Partitions", []string{"Partition"}, "partitions of a group's topic are kept in a hash set"},
	},
	91: {
		{"Topics.Partitions", []string{"Partition"}, "answers of the persister are gathered in a hash map"},
	},
	92: {
		{"Topics", []string{"Topic"}, "topics are gathered in a hash map"},
	},
}

// sortAnswer sorts by the names that ids have, so that an id drawn at random does not order anything.
func sortAnswer(key int16, obj recording.Object, names map[string]string) {
	for _, rule := range sortRules[key] {
		sortAt(obj, strings.Split(rule.path, "."), sorter{rule.by, names})
	}
}

type sorter struct {
	by    []string
	names map[string]string
}

func sortAt(v recording.Value, path []string, by sorter) {
	switch v := v.(type) {
	case []recording.Value:
		for _, e := range v {
			sortAt(e, path, by)
		}
	case recording.Object:
		child := v.Get(path[0])
		if len(path) > 1 {
			sortAt(child, path[1:], by)
			return
		}
		if list, ok := child.([]recording.Value); ok {
			slices.SortStableFunc(list, func(a, b recording.Value) int {
				return strings.Compare(by.key(a), by.key(b))
			})
		}
	}
}

// key is the text of the fields that order an element, or of the element itself when none are named.
func (s sorter) key(v recording.Value) string {
	obj, ok := v.(recording.Object)
	if !ok || len(s.by) == 0 {
		return s.textOf(v)
	}
	var b strings.Builder
	for _, field := range s.by {
		b.WriteString(s.textOf(obj.Get(field)))
		b.WriteByte(0)
	}
	return b.String()
}

// textOf gives numbers a fixed width, so that they sort as numbers.
func (s sorter) textOf(v recording.Value) string {
	if n, ok := v.(int64); ok {
		return fmt.Sprintf("%020d", uint64(n)^1<<63)
	}
	if text, ok := v.(string); ok {
		return s.nameOf(text)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// nameOf replaces ids that have a name, alone or within a text; names of one length sort in the order of their numbers.
func (s sorter) nameOf(text string) string {
	if name := s.names[text]; strings.HasPrefix(name, "token-") {
		return name
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(text, recording.UUIDPrefix))
	if err != nil || !strings.HasPrefix(text, recording.UUIDPrefix) {
		return dashedUUID.ReplaceAllStringFunc(text, s.known)
	}
	if name, known := s.names[base64.RawURLEncoding.EncodeToString(raw)]; known {
		return name
	}
	return text
}

func (s sorter) known(id string) string {
	if name, known := s.names[id]; known {
		return name
	}
	return id
}
