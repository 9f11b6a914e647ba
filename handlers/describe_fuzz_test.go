package handlers

import (
	"strings"
	"testing"
	"unicode"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Whatever a request decodes to, its description is one short line of printable characters.
func FuzzDescribe(f *testing.F) {
	for key := int16(0); key <= 61; key++ {
		req := kmsg.RequestForKey(key)
		if req == nil {
			continue
		}
		f.Add(key, int16(0), req.AppendTo(nil))
		req.SetVersion(req.MaxVersion())
		f.Add(key, req.MaxVersion(), req.AppendTo(nil))
	}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.MemberID = "g\n\x1b[31m", strings.Repeat("m", 1000)
	f.Add(int16(11), int16(0), join.AppendTo(nil))
	f.Fuzz(func(t *testing.T, key, version int16, body []byte) {
		req := kmsg.RequestForKey(key)
		if req == nil || version < 0 || version > req.MaxVersion() || len(body) > 4096 {
			return
		}
		req.SetVersion(version)
		if req.ReadFrom(body) != nil {
			return
		}
		line := Describe(req)
		if len(line) > maxDescription+len(" ...") {
			t.Errorf("%d bytes: %q", len(line), line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }) {
			t.Errorf("not a printable line: %q", line)
		}
	})
}
