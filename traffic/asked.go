package traffic

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Asked says in a few words what a request asks for: the topics and groups that it names, and what matters of it, at most a
// line's worth. Names are quoted when they hold anything but printable ASCII. name may be nil.
//
//fuzz:parser class=observer FuzzWords
func Asked(body kmsg.Request, name TopicNamer) string { return asked(body, nil, name) }

// asked is Asked of a request whose records are not in it any more.
func asked(body kmsg.Request, records []recordSum, name TopicNamer) string {
	w := &words{name: name}
	switch {
	case secretive(body.Key()):
		w.secretive(body)
	case w.askedRecords(body, records), w.askedOfTopics(body), w.askedOfGroups(body), w.askedOfTransactions(body), w.askedOfLiveGroups(body), w.askedOfCluster(body):
	default:
		w.plain(body)
	}
	return w.String()
}

// askedRecords describes the requests that move records.
func (w *words) askedRecords(body kmsg.Request, records []recordSum) bool {
	switch req := body.(type) {
	case *kmsg.ProduceRequest:
		w.produced(req, records)
	case *kmsg.FetchRequest:
		w.add("session=%d/%d wait=%dms", req.SessionID, req.SessionEpoch, req.MaxWaitMillis)
		for _, t := range req.Topics {
			w.topic(t.Topic, t.TopicID, len(t.Partitions))
		}
	case *kmsg.ShareFetchRequest:
		w.add("group=%s member=%s epoch=%d", shown(value(req.GroupID)), shown(value(req.MemberID)), req.ShareSessionEpoch)
		for _, t := range req.Topics {
			w.topic("", t.TopicID, len(t.Partitions))
		}
	case *kmsg.ShareAcknowledgeRequest:
		w.add("group=%s member=%s", shown(value(req.GroupID)), shown(value(req.MemberID)))
		for _, t := range req.Topics {
			w.topic("", t.TopicID, len(t.Partitions))
		}
	default:
		return false
	}
	return true
}

func (w *words) produced(req *kmsg.ProduceRequest, records []recordSum) {
	w.add("acks=%d", req.Acks)
	if id := value(req.TransactionID); id != "" {
		w.add("transaction=%s", shown(id))
	}
	for _, t := range req.Topics {
		w.topic(t.Topic, t.TopicID, len(t.Partitions))
	}
	var sum recordSum
	for _, r := range records {
		sum.bytes += r.bytes
		sum.records += r.records
	}
	if sum.bytes > 0 {
		w.add("%d records, %d B", sum.records, sum.bytes)
	}
}

// askedOfTopics describes the requests about topics and partitions.
func (w *words) askedOfTopics(body kmsg.Request) bool {
	switch req := body.(type) {
	case *kmsg.ListOffsetsRequest:
		for _, t := range req.Topics {
			w.topic(t.Topic, [16]byte{}, len(t.Partitions))
			for _, p := range t.Partitions {
				w.add("%d@%s", p.Partition, offsetTime(p.Timestamp))
			}
		}
	case *kmsg.MetadataRequest:
		w.metadata(req)
	case *kmsg.CreateTopicsRequest:
		for _, t := range req.Topics {
			w.topic(t.Topic, [16]byte{}, int(t.NumPartitions))
		}
	case *kmsg.DeleteTopicsRequest:
		for _, name := range req.TopicNames {
			w.topic(name, [16]byte{}, 0)
		}
		for _, t := range req.Topics {
			w.topic(value(t.Topic), t.TopicID, 0)
		}
	case *kmsg.CreatePartitionsRequest:
		for _, t := range req.Topics {
			w.add("%s to %d partitions", shown(t.Topic), t.Count)
		}
	case *kmsg.DeleteRecordsRequest:
		for _, t := range req.Topics {
			for _, p := range t.Partitions {
				w.add("%s-%d before %d", shown(t.Topic), p.Partition, p.Offset)
			}
		}
	case *kmsg.OffsetForLeaderEpochRequest:
		for _, t := range req.Topics {
			w.topic(t.Topic, [16]byte{}, len(t.Partitions))
		}
	case *kmsg.DescribeTopicPartitionsRequest:
		for _, t := range req.Topics {
			w.topic(t.Topic, [16]byte{}, 0)
		}
	default:
		return false
	}
	return true
}

