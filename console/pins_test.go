package console

import (
	"fmt"
	"strings"
	"testing"
)

// What is pinned fits into a cookie: the topic that was pinned last is in front, those pinned for longest make room.
func TestPinsAreBounded(t *testing.T) {
	var pins []string
	for i := range 1000 {
		pins = toggled(pins, fmt.Sprintf("topic-with-a-long-name-%04d", i))
	}
	if joined := strings.Join(pins, ","); len(joined) > maxPins || pins[0] != "topic-with-a-long-name-0999" || len(pins) < 100 {
		t.Errorf("%d pins, %d bytes, %s in front", len(pins), len(joined), pins[0])
	}
}
