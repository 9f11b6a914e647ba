package recording

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Every message of kmsg at every version can be shown, and later versions never show fewer fields than they encode.
func TestEveryMessageCanBeShown(t *testing.T) {
	for key := range int16(kmsg.MaxKey + 1) {
		req := kmsg.RequestForKey(key)
		if req == nil {
			continue
		}
		for v := range req.MaxVersion() + 1 {
			req.SetVersion(v)
			resp := req.ResponseKind()
			resp.SetVersion(v)
			MessageValue(req)
			if len(MessageValue(resp)) == 0 {
				t.Errorf("%s: the answer shows no field", APIName(key, v))
			}
		}
	}
}

func TestFieldsShownAreThoseOfTheVersion(t *testing.T) {
	resp := kmsg.NewPtrCreateTopicsResponse()
	resp.Topics = []kmsg.CreateTopicsResponseTopic{kmsg.NewCreateTopicsResponseTopic()}
	for version, want := range map[int16]bool{4: false, 7: true} {
		resp.SetVersion(version)
		text, err := MessageValue(resp).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(text), "TopicID"); got != want {
			t.Errorf("version %d shows a topic id: %v", version, got)
		}
	}
}
