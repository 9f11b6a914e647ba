package conformance

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"doze/conformance/recording"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// scrubber replaces what differs from run to run by names, by first appearance, so that what belongs together stays
// so: the same id has the same name wherever it stands. Offsets, epochs and sizes are not replaced.
//
//	uuid:...                    topic-id-1, uuid-1      also where the base64 form stands in a text; zero is uuid:0
//	MemberID                    member-1                one that is a UUID in base64
//	xxxxxxxx-xxxx-... in a text <uuid-1>                what stands around it is kept: the shape of a member id is a fact
//	ProducerID                  producer-1              from 0 on; -1 is kept, and 0 beside an error
//	SessionID, SubscriptionID   session-1               0 is kept
//	ClusterID                   cluster-id
//	the broker's host and port  broker-host, broker-port, broker-host:broker-port in a text
//	a time close to now         now, <now> in a text    any 64-bit number or 13 digits in a text
//	LogDir, Dir                 log-dir
//	Documentation               text                    its wording is the broker's own
//	HMAC, TokenID               hmac-1, token-1         of delegation tokens; their times are now+1h0m0s
//	FinalizedFeaturesEpoch, TotalBytes, UsableBytes     positive
type scrubber struct {
	host, port string
	loginPort  string            // of the listener with logins
	names      map[string]string // raw text -> name; for numbers the raw text is "ProducerID 4000"
	order      []string          // keys of names in order of appearance
	count      map[string]int    // names given by kind
	now        time.Time
	ofTokens   bool // what is scrubbed is an answer about delegation tokens
}

func newScrubber(addr string) *scrubber {
	s := &scrubber{names: map[string]string{}, count: map[string]int{}, now: time.Now()}
	s.setAddr(addr)
	return s
}

func (s *scrubber) setAddr(addr string) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		s.host, s.port = host, port
	}
}

func (s *scrubber) setLoginAddr(addr string) { _, s.loginPort, _ = net.SplitHostPort(addr) }

// mark and reset take back the names of an answer that is not kept.
func (s *scrubber) mark() int { return len(s.order) }

func (s *scrubber) reset(mark int) {
	for _, key := range s.order[mark:] {
		s.count[kindOf(s.names[key])]--
		delete(s.names, key)
	}
	s.order = s.order[:mark]
}

// kindOf is "topic-id" of "topic-id-3".
func kindOf(name string) string { return name[:strings.LastIndexByte(name, '-')] }

func (s *scrubber) name(kind, raw string) string {
	if name, ok := s.names[raw]; ok {
		return name
	}
	s.count[kind]++
	name := kind + "-" + strconv.Itoa(s.count[kind])
	s.names[raw] = name
	s.order = append(s.order, raw)
	return name
}

func (s *scrubber) request(req kmsg.Request) recording.Object {
	return s.object(recording.MessageValue(req))
}

func (s *scrubber) answer(resp kmsg.Response, only [][]string) recording.Object {
	obj := recording.MessageValue(resp)
	s.ofTokens = resp.Key() >= 38 && resp.Key() <= 41
	defer func() { s.ofTokens = false }()
	sortAnswer(resp.Key(), obj, s.names)
	if only != nil {
		obj = keep(obj, only).(recording.Object)
	}
	return s.object(obj)
}

// keep reduces a value to what the paths name; the end of a path keeps all that is below.
func keep(v recording.Value, paths [][]string) recording.Value {
	switch v := v.(type) {
	case []recording.Value:
		out := make([]recording.Value, len(v))
		for i, e := range v {
			out[i] = keep(e, paths)
		}
		return out
	case recording.Object:
		out := recording.Object{}
		for _, f := range v {
			if below, kept := under(paths, f.Name); len(below) > 0 {
				out = append(out, recording.Field{Name: f.Name, Value: keep(f.Value, below)})
			} else if kept {
				out = append(out, f)
			}
		}
		return out
	}
	return v
}

// under gives the rest of the paths that go into a field, and whether one ends there.
func under(paths [][]string, field string) (below [][]string, ends bool) {
	for _, path := range paths {
		switch {
		case path[0] != field:
		case len(path) == 1:
			ends = true
		default:
			below = append(below, path[1:])
		}
	}
	return below, ends
}

func (s *scrubber) object(obj recording.Object) recording.Object {
	out := make(recording.Object, len(obj))
	for i, f := range obj {
		if f.Name == "ProducerID" && f.Value == int64(0) && refused(obj) {
			out[i] = f
			continue
		}
		out[i] = recording.Field{Name: f.Name, Value: s.value(f.Name, f.Value)}
	}
	return out
}

// refused tells an answer that is an error and no more: a producer id of 0 in it is no id.
func refused(obj recording.Object) bool {
	code, ok := obj.Get("ErrorCode").(int64)
	return ok && code != 0
}

