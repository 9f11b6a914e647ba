package console

import (
	"regexp"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// trace is what a message's headers say of the trace that it belongs to.
type trace struct {
	Form    string // W3C, B3, or the header's name
	ID      string
	Span    string
	Sampled string // yes, no, or "" when it is not said
}

var (
	w3cForm = lazyForm(`^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$`)
	b3Form  = lazyForm(`^([0-9a-fA-F]{16}|[0-9a-fA-F]{32})-([0-9a-fA-F]{16})(?:-([01d]))?(?:-[0-9a-fA-F]{16})?$`)
	b3ID    = lazyForm(`^([0-9a-fA-F]{16}|[0-9a-fA-F]{32})$`)
)

// lazyForm is compiled when it is asked for first: a broker starts without its console's expressions.
func lazyForm(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// maxTraceHeader bounds a header that is looked at as a trace's.
const maxTraceHeader = 512

// parseTrace reads the trace of W3C's traceparent, of B3 in one header or several, or of headers that were configured.
//
//fuzz:parser class=records FuzzTraceHeaders
func parseTrace(headers []kgo.RecordHeader, configured []string) []trace {
	var found []trace
	b3 := trace{Form: "B3"}
	for _, h := range headers {
		if len(h.Value) == 0 || len(h.Value) > maxTraceHeader {
			continue
		}
		value := strings.TrimSpace(string(h.Value))
		if value == "" {
			continue
		}
		switch name := strings.ToLower(h.Key); name {
		case "traceparent":
			found = append(found, w3cTrace(value)...)
		case "b3":
			found = append(found, b3Trace(value)...)
		case "x-b3-traceid":
			if b3ID().MatchString(value) {
				b3.ID = strings.ToLower(value)
			}
		case "x-b3-spanid":
			if b3ID().MatchString(value) {
				b3.Span = strings.ToLower(value)
			}
		case "x-b3-sampled":
			b3.Sampled = map[string]string{"1": "yes", "0": "no", "true": "yes", "false": "no"}[value]
		default:
			for _, c := range configured {
				if strings.EqualFold(c, h.Key) && printable(h.Value) {
					found = append(found, trace{Form: h.Key, ID: value})
				}
			}
		}
	}
	if b3.ID != "" {
		found = append(found, b3)
	}
	return found
}

func w3cTrace(value string) []trace {
	m := w3cForm().FindStringSubmatch(value)
	if m == nil || strings.Trim(m[1], "0") == "" || strings.Trim(m[2], "0") == "" || strings.HasPrefix(value, "ff") {
		return nil
	}
	sampled := "no"
	if strings.ContainsRune("13579bdf", rune(m[3][1])) {
		sampled = "yes"
	}
	return []trace{{"W3C", m[1], m[2], sampled}}
}

func b3Trace(value string) []trace {
	m := b3Form().FindStringSubmatch(value)
	if m == nil {
		return nil
	}
	return []trace{{"B3", strings.ToLower(m[1]), strings.ToLower(m[2]), map[string]string{"1": "yes", "d": "yes", "0": "no"}[m[3]]}}
}

// traceLink leads from a trace to its messages in all topics.
type traceLink struct {
	trace
	Href string
}

func (c *Console) traceLinks(r *kgo.Record) []traceLink {
	var links []traceLink
	for _, t := range parseTrace(r.Headers, c.opt.TraceHeaders) {
		links = append(links, traceLink{t, withQuery("/trace", "id", t.ID)})
	}
	return links
}
