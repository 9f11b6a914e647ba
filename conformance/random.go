package conformance

import (
	"fmt"
	"math/rand/v2"
)

// random is what a script of requests at random goes by. What it asks next is drawn from rng and hangs on the answers so far,
// so that two brokers are asked the same only while they answer the same. It has no recording: cmd/random plays it against
// Kafka and doze and compares.
type random struct {
	c     *C
	rng   *rand.Rand
	group string // the scenario's name, which the names of its groups and topics begin with
}

// atRandom gives a scenario the name and the script of a seed. The stream tells scripts of one seed apart.
func (s Scenario) atRandom(name string, seed, stream uint64, play func(random)) Scenario {
	s.Name = fmt.Sprint(name, "-", seed)
	s.Run = func(c *C) { play(random{c: c, rng: rand.New(rand.NewPCG(seed, stream)), group: s.Name}) }
	return s
}
