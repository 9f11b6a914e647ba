package wire

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// What Java's decoder makes of malformed UTF-8.
func TestValidText(t *testing.T) {
	for in, want := range map[string]string{
		"name":                   "name",
		"\xff\xfe":               "\ufffd\ufffd",
		"a\xe2\x82":              "a\ufffd",
		"\xe2\x82a":              "\ufffda",
		"\xe2a\x82":              "\ufffda\ufffd",
		"\xed\xa0\x80":           "\ufffd",
		"\xe0\x80\x80":           "\ufffd\ufffd\ufffd",
		"\xf0\x9f\x98":           "\ufffd",
		"\xf0\x9f\x98a":          "\ufffda",
		"\xf0\x80\x80\x80":       "\ufffd\ufffd\ufffd\ufffd",
		"\xf4\x90\x80\x80":       "\ufffd\ufffd\ufffd\ufffd",
		"\xc0\x80":               "\ufffd\ufffd",
		"\xc3":                   "\ufffd",
		"\xf5\x80":               "\ufffd\ufffd",
		"\ufffd\u00e4\U0001f600": "\ufffd\u00e4\U0001f600",
	} {
		if got := validText([]byte(in)); got != want {
			t.Errorf("% x becomes %q, want %q", in, got, want)
		}
	}
}

func TestStringsThatAreNotUTF8AreMended(t *testing.T) {
	got := make(chan *kmsg.JoinGroupRequest, 1)
	_, l := start(t, Options{}, table{11: func(ctx context.Context, r *Request) (Reply, error) {
		got <- r.Body.(*kmsg.JoinGroupRequest)
		return answerDefault(ctx, r)
	}})
	join := NewRequest(11, 9).(*kmsg.JoinGroupRequest)
	join.Group, join.InstanceID = "g\xff", kmsg.StringPtr("\xfe")
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "\xc0", Metadata: []byte{0xff}}}
	dial(t, l).ask(join, 1)
	r := <-got
	if r.Group != "g\ufffd" || *r.InstanceID != "\ufffd" || r.Protocols[0].Name != "\ufffd" || r.Protocols[0].Metadata[0] != 0xff {
		t.Errorf("got %+v", r)
	}
}
