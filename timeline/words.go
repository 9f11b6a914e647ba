package timeline

import (
	"fmt"
	"strings"

	"doze/journal"
)

// words say what an event is in a sentence without a full stop; empty of an event that has none: its fields say it.
func (t *Timeline) words(event journal.Event) string {
	for _, of := range []func(journal.Event) string{t.wordsOfTopics, t.wordsOfOffsets, wordsOfGroups, t.wordsOfMembers, wordsOfTransactions, wordsOfSchemas, wordsOfBroker} {
		if said := of(event); said != "" {
			return cut(said, maxEventText)
		}
	}
	return ""
}

func (t *Timeline) topic(id [16]byte) string {
	if name, known := t.TopicName(id); known {
		return name
	}
	return journal.ID(id)
}

func (t *Timeline) wordsOfTopics(event journal.Event) string {
	switch e := event.(type) {
	case *journal.TopicCreated:
		return fmt.Sprintf("topic %s was created with %s%s", e.Name, count(int(e.Partitions), "partition"), pairs(", ", e.Configs))
	case *journal.TopicDeleted:
		return fmt.Sprintf("topic %s was deleted", t.topic(e.ID))
	case *journal.PartitionsAdded:
		return fmt.Sprintf("topic %s has %s now", t.topic(e.ID), count(int(e.Total), "partition"))
	case *journal.RecordsDeleted:
		return fmt.Sprintf("records of %s-%d before offset %d were deleted", t.topic(e.Topic), e.Partition, e.Before)
	case *journal.ConfigsAltered:
		said := "configs of " + resource(e.ResourceType, e.Resource) + pairs(" set ", e.Set)
		if len(e.Removed) > 0 {
			said += " reset " + strings.Join(e.Removed, ", ")
		}
		return said
	}
	return ""
}

// pairs are configs in a line; a value that may let people in is not told.
func pairs(before string, all []journal.ConfigPair) string {
	if len(all) == 0 {
		return ""
	}
	list := make([]string, len(all))
	for i, p := range all {
		list[i] = p.Name + "=" + configValue(p.Name, p.Value)
	}
	return before + strings.Join(list, ", ")
}

