package handlers

import (
	"slices"
	"testing"
)

// subscription encodes a consumer's metadata at version 0.
func subscription(topics ...string) []byte {
	b := []byte{0, 0, 0, 0, 0, byte(len(topics))}
	for _, t := range topics {
		b = append(append(b, 0, byte(len(t))), t...)
	}
	return append(b, 0xff, 0xff, 0xff, 0xff)
}

func FuzzParseSubscription(f *testing.F) {
	f.Add(subscription())
	f.Add(subscription("orders", "payments"))
	f.Add([]byte{0, 3, 0, 0, 0, 1, 0, 1, 'a', 0, 0, 0, 2, 1, 2, 9, 9})
	f.Add([]byte{0, 0, 0x7f, 0xff, 0xff, 0xff})
	f.Add([]byte{0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		topics, ok := parseSubscription(b)
		if !ok {
			return
		}
		again, ok := parseSubscription(encodeSubscription(topics))
		if !ok || !slices.Equal(topics, again) {
			t.Fatalf("%q parses again to %q, %v", topics, again, ok)
		}
	})
}

func encodeSubscription(topics []string) []byte {
	n := len(topics)
	b := []byte{0, 0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	for _, t := range topics {
		b = append(append(b, byte(len(t)>>8), byte(len(t))), t...)
	}
	return append(b, 0xff, 0xff, 0xff, 0xff)
}

func TestParseSubscription(t *testing.T) {
	cases := []struct {
		name   string
		b      []byte
		topics []string
		ok     bool
	}{
		{"none", subscription(), nil, true},
		{"two", subscription("a", "b"), []string{"a", "b"}, true},
		{"a later version", append(append([]byte{0, 3}, subscription("a")[2:]...), 1, 2, 3), []string{"a"}, true},
		{"empty", nil, nil, false},
		{"version only", []byte{0, 0}, nil, false},
		{"negative version", append([]byte{0xff, 0xff}, subscription("a")[2:]...), nil, false},
		{"count beyond the end", []byte{0, 0, 0x7f, 0, 0, 0, 0, 0}, nil, false},
		{"negative count", []byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, nil, false},
		{"no user data", subscription("a")[:9], nil, false},
		{"user data beyond the end", append(subscription("a")[:9], 0, 0, 0, 1), nil, false},
	}
	for _, c := range cases {
		topics, ok := parseSubscription(c.b)
		if ok != c.ok || ok && !slices.Equal(topics, c.topics) {
			t.Errorf("%s: got %q, %v", c.name, topics, ok)
		}
	}
}

func FuzzParseWholeSubscription(f *testing.F) {
	f.Add(subscription("orders"))
	f.Add(consumerMetadata("@orders,payments"))
	f.Add([]byte{0, 3, 0, 0, 0, 1, 0, 1, 'a', 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 1, 'a', 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 1, 0, 1, 'r'})
	f.Add([]byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, ok := parseWholeSubscription(b)
		topics, short := parseSubscription(b)
		if ok && (!short || !slices.Equal(topics, s.topics)) {
			t.Fatalf("%q and %q, %v", s.topics, topics, short)
		}
	})
}

func FuzzParseAssignment(f *testing.F) {
	f.Add(consumerAssignment("@orders/0,payments/7"))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9})
	f.Add([]byte{0, 0, 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		partitions, userData, ok := parseAssignment(b)
		if !ok || userData {
			return
		}
		again, _, ok := parseAssignment(encodeAssignment(b, partitions))
		same := slices.EqualFunc(partitions, again, func(a, b namedPartitions) bool {
			return a.topic == b.topic && slices.Equal(a.partitions, b.partitions)
		})
		if !ok || !same {
			t.Fatalf("%v parses again to %v, %v", partitions, again, ok)
		}
	})
}