// offsetTime is a timestamp of ListOffsets, whose negative numbers have names.
func offsetTime(ms int64) string {
	switch ms {
	case -1:
		return "latest"
	case -2:
		return "earliest"
	case -3:
		return "max-timestamp"
	case -4:
		return "earliest-local"
	case -5:
		return "latest-tiered"
	}
	return fmt.Sprintf("%dms", ms)
}

func (w *words) metadata(req *kmsg.MetadataRequest) {
	if req.Topics == nil {
		w.add("all topics")
	}
	for _, t := range req.Topics {
		w.topic(value(t.Topic), t.TopicID, 0)
	}
}

// askedOfGroups describes the requests that name a group of the classic protocol, or the offsets of any.
func (w *words) askedOfGroups(body kmsg.Request) bool {
	switch req := body.(type) {
	case *kmsg.JoinGroupRequest:
		w.add("group=%s member=%s", shown(req.Group), shown(req.MemberID))
		if req.Reason != nil && *req.Reason != "" {
			w.add("because %s", shown(*req.Reason))
		}
	case *kmsg.SyncGroupRequest:
		w.add("group=%s member=%s generation=%d", shown(req.Group), shown(req.MemberID), req.Generation)
		if n := len(req.GroupAssignment); n > 0 {
			w.add("assigns to %d members", n)
		}
	case *kmsg.HeartbeatRequest:
		w.add("group=%s member=%s generation=%d", shown(req.Group), shown(req.MemberID), req.Generation)
	case *kmsg.LeaveGroupRequest:
		w.add("group=%s", shown(req.Group))
		if req.MemberID != "" {
			w.add("member=%s", shown(req.MemberID))
		}
		for _, m := range req.Members {
			w.add("member=%s", shown(m.MemberID))
		}
	case *kmsg.OffsetCommitRequest:
		w.add("group=%s", shown(req.Group))
		for _, t := range req.Topics {
			name := shown(w.topicName(t.Topic, t.TopicID))
			for _, p := range t.Partitions {
				w.add("%s-%d@%d", name, p.Partition, p.Offset)
			}
		}
	case *kmsg.OffsetFetchRequest:
		if req.Group != "" {
			w.add("group=%s", shown(req.Group))
		}
		for _, g := range req.Groups {
			w.add("group=%s", shown(g.Group))
		}
	case *kmsg.OffsetDeleteRequest:
		w.add("group=%s", shown(req.Group))
		for _, t := range req.Topics {
			w.topic(t.Topic, [16]byte{}, len(t.Partitions))
		}
	case *kmsg.FindCoordinatorRequest:
		if req.CoordinatorKey != "" {
			w.add("key=%s", shown(req.CoordinatorKey))
		}
		for _, key := range req.CoordinatorKeys {
			w.add("key=%s", shown(key))
		}
	case *kmsg.DescribeGroupsRequest:
		w.groups(req.Groups)
	case *kmsg.DeleteGroupsRequest:
		w.groups(req.Groups)
	default:
		return false
	}
	return true
}

func (w *words) groups(groups []string) {
	for _, group := range groups {
		w.add("group=%s", shown(group))
	}
}

// askedOfLiveGroups describes the requests of groups that live in heartbeats.
func (w *words) askedOfLiveGroups(body kmsg.Request) bool {
	switch req := body.(type) {
	case *kmsg.ConsumerGroupHeartbeatRequest:
		w.add("group=%s member=%s epoch=%d", shown(req.Group), shown(req.MemberID), req.MemberEpoch)
		w.names("subscribes to", req.SubscribedTopicNames)
		if req.SubscribedTopicRegex != nil {
			w.add("regex=%s", shown(*req.SubscribedTopicRegex))
		}
		if req.Topics != nil {
			w.add("owns %d topics", len(req.Topics))
		}
	case *kmsg.ShareGroupHeartbeatRequest:
		w.add("group=%s member=%s epoch=%d", shown(req.GroupID), shown(req.MemberID), req.MemberEpoch)
		w.names("subscribes to", req.SubscribedTopicNames)
	case *kmsg.StreamsGroupHeartbeatRequest:
		w.add("group=%s member=%s epoch=%d", shown(req.Group), shown(req.MemberID), req.MemberEpoch)
	case *kmsg.ConsumerGroupDescribeRequest:
		w.groups(req.Groups)
	case *kmsg.ShareGroupDescribeRequest:
		w.groups(req.GroupIDs)
	default:
		return false
	}
	return true
}