func (s *scrubber) value(field string, v recording.Value) recording.Value {
	switch v := v.(type) {
	case recording.Object:
		return s.object(v)
	case []recording.Value:
		out := make([]recording.Value, len(v))
		for i, e := range v {
			out[i] = s.value(field, e)
		}
		return out
	case string:
		return s.text(field, v)
	case int64:
		return s.number(field, v)
	}
	return v
}

func (s *scrubber) number(field string, n int64) recording.Value {
	switch {
	case field == "ProducerID" && n >= 0:
		return s.name("producer", fmt.Sprint("ProducerID ", n))
	case field == "SubscriptionID" && n != 0:
		return s.name("subscription", fmt.Sprint("SubscriptionID ", n))
	case field == "SessionID" && n != 0:
		return s.name("session", fmt.Sprint("SessionID ", n))
	case field == "Port" && strconv.FormatInt(n, 10) == s.port:
		return "broker-port"
	case field == "Port" && strconv.FormatInt(n, 10) == s.loginPort:
		return "login-port"
	case positiveOnly[field] && n > 0:
		return "positive"
	case s.ofTokens && tokenTime[field] && n > 0:
		return aboutNow(n, s.now)
	case field == "SessionLifetimeMillis" && n > 1_000_000:
		return "positive" // what is left of a token's life
	case s.isNow(n):
		return "now"
	}
	return n
}

// positiveOnly lists counters and sizes of the machine that only say: there is one.
var positiveOnly = map[string]bool{"FinalizedFeaturesEpoch": true, "TotalBytes": true, "UsableBytes": true}

// tokenTime lists the times of delegation tokens.
var tokenTime = map[string]bool{"IssueTimestamp": true, "ExpiryTimestamp": true, "MaxTimestamp": true}

// isNow takes a time within an hour of the scenario for one that the broker read off its clock. Scripts use times of
// other days.
func (s *scrubber) isNow(millis int64) bool {
	d := time.UnixMilli(millis).Sub(s.now)
	return -time.Hour < d && d < time.Hour
}

func (s *scrubber) text(field, text string) recording.Value {
	switch {
	case text == "":
		return text
	case field == "ClusterID":
		s.names[text] = "cluster-id"
		return "cluster-id"
	case field == "SASLAuthBytes":
		return s.inside(scrubSCRAM(scrubBearer(text)))
	case field == "HMAC":
		return s.name("hmac", text)
	case field == "TokenID":
		return s.name("token", text)
	case field == "LogDir" || field == "Dir":
		return "log-dir"
	case field == "Documentation":
		return "text"
	case field == "Host" && text == s.host:
		return "broker-host"
	case strings.HasPrefix(text, recording.UUIDPrefix):
		return s.uuid(field, text)
	case field == "MemberID" && isRandomID(text):
		return s.name("member", text)
	}
	if refused := requestInText.FindStringSubmatch(text); refused != nil {
		return "Request needs " + refused[1] + " permission."
	}
	return s.inside(text)
}

// requestInText is the text of a refusal, in which Kafka prints its request object with addresses of memory and connection.
var requestInText = regexp.MustCompile(`^Request Request\(.*\) needs ([A-Z_]+) permission\.$`)

// isRandomID tells an id that Kafka drew for a member of a consumer group: a UUID of version 4 in base64.
func isRandomID(text string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && len(raw) == 16 && raw[6]>>4 == 4 && raw[8]>>6 == 2
}

const zeroUUID = recording.UUIDPrefix + "00000000000000000000000000000000"

func (s *scrubber) uuid(field, text string) string {
	if text == zeroUUID {
		return recording.UUIDPrefix + "0"
	}
	kind := "uuid"
	if field == "TopicID" || field == "TopicIDs" || field == "Topic" {
		kind = "topic-id"
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(text, recording.UUIDPrefix))
	if err != nil {
		return text
	}
	return s.name(kind, base64.RawURLEncoding.EncodeToString(raw))
}

var (
	dashedUUID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	millis     = regexp.MustCompile(`\b1[0-9]{12}\b`)
	base64UUID = regexp.MustCompile(`[A-Za-z0-9_-]{22}`)
)

// inside replaces what stands within a text.
func (s *scrubber) inside(text string) string {
	text = strings.ReplaceAll(text, s.host+":"+s.port, "broker-host:broker-port")
	text = dashedUUID.ReplaceAllStringFunc(text, func(id string) string { return "<" + s.name("uuid", id) + ">" })
	text = millis.ReplaceAllStringFunc(text, func(digits string) string {
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && s.isNow(n) {
			return "<now>"
		}
		return digits
	})
	return base64UUID.ReplaceAllStringFunc(text, func(id string) string {
		if name, known := s.names[id]; known {
			return "<" + name + ">"
		}
		return id
	})
}
