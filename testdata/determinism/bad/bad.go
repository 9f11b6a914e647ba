// Package bad has one mistake of each kind that the determinism test finds; the comments say what it must say.
package bad

import (
	crand "crypto/rand" // want "crypto/rand"
	"maps"
	"math/rand/v2" // want "math/rand/v2"
	"net"          // want "net"
	"os"           // want "os"
	"slices"
	"time" // want "time"
)

type groupDecision struct{ counts map[string]int }

type rows map[int]string

var ratio = 0.5 // want "a float"

func (d *groupDecision) join() (names []string) {
	for name := range d.counts { // want "range over a map"
		names = append(names, name)
	}
	names = append(names, slices.Collect(maps.Keys(d.counts))...) // want "maps.Keys"
	return append(names, slices.Sorted(maps.Keys(d.counts))...)
}

func decideTime() int64 {
	return time.Now().UnixMilli() // want "time.Now" "time.UnixMilli"
}

func decideID() (id [16]byte) {
	_, _ = crand.Read(id[:]) // want "crypto/rand.Read"
	id[0] = byte(rand.Int()) // want "math/rand/v2.Int"
	return id
}

func decidePlace() bool {
	_, err := os.Hostname()       // want "os.Hostname"
	_, lookup := net.LookupIP("") // want "net.LookupIP"
	return err == nil && lookup == nil
}

func decideAtOnce(c chan int) int {
	go func() { c <- 1 }() // want "a go statement" "a channel"
	select {               // want "select"
	case n := <-c: // want "a channel"
		return n
	default:
		return 0
	}
}

func decideShare(n, of int) int {
	return int(float64(n) / float64(of) * ratio) // want "a float"
}

func decideThroughAHelper(r rows) int { return helper(r) }

func helper(r rows) int {
	for n := range r { // want "range over a map"
		return n
	}
	return 0
}

type tx struct{}

func (tx) Then(effect func()) { effect() }

// An effect runs after the decision: it may do what it likes.
func decideEffect(t tx, c chan int) {
	t.Then(func() { c <- 1 })
}
