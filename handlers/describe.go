package handlers

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxDescription bounds a description: it is for a line of a log.
const maxDescription = 200

// Describe says in a few words what a request asks for: the topics and groups that it names, at most a line's worth. Names
// are quoted when they hold anything but printable ASCII.
//
//fuzz:parser class=observer FuzzDescribe
func Describe(body kmsg.Request) string {
	d := description{}
	switch req := body.(type) {
	case *kmsg.ProduceRequest:
		d.add("acks=%d", req.Acks)
		for _, t := range req.Topics {
			d.topic(t.Topic, t.TopicID, len(t.Partitions))
		}
	case *kmsg.FetchRequest:
		d.add("session=%d/%d wait=%dms", req.SessionID, req.SessionEpoch, req.MaxWaitMillis)
		for _, t := range req.Topics {
			d.topic(t.Topic, t.TopicID, len(t.Partitions))
		}
	case *kmsg.ListOffsetsRequest:
		for _, t := range req.Topics {
			d.topic(t.Topic, [16]byte{}, len(t.Partitions))
		}
	case *kmsg.MetadataRequest:
		d.metadata(req)
	case *kmsg.CreateTopicsRequest:
		for _, t := range req.Topics {
			d.topic(t.Topic, [16]byte{}, int(t.NumPartitions))
		}
	case *kmsg.DeleteTopicsRequest:
		for _, name := range req.TopicNames {
			d.topic(name, [16]byte{}, 0)
		}
		for _, t := range req.Topics {
			d.topic(value(t.Topic), t.TopicID, 0)
		}
	default:
		d.group(body)
	}
	return d.String()
}

// group describes the requests that name a group.
func (d *description) group(body kmsg.Request) {
	switch req := body.(type) {
	case *kmsg.JoinGroupRequest:
		d.add("group=%s member=%s", shown(req.Group), shown(req.MemberID))
	case *kmsg.SyncGroupRequest:
		d.add("group=%s member=%s generation=%d", shown(req.Group), shown(req.MemberID), req.Generation)
	case *kmsg.HeartbeatRequest:
		d.add("group=%s member=%s generation=%d", shown(req.Group), shown(req.MemberID), req.Generation)
	case *kmsg.LeaveGroupRequest:
		d.add("group=%s", shown(req.Group))
	case *kmsg.OffsetCommitRequest:
		d.add("group=%s", shown(req.Group))
		for _, t := range req.Topics {
			d.topic(t.Topic, t.TopicID, len(t.Partitions))
		}
	case *kmsg.OffsetFetchRequest:
		if req.Group != "" {
			d.add("group=%s", shown(req.Group))
		}
		for _, g := range req.Groups {
			d.add("group=%s", shown(g.Group))
		}
	case *kmsg.FindCoordinatorRequest:
		d.add("key=%s", shown(req.CoordinatorKey))
		for _, key := range req.CoordinatorKeys {
			d.add("key=%s", shown(key))
		}
	case *kmsg.DescribeGroupsRequest:
		for _, group := range req.Groups {
			d.add("group=%s", shown(group))
		}
	}
}

// description is words with spaces between them, up to maxDescription bytes.
type description struct {
	strings.Builder
	full bool
}

func (d *description) add(format string, args ...any) {
	if d.full {
		return
	}
	word := fmt.Sprintf(format, args...)
	if d.Len()+1+len(word) > maxDescription {
		d.full = true
		d.WriteString(" ...")
		return
	}
	if d.Len() > 0 {
		d.WriteByte(' ')
	}
	d.WriteString(word)
}

// topic names a topic, by its id when that is all there is, with a number of partitions.
func (d *description) topic(name string, id [16]byte, partitions int) {
	if d.full {
		return
	}
	named := shown(name)
	if name == "" && id != ([16]byte{}) {
		named = fmt.Sprintf("%x", id)
	}
	if partitions > 0 {
		d.add("%s[%d]", named, partitions)
		return
	}
	d.add("%s", named)
}

func (d *description) metadata(req *kmsg.MetadataRequest) {
	if req.Topics == nil {
		d.add("all topics")
	}
	for _, t := range req.Topics {
		d.topic(value(t.Topic), t.TopicID, 0)
	}
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// shown is a name as it may stand in a line: itself, or quoted, cut to a length.
func shown(name string) string {
	const longest = 80
	if len(name) > longest {
		return fmt.Sprintf("%+q...", name[:longest])
	}
	plain := name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' })
	if plain {
		return name
	}
	return fmt.Sprintf("%+q", name)
}
