package handlers

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestShareNamesOfSpaces: a name is empty when nothing is left of it without its spaces, as for every other type of group.
func TestShareNamesOfSpaces(t *testing.T) {
	b := startTestBroker(t, nil).connect()
	for want, change := range map[string]func(*kmsg.ShareGroupHeartbeatRequest){
		"MemberId can't be empty.": func(r *kmsg.ShareGroupHeartbeatRequest) { r.MemberID = " \t" },
		"GroupId can't be empty.":  func(r *kmsg.ShareGroupHeartbeatRequest) { r.GroupID = " " },
		"RackId can't be empty.":   func(r *kmsg.ShareGroupHeartbeatRequest) { r.RackID = kmsg.StringPtr("  ") },
	} {
		req := kmsg.NewPtrShareGroupHeartbeatRequest()
		req.GroupID, req.MemberID, req.SubscribedTopicNames = "g", "m", []string{"t"}
		change(req)
		resp := request[*kmsg.ShareGroupHeartbeatResponse](b, req, 1)
		if resp.ErrorCode != invalidRequest || resp.ErrorMessage == nil || *resp.ErrorMessage != want {
			t.Errorf("%d %v, want %q", resp.ErrorCode, resp.ErrorMessage, want)
		}
	}
}
