package handlers

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// What the recordings do not have: several entries in lists within lists, and every list of the table is there in both messages.
func TestOutOfPlaceNamesEachThing(t *testing.T) {
	req := kmsg.NewPtrElectLeadersRequest()
	req.Version = 2
	req.Topics = []kmsg.ElectLeadersRequestTopic{{Topic: "a", Partitions: []int32{0, 3}}, {Topic: "b", Partitions: []int32{1}}}
	resp := outOfPlaceAnswer(&wire.Request{Key: 43, Version: 2, Body: req}).(*kmsg.ElectLeadersResponse)
	if len(resp.Topics) != 2 || len(resp.Topics[0].Partitions) != 2 {
		t.Fatalf("the answer has %+v", resp.Topics)
	}
	if p := resp.Topics[0].Partitions[1]; p.Partition != 3 || p.ErrorCode != illegalSASLState || p.ErrorMessage == nil {
		t.Errorf("the second partition is %+v", p)
	}
	for key := range answeredLists {
		r := &wire.Request{Key: key, Body: kmsg.RequestForKey(key)}
		for r.Version = range r.Body.MaxVersion() + 1 {
			r.Body.SetVersion(r.Version)
			outOfPlaceAnswer(r) // a list that is not there is a panic
		}
	}
}

func TestOutOfPlaceProduceIsReadFirst(t *testing.T) {
	req := kmsg.NewPtrProduceRequest()
	req.Acks = 1
	partition := kmsg.NewProduceRequestTopicPartition()
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: "a", Partitions: []kmsg.ProduceRequestTopicPartition{partition}}}
	if hasOutOfPlaceAnswer(req) {
		t.Error("Produce without records is answered")
	}
	req.Topics[0].Partitions[0].Records = []byte{}
	if !hasOutOfPlaceAnswer(req) {
		t.Error("Produce with records is not answered")
	}
	req.Acks = 0
	if hasOutOfPlaceAnswer(req) {
		t.Error("Produce without acks is answered")
	}
}