func (w *words) names(what string, names []string) {
	if len(names) == 0 {
		return
	}
	all := make([]string, 0, min(len(names), 20))
	for _, name := range names[:min(len(names), 20)] {
		all = append(all, shown(name))
	}
	w.add("%s %s", what, cut(strings.Join(all, ","), maxWords/2))
}

// askedOfTransactions describes the requests of producers.
func (w *words) askedOfTransactions(body kmsg.Request) bool {
	switch req := body.(type) {
	case *kmsg.InitProducerIDRequest:
		if id := value(req.TransactionalID); id != "" {
			w.add("transaction=%s timeout=%dms", shown(id), req.TransactionTimeoutMillis)
		}
	case *kmsg.AddPartitionsToTxnRequest:
		w.add("transaction=%s", shown(req.TransactionalID))
		for _, t := range req.Topics {
			w.topic(t.Topic, [16]byte{}, len(t.Partitions))
		}
		for _, txn := range req.Transactions {
			w.add("transaction=%s", shown(txn.TransactionalID))
			for _, t := range txn.Topics {
				w.topic(t.Topic, [16]byte{}, len(t.Partitions))
			}
		}
	case *kmsg.AddOffsetsToTxnRequest:
		w.add("transaction=%s group=%s", shown(req.TransactionalID), shown(req.Group))
	case *kmsg.EndTxnRequest:
		verdict := "abort"
		if req.Commit {
			verdict = "commit"
		}
		w.add("%s transaction=%s producer=%d/%d", verdict, shown(req.TransactionalID), req.ProducerID, req.ProducerEpoch)
	case *kmsg.TxnOffsetCommitRequest:
		w.add("transaction=%s group=%s", shown(req.TransactionalID), shown(req.Group))
		for _, t := range req.Topics {
			for _, p := range t.Partitions {
				w.add("%s-%d@%d", shown(w.topicName(t.Topic, [16]byte{})), p.Partition, p.Offset)
			}
		}
	default:
		return false
	}
	return true
}

// askedOfCluster describes requests of administration.
func (w *words) askedOfCluster(body kmsg.Request) bool {
	switch req := body.(type) {
	case *kmsg.ApiVersionsRequest:
		if req.ClientSoftwareName != "" {
			w.add("%s %s", shown(req.ClientSoftwareName), shown(req.ClientSoftwareVersion))
		}
	case *kmsg.DescribeConfigsRequest:
		for _, r := range req.Resources {
			w.add("%s", resource(int8(r.ResourceType), r.ResourceName))
		}
	case *kmsg.AlterConfigsRequest:
		for _, r := range req.Resources {
			w.add("%s", resource(int8(r.ResourceType), r.ResourceName))
			for _, c := range r.Configs {
				w.add("%s=%s", shown(c.Name), configShown(c.Name, c.Value))
			}
		}
	case *kmsg.IncrementalAlterConfigsRequest:
		for _, r := range req.Resources {
			w.add("%s", resource(int8(r.ResourceType), r.ResourceName))
			for _, c := range r.Configs {
				w.add("%s %s=%s", strings.ToLower(c.Op.String()), shown(c.Name), configShown(c.Name, c.Value))
			}
		}
	default:
		return false
	}
	return true
}

// resource is a resource of configs: its kind and name.
func resource(kind int8, name string) string {
	kinds := map[int8]string{2: "topic", 4: "broker", 8: "broker-logger", 16: "client-metrics", 32: "group"}
	if named, known := kinds[kind]; known {
		return named + ":" + shown(name)
	}
	return fmt.Sprintf("%d:%s", kind, shown(name))
}
