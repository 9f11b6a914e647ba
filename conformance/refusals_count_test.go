package conformance

import (
	"strings"
	"testing"

	"doze/conformance/recording"
)

// Of each kind of group there are recorded at least as many refusals as successes.
func TestRefusalsAreAsManyAsSuccesses(t *testing.T) {
	for kind, prefixes := range map[string][]string{
		"classic": {"group-", "offset-"}, "consumer": {"consumer-"}, "share": {"share-"}, "streams": {"streams-"},
	} {
		refused, taken := 0, 0
		for _, s := range Scenarios() {
			if !hasAnyPrefix(s.Name, prefixes) {
				continue
			}
			rec, err := recording.Load("recordings", s.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range rec.Steps {
				switch {
				case step.Answer == nil:
				case hasErrorCode(step.Answer):
					refused++
				default:
					taken++
				}
			}
		}
		t.Logf("%s groups: %d refusals, %d successes", kind, refused, taken)
		if refused < taken {
			t.Errorf("%s groups: %d refusals are recorded, and %d successes", kind, refused, taken)
		}
	}
}

func hasAnyPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// hasErrorCode tells whether an answer has an error in it, at any depth.
func hasErrorCode(v recording.Value) bool {
	switch v := v.(type) {
	case recording.Object:
		for _, f := range v {
			code, isCode := f.Value.(int64)
			if strings.HasSuffix(f.Name, "ErrorCode") && isCode && code != 0 || hasErrorCode(f.Value) {
				return true
			}
		}
	case []recording.Value:
		for _, e := range v {
			if hasErrorCode(e) {
				return true
			}
		}
	}
	return false
}
