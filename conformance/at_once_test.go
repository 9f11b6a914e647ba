package conformance

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A topic is there, for every connection, when the answer that it was created is sent. Kafka may need a moment.
func TestATopicIsThereWhenItsCreationIsAnswered(t *testing.T) {
	b, err := startInProcess(dozeOptions(Scenario{}, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer closeInTime(t, b)
	script := Scenario{Name: "at-once", Run: func(c *C) {
		for i := range 200 {
			name := fmt.Sprint("at-once-", i)
			c.Conn("a").Do("create", noConfigs, createTopic(name, 1))
			there := Ask[*kmsg.MetadataResponse](c.Conn("b"), "metadata", 9, metadataFor(name))
			produced := Ask[*kmsg.ProduceResponse](c.Conn("c"), "produce", 9, produceOne(name, 0, -1, Values("a").Bytes()))
			fetched := Ask[*kmsg.FetchResponse](c.Conn("b"), "fetch", 12, fetchAt(name, 0, 0))
			if there.Topics[0].ErrorCode != 0 || produced.Topics[0].Partitions[0].ErrorCode != 0 || len(fetched.Topics[0].Partitions[0].RecordBatches) == 0 {
				c.Fatalf("%s is not there yet: %+v %+v %+v", name, there.Topics, produced.Topics, fetched.Topics)
			}
		}
	}}
	if _, err := Play(script, b); err != nil {
		t.Error(err)
	}
}
