package journal

import (
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		event Event
		want  string
	}{
		{&TopicCreated{ID: [16]byte{9}, Name: "orders", Partitions: 3, Configs: []ConfigPair{{"a", "b c"}}},
			`TopicCreated topicId=CQAAAAAAAAAAAAAAAAAAAA topic=orders partitions=3 configs=[{name=a value="b c"}]`},
		{&StateHashed{Seq: 7}, "StateHashed seq=7 hash=" + strings.Repeat("0", 64)},
		{&GroupDeleted{Group: "g\nx\x1b[2J"}, `GroupDeleted group="g\nx\x1b[2J"`},
		{&OffsetsDeleted{Group: ""}, `OffsetsDeleted group="" partitions=[]`},
		{&OffsetsDeleted{Group: "g", Partitions: make([]TopicPartition, 18)},
			`OffsetsDeleted group=g partitions=[` + strings.Repeat(`{topic="" partition=0} `, 16) + `+2]`},
	} {
		if got := Line(c.event); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestEverySampleHasALine(t *testing.T) {
	for _, e := range samples {
		if got := Line(e); strings.Contains(got, "\n") || !strings.HasPrefix(got, e.Kind().Name()+" ") {
			t.Errorf("line %q", got)
		}
	}
}

func TestFieldNames(t *testing.T) {
	for in, want := range map[string]string{"TopicID": "topicId", "ISR": "isr", "Group": "group", "CommitAt": "commitAt", "ClusterID": "clusterId", "SessionTimeoutMs": "sessionTimeoutMs"} {
		if got := lowerFirst(in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}
