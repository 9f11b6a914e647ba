package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kgo"
)

func init() { scriptCommands["awaited"], scriptCommands["member"] = awaited, member }

// awaited FILE waits until the file is there and not empty.
func awaited(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if text, _ := os.ReadFile(ts.MkAbs(args[0])); len(text) > 0 {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s is not there", args[0])
		}
	}
}

// member GROUP waits until the group of the broker that KAFKA_BOOTSTRAP_SERVERS names has a member with partitions.
func member(ts *testscript.TestScript, neg bool, args []string) {
	client, err := kgo.NewClient(kgo.SeedBrokers(ts.Getenv("KAFKA_BOOTSTRAP_SERVERS")))
	ts.Check(err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		g, err := lookAtGroup(ctx, newAdministrator(client), args[0])
		if err == nil && len(g.members) > 0 && len(g.members[0].assigned) > 0 {
			return
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("group %s has no member", args[0])
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestPositions(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	for text, want := range map[string]position{
		"beginning": {kind: "beginning"}, "oldest": {kind: "beginning"}, "end": {kind: "end"}, "now": {kind: "end"}, "current": {kind: "current"},
		"12": {"offset", 12}, "-12": {"back", 12}, "-0": {"back", 0}, "1970-01-01T00:00:01Z": {"time", 1000}, "10m": {"time", 1_799_999_400_000},
		"": {}, "-9223372036854775808": {"back", math.MinInt64}, "1969-01-01T00:00:00Z": {}, "-10m": {}, "soon": {},
	} {
		got, err := parsePosition(text, now)
		if got != want || (err != nil) != (want.kind == "" || want.number < 0) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "write beginning, end, an OFFSET") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, c := range []struct {
		at   position
		want int64
	}{
		{position{kind: "beginning"}, 5}, {position{kind: "end"}, 9}, {position{"offset", 7}, 7}, {position{"offset", 1}, 5}, {position{"offset", 99}, 9},
		{position{"back", 1}, 8}, {position{"back", 99}, 5}, {position{"time", 1}, 6},
	} {
		if got := c.at.within(5, 9, 6); got != c.want {
			t.Errorf("%v: %d", c.at, got)
		}
	}
	if got := (position{"time", 1}).within(5, 9, -1); got != 9 {
		t.Errorf("a time after all records: %d", got)
	}
}

func FuzzPosition(f *testing.F) {
	for _, s := range []string{"end", "-1", "2026-01-31T12:00:00.5+01:00", "1h2m", "9223372036854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parsePosition(s, time.UnixMilli(1_800_000_000_000))
		if err == nil && p.within(3, 8, 4) < 3 || err == nil && p.within(3, 8, 4) > 8 {
			t.Fatalf("%q is %v, outside of the log", s, p)
		}
	})
}

func TestRecordsAsJSON(t *testing.T) {
	for _, r := range []*kgo.Record{
		{Topic: "t", Partition: 3, Offset: 9, Key: []byte("k<&>"), Value: []byte("v\n"), Timestamp: time.UnixMilli(1), Headers: []kgo.RecordHeader{{Key: "h", Value: nil}, {Key: "h", Value: []byte{0xff}}}},
		{Topic: "t", Key: []byte{}, Value: nil, Timestamp: time.UnixMilli(0)},
		{Topic: "t", Key: nil, Value: []byte{0xff, 0}, Timestamp: time.UnixMilli(0)},
	} {
		line := appendRecordJSON(nil, r)
		got, err := parseRecordJSON(line)
		if err != nil || !bytes.Equal(got.Key, r.Key) || (got.Key == nil) != (r.Key == nil) || !bytes.Equal(got.Value, r.Value) || (got.Value == nil) != (r.Value == nil) {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
		if len(got.Headers) != len(r.Headers) || !got.Timestamp.Equal(r.Timestamp) || got.Partition != -1 {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if r, err := parseRecordJSON([]byte(`{"partition": 3, "value": "x"}`)); err != nil || r.Partition != 3 {
		t.Error(r, err)
	}
	for line, want := range map[string]string{
		`{`: "write {", `{"values": "x"}`: `unknown field "values"`, `{"value": "x"} {}`: "one object a line", `{"value": "x", "timestamp": "soon"}`: "is no time",
	} {
		if _, err := parseRecordJSON([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func FuzzRecordJSON(f *testing.F) {
	f.Add([]byte(`{"topic":"t","partition":1,"offset":3,"timestamp":"2026-01-31T12:00:00Z","key":"k","value":null,"headers":[{"name":"h","value-base64":"/w=="}]}`))
	f.Add([]byte(`{"key-base64":"","value":"\ud800"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parseRecordJSON(line)
		if err != nil {
			return
		}
		again, err := parseRecordJSON(appendRecordJSON(nil, r))
		if err != nil && !r.Timestamp.IsZero() || err == nil && (!bytes.Equal(again.Key, r.Key) || !bytes.Equal(again.Value, r.Value)) {
			t.Fatalf("%s: %+v, then %+v, %v", line, r, again, err)
		}
	})
}
