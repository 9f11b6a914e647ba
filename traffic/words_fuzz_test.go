package traffic

import (
	"doze/console/inside"
	"strings"
	"testing"
	"unicode"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Whatever a request or an answer decodes to, what is said of it is one short line of printable characters, its fields are
// bounded, and of what lets people in nothing is told but what may be.
func FuzzWords(f *testing.F) {
	for key := int16(0); key <= 92; key++ {
		req := kmsg.RequestForKey(key)
		if req == nil {
			continue
		}
		f.Add(key, int16(0), false, req.AppendTo(nil))
		req.SetVersion(req.MaxVersion())
		f.Add(key, req.MaxVersion(), false, req.AppendTo(nil))
		resp := req.ResponseKind()
		f.Add(key, req.MaxVersion(), true, resp.AppendTo(nil))
	}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.MemberID = "g\n\x1b[31m", strings.Repeat("m", 1000)
	f.Add(int16(11), int16(0), false, join.AppendTo(nil))
	for _, m := range secretMessages() {
		m.SetVersion(m.MaxVersion())
		f.Add(m.Key(), m.MaxVersion(), false, m.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, key, version int16, answer bool, body []byte) {
		req := kmsg.RequestForKey(key)
		if req == nil || version < 0 || version > req.MaxVersion() || len(body) > 4096 {
			return
		}
		req.SetVersion(version)
		var message any = req
		line := func() string { return Asked(req, nil) }
		if answer {
			resp := req.ResponseKind()
			resp.SetVersion(version)
			if resp.ReadFrom(body) != nil {
				return
			}
			message, line = resp, func() string { return Got(resp, nil) }
			find(req, resp, nil)
		} else if req.ReadFrom(body) != nil {
			return
		}
		checkLine(t, line())
		checkFields(t, key, message)
	})
}

func checkLine(t *testing.T, line string) {
	t.Helper()
	if len(line) > maxWords+len(" ...") {
		t.Errorf("%d bytes: %q", len(line), line)
	}
	if strings.ContainsFunc(line, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }) {
		t.Errorf("not a printable line: %q", line)
	}
}

func checkFields(t *testing.T, key int16, message any) {
	t.Helper()
	var records []recordSum
	if req, ok := message.(*kmsg.ProduceRequest); ok {
		_, records = withoutRecords(req)
	}
	lines, _ := openFields(key, message, records, nil)
	if len(lines) > maxLines {
		t.Errorf("%d lines", len(lines))
	}
	for _, l := range lines {
		if len(l.Value) > 3*maxLineBytes || len(l.Name) > 100 || l.Depth > maxDepth+1 {
			t.Errorf("a line of %d bytes at depth %d: %.60s", len(l.Value), l.Depth, l.Value)
		}
		lower := strings.ToLower(l.Name)
		if secretive(key) && l.Value != inside.Hidden && (strings.Contains(lower, "bytes") || strings.Contains(lower, "salt") || lower == "hmac" || lower == "tokenid") {
			t.Errorf("%s is shown: %q", l.Name, l.Value)
		}
	}
}