func resource(kind int8, name string) string {
	kinds := map[int8]string{2: "topic", 4: "broker", 8: "logger of broker", 16: "client metrics", 32: "group"}
	if name == "" {
		return "all brokers"
	}
	return strings.TrimSpace(kinds[kind] + " " + name)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// maxListed bounds what is listed in a sentence.
const maxListed = 6

func (t *Timeline) wordsOfOffsets(event journal.Event) string {
	switch e := event.(type) {
	case *journal.OffsetsCommitted:
		return fmt.Sprintf("group %s committed %s", e.Group, offsets(e.Offsets))
	case *journal.OffsetsDeleted:
		return fmt.Sprintf("offsets of group %s were deleted: %s", e.Group, partitions(e.Partitions))
	case *journal.OffsetsExpired:
		return fmt.Sprintf("offsets of group %s expired: %s", e.Group, partitions(e.Partitions))
	case *journal.ProducerIDsAllocated:
		return fmt.Sprintf("producer ids %d to %d were set aside", e.First, e.First+int64(e.Count)-1)
	}
	return ""
}

func offsets(all []journal.CommittedOffset) string {
	return listed(all, func(o journal.CommittedOffset) string { return fmt.Sprintf("%s-%d@%d", o.Topic, o.Partition, o.Offset) })
}

func partitions(all []journal.TopicPartition) string {
	return listed(all, func(p journal.TopicPartition) string { return fmt.Sprintf("%s-%d", p.Topic, p.Partition) })
}

// listed are the first few of a list, and how many more there are.
func listed[T any](all []T, text func(T) string) string {
	var list []string
	for i, one := range all {
		if i == maxListed {
			list = append(list, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		list = append(list, text(one))
	}
	return strings.Join(list, ", ")
}

// wordsOfGroups are of what happens to a group as a whole.
func wordsOfGroups(event journal.Event) string {
	switch e := event.(type) {
	case *journal.GroupCreated:
		return fmt.Sprintf("%s group %s was created", e.Type, e.Group)
	case *journal.GroupDeleted:
		return fmt.Sprintf("group %s was deleted", e.Group)
	case *journal.GroupConverted:
		return fmt.Sprintf("group %s became a %s group", e.Group, e.Type)
	case *journal.GroupEmptied:
		return fmt.Sprintf("group %s has no member any more", e.Group)
	case *journal.RebalanceStarted:
		return fmt.Sprintf("group %s began to rebalance: %s%s", e.Group, dashed(e.Reason), of(e.Member))
	case *journal.RebalanceExtended:
		return fmt.Sprintf("group %s waits longer, for members joined", e.Group)
	case *journal.RebalanceInterrupted:
		return fmt.Sprintf("the rebalance of group %s was cut off by a stop of the broker", e.Group)
	case *journal.GenerationStarted:
		return fmt.Sprintf("group %s is in generation %d", e.Group, e.Generation)
	case *journal.AssignmentsMade:
		return fmt.Sprintf("the leader of group %s assigned to %s", e.Group, count(len(e.Assignments), "member"))
	case *journal.ConsumerEpochRaised:
		return fmt.Sprintf("group %s is at epoch %d: %s%s", e.Group, e.Epoch, dashed(e.Reason), of(e.Member))
	case *journal.ConsumerTargetAssigned:
		return fmt.Sprintf("group %s has a target assignment for epoch %d, for %s", e.Group, e.Epoch, count(len(e.Members), "member"))
	case *journal.ShareEpochRaised:
		return fmt.Sprintf("group %s is at epoch %d%s", e.Group, e.Epoch, of(e.Member))
	case *journal.StreamsGroupBumped:
		return fmt.Sprintf("group %s is at epoch %d", e.Group, e.Epoch)
	}
	return ""
}

func dashed(name fmt.Stringer) string { return strings.ReplaceAll(name.String(), "-", " ") }

func of(member string) string {
	if member == "" {
		return ""
	}
	return ", " + member
}

// wordsOfMembers are of what happens to one member.
func (t *Timeline) wordsOfMembers(event journal.Event) string {
	switch e := event.(type) {
	case *journal.MemberIDAssigned:
		return fmt.Sprintf("group %s gave out the member id %s", e.Group, e.Member)
	case *journal.MemberJoined:
		return fmt.Sprintf("%s joined group %s", e.Member, e.Group)
	case *journal.MemberRejoined:
		return fmt.Sprintf("%s joined group %s again", e.Member, e.Group)
	case *journal.MemberSynced:
		return fmt.Sprintf("%s asked group %s for its assignment", e.Member, e.Group)
	case *journal.MemberRemoved:
		return fmt.Sprintf("%s is out of group %s: %s", e.Member, e.Group, dashed(e.Reason))
	case *journal.StaticMemberReplaced:
		return fmt.Sprintf("%s took the place of %s in group %s", e.Member, e.Old, e.Group)
	case *journal.ConsumerMemberJoined:
		return fmt.Sprintf("%s joined group %s", e.Member, e.Group)
	case *journal.ConsumerMemberChanged:
		return fmt.Sprintf("%s of group %s says other things of itself", e.Member, e.Group)
	case *journal.ConsumerMemberReplaced:
		return fmt.Sprintf("%s took the place of %s in group %s", e.Member, e.Old, e.Group)
	case *journal.ConsumerMemberRemoved:
		return fmt.Sprintf("%s is out of group %s: %s", e.Member, e.Group, dashed(e.Reason))
	case *journal.ConsumerMemberReconciled:
		return fmt.Sprintf("%s of group %s is at epoch %d with %s, %s", e.Member, e.Group, e.Epoch, t.owned(e.Assigned), e.State)
	case *journal.ShareMemberJoined:
		return fmt.Sprintf("%s joined share group %s", e.Member, e.Group)
	case *journal.ShareMemberRemoved:
		return fmt.Sprintf("%s is out of share group %s: %s", e.Member, e.Group, dashed(e.Reason))
	case *journal.ShareMemberReconciled:
		return fmt.Sprintf("%s of share group %s is at epoch %d", e.Member, e.Group, e.Epoch)
	case *journal.StreamsMemberMoved:
		return fmt.Sprintf("%s of streams group %s is at epoch %d, %s", e.Member, e.Group, e.Epoch, e.State)
	case *journal.StreamsMemberRemoved:
		return fmt.Sprintf("%s is out of streams group %s: %s", e.Member, e.Group, dashed(e.Reason))
	}
	return ""
}

// owned are partitions that a member has.
func (t *Timeline) owned(all []journal.OwnedPartitions) string {
	if len(all) == 0 {
		return "no partition"
	}
	var list []string
	for i, o := range all {
		if i == maxListed {
			list = append(list, fmt.Sprintf("and %d more topics", len(all)-i))
			break
		}
		list = append(list, fmt.Sprintf("%s%v", t.topic(o.TopicID), o.Partitions))
	}
	return strings.Join(list, ", ")
}

func wordsOfTransactions(event journal.Event) string {
	switch e := event.(type) {
	case *journal.TxnProducerInitialized:
		return fmt.Sprintf("transactional id %s has producer %d, epoch %d", e.ID, e.ProducerID, e.Epoch)
	case *journal.TxnPartitionsAdded:
		return fmt.Sprintf("the transaction of %s takes in %s", e.ID, count(len(e.Partitions), "partition"))
	case *journal.TxnGroupAdded:
		return fmt.Sprintf("the transaction of %s takes in the offsets of group %s", e.ID, e.Group)
	case *journal.TxnOffsetsStaged:
		return fmt.Sprintf("the transaction of %s holds offsets of group %s: %s", e.ID, e.Group, offsets(e.Offsets))
	case *journal.TxnEnding:
		return fmt.Sprintf("the transaction of %s is to be %s", e.ID, verdict(e.Commit))
	case *journal.TxnEnded:
		return fmt.Sprintf("the transaction of %s was %s", e.ID, verdict(e.Commit))
	case *journal.TransactionalIDExpired:
		return fmt.Sprintf("transactional id %s was forgotten", e.ID)
	}
	return ""
}

func verdict(commit bool) string {
	if commit {
		return "committed"
	}
	return "aborted"
}

func wordsOfSchemas(event journal.Event) string {
	switch e := event.(type) {
	case *journal.SchemaRegistered:
		return fmt.Sprintf("subject %s has version %d, %s with id %d", e.Subject, e.Version, e.Type, e.ID)
	case *journal.SchemaVersionsDeleted:
		how := "deleted"
		if e.Permanent {
			how = "deleted for good"
		}
		return fmt.Sprintf("versions %d of subject %s were %s", e.Versions, e.Subject, how)
	case *journal.RegistryConfigSet:
		return fmt.Sprintf("the registry's config of %s was set", scope(e.Scope))
	case *journal.RegistryConfigDeleted:
		return fmt.Sprintf("the registry's config of %s was deleted", scope(e.Scope))
	case *journal.RegistryModeSet:
		return fmt.Sprintf("the registry's mode of %s is %s", scope(e.Scope), e.Mode)
	case *journal.RegistryModeDeleted:
		return fmt.Sprintf("the registry's mode of %s was deleted", scope(e.Scope))
	}
	return ""
}

func scope(s string) string {
	if s == "" {
		return "everything"
	}
	return s
}

func wordsOfBroker(event journal.Event) string {
	switch e := event.(type) {
	case *journal.ClusterCreated:
		return fmt.Sprintf("the cluster %s was created", journal.ID(e.ClusterID))
	case *journal.BrokerStarted:
		return fmt.Sprintf("the broker started, doze %s", e.Version)
	case *journal.StateHashed:
		return fmt.Sprintf("the state after entry %d was hashed", e.Seq)
	case *journal.FeatureUpdated:
		return fmt.Sprintf("feature %s is at level %d", e.Name, e.Level)
	}
	return ""
}
