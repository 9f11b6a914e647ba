package console

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Records of Kafka's own topics are read; one of a kind that is not known is shown as it is.
func TestInternalTopics(t *testing.T) {
	offset := kmsg.OffsetCommitValue{Version: 3, Offset: 9007199254740993, LeaderEpoch: 2, Metadata: "<b>", CommitTimestamp: 5}
	group := kmsg.GroupMetadataValue{Version: 3, ProtocolType: "consumer", Generation: 4, Members: []kmsg.GroupMetadataValueMember{{MemberID: "m", ClientID: "c", ClientHost: "/h"}}}
	transaction := kmsg.TxnMetadataValue{ProducerID: 7, State: kmsg.TransactionStateOngoing, Topics: []kmsg.TxnMetadataValueTopic{{Topic: "t", Partitions: []int32{0, 2}}}}
	for _, at := range []struct {
		topic      string
		key, value []byte
		want       [2]string // in a line
		as         string
	}{
		{offsetsTopic, (&kmsg.OffsetCommitKey{Version: 1, Group: "g", Topic: "t", Partition: 3}).AppendTo(nil), offset.AppendTo(nil),
			[2]string{`{"group":"g","topic":"t","partition":3}`, `{"offset":9007199254740993,"leaderEpoch":2,"metadata":"<b>","commitTimestamp":5}`}, "committed offset"},
		{offsetsTopic, (&kmsg.GroupMetadataKey{Version: 2, Group: "g"}).AppendTo(nil), group.AppendTo(nil),
			[2]string{`{"group":"g"}`, `{"protocolType":"consumer","generation":4,"protocol":null,"leader":null,"members":[{"memberId":"m","clientId":"c","clientHost":"/h"}]}`}, "state of a group"},
		{transactionsTopic, (&kmsg.TxnMetadataKey{TransactionalID: "x"}).AppendTo(nil), transaction.AppendTo(nil),
			[2]string{`{"transactionalId":"x"}`, `{"state":"Ongoing","producerId":7,"producerEpoch":0,"timeoutMs":0,"topics":[{"topic":"t","partitions":[0,2]}],"lastUpdateTimestamp":0}`}, "state of a transaction"},
		{offsetsTopic, []byte{0, 9, 1}, nil, [2]string{"00000000  00 09 01                                          |...|", ""}, "null"},
		{"orders", (&kmsg.GroupMetadataKey{Version: 2, Group: "g"}).AppendTo(nil), []byte("v"), [2]string{"00000000  00 02 00 01 67                                    |....g|", "v"}, "text"},
	} {
		r := &kgo.Record{Topic: at.topic, Key: at.key, Value: at.value}
		key, value := decoder{}.keyOf(t.Context(), r), decoder{}.valueOf(t.Context(), r)
		if key.JSON && key.Line() != at.want[0] || value.JSON && value.Line() != at.want[1] || value.As != at.as || !key.JSON && key.As != "hex" {
			t.Errorf("%s %x: %+v %+v", at.topic, at.key, key, value)
		}
	}
	if hexed := (decoder{value: "hex"}).valueOf(t.Context(), &kgo.Record{Topic: offsetsTopic, Key: []byte{0, 2, 0, 0}, Value: group.AppendTo(nil)}); hexed.As != "hex" {
		t.Errorf("as %s, and hex was chosen", hexed.As)
	}
	group.Members[0].ClientID = strings.Repeat("c", maxInternal)
	large := decoder{}.valueOf(t.Context(), &kgo.Record{Topic: offsetsTopic, Key: []byte{0, 2, 0, 0}, Value: group.AppendTo(nil)})
	if large.JSON || large.As == "state of a group" {
		t.Errorf("a value beyond the bound is read: as %s", large.As)
	}
}
