package handlers

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
)

// What transcripts say: the state of groups, entries of the journal and answers, as text.

func rowsOf(t testing.TB, s *projections.State) (rows []string) {
	t.Helper()
	if err := s.Rows(func(row []byte) error { rows = append(rows, string(row)); return nil }); err != nil {
		t.Fatal(err)
	}
	return rows
}

func dumpGroups(s *projections.State) string {
	var out strings.Builder
	s.Groups.Each("", func(g *projections.Group) bool {
		if g.Streams != nil {
			dumpStreams(&out, g)
			dumpOffsets(&out, s, g.ID)
			return true
		}
		if g.Consumer != nil {
			dumpConsumers(&out, s, g)
			dumpOffsets(&out, s, g.ID)
			return true
		}
		fmt.Fprintf(&out, "group %s %s generation=%d type=%q protocol=%q leader=%q\n", g.ID, g.State, g.Generation, g.ProtocolType, g.Protocol, g.Leader)
		for _, p := range g.Pending {
			fmt.Fprintf(&out, "  pending %s\n", p.ID)
		}
		for _, m := range g.Members {
			fmt.Fprintf(&out, "  member %s", m.ID)
			if m.Static {
				fmt.Fprintf(&out, " instance=%s", m.InstanceID)
			}
			fmt.Fprintf(&out, " session=%d rebalance=%d assignment=%q", m.SessionTimeoutMs, m.RebalanceTimeoutMs, m.Assignment)
			for _, flag := range []struct {
				name string
				on   bool
			}{{"new", m.New}, {"rejoins", m.Rejoins}, {"synced", m.Synced}, {"syncs", m.Syncs}} {
				if flag.on {
					fmt.Fprintf(&out, " %s", flag.name)
				}
			}
			for _, p := range m.Protocols {
				fmt.Fprintf(&out, " %s:%q", p.Name, p.Metadata)
			}
			out.WriteString("\n")
		}
		dumpOffsets(&out, s, g.ID)
		return true
	})
	return out.String()
}

func dumpOffsets(out *strings.Builder, s *projections.State, group string) {
	s.Offsets.OfGroup(group, func(t *projections.OffsetsOfTopic) bool {
		s.Offsets.OfTopic(t, func(o projections.CommittedOffset) bool {
			fmt.Fprintf(out, "  offset %s/%d %d epoch=%d metadata=%q at=+%s", t.Topic, o.Partition, o.Offset, o.LeaderEpoch, o.Metadata, time.Duration(o.CommitAt-benchStart)*time.Millisecond)
			if o.ExpireAt != -1 {
				fmt.Fprintf(out, " until=+%s", time.Duration(o.ExpireAt-benchStart)*time.Millisecond)
			}
			out.WriteString("\n")
			return true
		})
		return true
	})
}

// describe prints an event by its fields, leaving out those that are zero.
func describe(e journal.Event) string {
	v := reflect.ValueOf(e).Elem()
	return v.Type().Name() + describeFields(v)
}

func describeFields(v reflect.Value) string {
	var out strings.Builder
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() {
			continue
		}
		name := v.Type().Field(i).Name
		switch {
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			for j := range f.Len() {
				fmt.Fprintf(&out, " %s[%d]{%s}", name, j, strings.TrimSpace(describeFields(f.Index(j))))
			}
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Uint8:
			fmt.Fprintf(&out, " %s=%q", name, f.Bytes())
		default:
			fmt.Fprintf(&out, " %s=%v", name, f.Interface())
		}
	}
	return out.String()
}

func describeAnswer(resp any) string {
	switch r := resp.(type) {
	case *kmsg.JoinGroupResponse:
		if r.ErrorCode != 0 {
			return fmt.Sprintf("join %s member=%q", codeName(r.ErrorCode), r.MemberID)
		}
		s := fmt.Sprintf("join generation=%d protocol=%s leader=%s member=%s", r.Generation, *r.Protocol, r.LeaderID, r.MemberID)
		if r.SkipAssignment {
			s += " skip"
		}
		for _, m := range r.Members {
			s += fmt.Sprintf(" %s:%q", m.MemberID, m.ProtocolMetadata)
		}
		return s
	case *kmsg.SyncGroupResponse:
		if r.ErrorCode != 0 {
			return "sync " + codeName(r.ErrorCode)
		}
		shown := func(s *string) string {
			if s == nil {
				return "null"
			}
			return *s
		}
		return fmt.Sprintf("sync %s/%s %q", shown(r.ProtocolType), shown(r.Protocol), r.MemberAssignment)
	}
	return fmt.Sprintf("%T", resp)
}

func codeName(code int16) string {
	names := map[int16]string{
		-1: "UNKNOWN_SERVER_ERROR", 0: "NONE", 22: "ILLEGAL_GENERATION", 23: "INCONSISTENT_GROUP_PROTOCOL", 25: "UNKNOWN_MEMBER_ID",
		27: "REBALANCE_IN_PROGRESS", 28: "INVALID_COMMIT_OFFSET_SIZE", 79: "MEMBER_ID_REQUIRED", 81: "GROUP_MAX_SIZE_REACHED", 82: "FENCED_INSTANCE_ID",
	}
	if n, ok := names[code]; ok {
		return n
	}
	return strconv.Itoa(int(code))
}
