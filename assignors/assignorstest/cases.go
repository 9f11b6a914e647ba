// Package assignorstest makes groups to assign partitions in, for tests and for the comparison with Kafka.
package assignorstest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"doze/assignors"
)

// Assignors by the names that they have in Kafka's protocol.
var Assignors = map[string]assignors.Assign{"uniform": assignors.Uniform, "range": assignors.Range, "simple": assignors.Simple}

// Names in one order.
var Names = []string{"uniform", "range", "simple"}

// Case is a group in the form of the files of recorded answers: topics are named by their place.
type Case struct {
	Assignor string     `json:"assignor"`
	Topics   []int32    `json:"topics"` // partitions of each
	Members  []Member   `json:"members"`
	Kafka    [][]Number `json:"kafka,omitempty"` // of each member, of each topic
}

// Member is one member of a Case.
type Member struct {
	ID       string   `json:"id"`
	Instance string   `json:"instance,omitempty"`
	Topics   []int    `json:"topics"`
	Had      []Number `json:"had"` // of each topic
}

// Number are partitions of one topic.
type Number []int32

// TopicID is the id of the topic in that place.
func TopicID(i int) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:], uint64(i)+1)
	return id
}

// Group is the case for an assignor.
func (c *Case) Group() *assignors.Group {
	g := &assignors.Group{}
	for t, partitions := range c.Topics {
		g.Topics = append(g.Topics, assignors.Topic{ID: TopicID(t), Partitions: partitions})
	}
	for i := range c.Members {
		m := &c.Members[i]
		member := assignors.Member{ID: m.ID, Had: assignment(m.Had)}
		if m.Instance != "" {
			member.Instance = &m.Instance
		}
		for _, t := range m.Topics {
			member.Topics = append(member.Topics, TopicID(t))
		}
		g.Members = append(g.Members, member)
	}
	return g
}

func assignment(numbers []Number) (a assignors.Assignment) {
	for t, n := range numbers {
		if len(n) > 0 {
			a = append(a, assignors.Partitions{Topic: TopicID(t), Numbers: n})
		}
	}
	return a
}

// Answers is what Kafka made of the case, in the order of members.
func (c *Case) Answers() []assignors.Assignment {
	all := make([]assignors.Assignment, len(c.Kafka))
	for m := range c.Kafka {
		all[m] = assignment(c.Kafka[m])
	}
	return all
}

// Generate makes a group that has lived: some members have what they were assigned before others came or went, before
// somebody subscribed to something else, before topics grew.
func Generate(assignor string, seed uint64) Case {
	r := rand.New(rand.NewPCG(seed, 0x61737369676e))
	c := Case{Assignor: assignor}
	for range 1 + r.IntN(6) {
		c.Topics = append(c.Topics, 1+r.Int32N(16))
	}
	same := r.IntN(2) == 0
	everything := subscribe(r, len(c.Topics))
	for i := range 1 + r.IntN(12) {
		m := Member{ID: fmt.Sprintf("member-%02d", i), Topics: everything, Had: make([]Number, len(c.Topics))}
		if !same {
			m.Topics = subscribe(r, len(c.Topics))
		}
		if r.IntN(4) == 0 {
			m.Instance = fmt.Sprintf("instance-%02d", r.IntN(100)*100+i)
		}
		c.Members = append(c.Members, m)
	}
	for range r.IntN(3) {
		c.settle()
		c.churn(r, same)
	}
	return c
}

// subscribe takes some topics, at least one.
func subscribe(r *rand.Rand, topics int) []int {
	some := r.Perm(topics)[:1+r.IntN(topics)]
	slices.Sort(some)
	return some
}

// settle gives the members what the assignor says.
func (c *Case) settle() {
	for m, made := range Assignors[c.Assignor](c.Group()) {
		had := make([]Number, len(c.Topics))
		for _, p := range made {
			had[binary.BigEndian.Uint64(p.Topic[:8])-1] = p.Numbers
		}
		c.Members[m].Had = had
	}
}

// churn changes who is there and what for.
func (c *Case) churn(r *rand.Rand, same bool) {
	for m := len(c.Members) - 1; m > 0; m-- {
		if r.IntN(4) == 0 {
			c.Members = slices.Delete(c.Members, m, m+1)
		}
	}
	for range r.IntN(4) {
		c.Members = append(c.Members, Member{ID: fmt.Sprintf("new-%08x", r.Uint32()), Topics: c.Members[0].Topics,
			Had: make([]Number, len(c.Topics))})
	}
	slices.SortFunc(c.Members, func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
	if r.IntN(2) == 0 {
		c.Topics[r.IntN(len(c.Topics))] += r.Int32N(5)
	}
	everything := c.Members[0].Topics
	if r.IntN(3) == 0 {
		everything = subscribe(r, len(c.Topics))
	}
	for m := range c.Members {
		switch {
		case same:
			c.Members[m].Topics = everything
		case r.IntN(4) == 0:
			c.Members[m].Topics = subscribe(r, len(c.Topics))
		}
	}
}
