package conformance

import (
	"fmt"

	"doze/conformance/recording"
)

// Broker is a running broker that a scenario is played against.
type Broker interface {
	Addr() string
	Restart() error // a clean stop and a start on the same data; the address may change
	Kill() error    // the same after kill -9
	Close() error
}

// Play runs a scenario and gives what happened. After an error the recording holds the steps so far.
func Play(s Scenario, b Broker) (rec *recording.Recording, err error) {
	c := &C{broker: b, scrub: newScrubber(b.Addr()), conns: map[string]*Conn{}}
	defer c.close()
	rec = &recording.Recording{Name: s.Name, Claim: s.Claim, Kafka: s.Kafka, Part: s.Part, Set: s.Set}
	err = c.run(s)
	for _, step := range c.steps {
		rec.Steps = append(rec.Steps, *step)
	}
	return rec, err
}

// run turns the panics that end a script into an error: stop, and the use of an answer that the broker did not give.
func (c *C) run(s Scenario) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			err = fmt.Errorf("play %s: %w", s.Name, r.err)
		default:
			err = fmt.Errorf("play %s: after step %s: %v", s.Name, c.lastStep(), r)
		}
	}()
	s.Run(c)
	return nil
}

func (c *C) lastStep() string {
	if len(c.steps) == 0 {
		return "(none)"
	}
	return c.steps[len(c.steps)-1].Name
}

// Replay plays a scenario against a broker and compares with its recording. Differences come back when the script ran
// through or not; an error says that it could not.
func Replay(s Scenario, dir string, b Broker) ([]recording.Difference, error) {
	want, err := recording.Load(dir, s.Name)
	if err != nil {
		return nil, err
	}
	got, playErr := Play(s, b)
	// The recording is compared as it is stored, so what a file cannot hold must not count.
	text, err := got.Format()
	if err != nil {
		return nil, err
	}
	if got, err = recording.Parse(text); err != nil {
		return nil, err
	}
	return recording.Diff(want, got), playErr
}
