package conformance

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// versionRange is what Kafka 4.3.1 advertises for one API.
type versionRange struct{ key, min, max int16 }

// advertised is the table of a client listener of Kafka 4.3.1; the scenario api-versions-4.3 shows the same from the
// broker, and a test holds the two together. The telemetry APIs 71 and 72 are answered but not advertised.
var advertised = []versionRange{
	{0, 0, 13}, {1, 4, 18}, {2, 1, 11}, {3, 0, 13}, {8, 2, 10}, {9, 1, 10}, {10, 0, 6}, {11, 0, 9}, {12, 0, 4},
	{13, 0, 5}, {14, 0, 5}, {15, 0, 6}, {16, 0, 5}, {17, 0, 1}, {18, 0, 4}, {19, 2, 7}, {20, 1, 6}, {21, 0, 2},
	{22, 0, 5}, {23, 2, 4}, {24, 0, 5}, {25, 0, 4}, {26, 0, 5}, {27, 1, 2}, {28, 0, 5}, {29, 1, 3}, {30, 1, 3},
	{31, 1, 3}, {32, 1, 4}, {33, 0, 2}, {34, 1, 2}, {35, 1, 5}, {36, 0, 2}, {37, 0, 3}, {38, 1, 3}, {39, 1, 2},
	{40, 1, 2}, {41, 1, 3}, {42, 0, 2}, {43, 0, 2}, {44, 0, 1}, {45, 0, 1}, {46, 0, 0}, {47, 0, 0}, {48, 0, 1},
	{49, 0, 1}, {50, 0, 0}, {51, 0, 0}, {55, 0, 2}, {57, 0, 2}, {60, 0, 2}, {61, 0, 0}, {64, 0, 0}, {65, 0, 0},
	{66, 0, 2}, {68, 0, 1}, {69, 0, 1}, {74, 0, 1}, {75, 0, 0}, {76, 1, 1}, {77, 1, 1}, {78, 1, 2}, {79, 1, 2},
	{80, 0, 1}, {81, 0, 0}, {83, 0, 0}, {84, 0, 0}, {85, 0, 1}, {86, 0, 0}, {87, 0, 1}, {88, 0, 0}, {89, 0, 0},
	{90, 0, 1}, {91, 0, 0}, {92, 0, 0},
}

// unadvertised are APIs that a 4.3.1 broker answers though it does not list them.
var unadvertised = []versionRange{{71, 0, 0}, {72, 0, 0}}

// leftOut tells whether doze does not serve an API on purpose: the difference share-state-requests, and what releases after
// 4.3.1 brought.
func leftOut(key int16) bool { return key >= 83 && key <= 87 || key > 92 }

// matrixScenarios ask, for each API, a default request at every version, and one below and above them.
func matrixScenarios() []Scenario {
	var list []Scenario
	for _, r := range append(append([]versionRange{}, advertised...), unadvertised...) {
		list = append(list, matrixScenario(r))
	}
	return list
}

const (
	findCoordinatorKey = 10
	initProducerIDKey  = 22
)

func matrixScenario(r versionRange) Scenario {
	return Scenario{
		Name:  "matrix-" + hyphenated(kmsg.NameForKey(r.key)),
		Claim: fmt.Sprintf("%s answers a request of defaults at versions %d to %d, and closes the connection at others.", kmsg.NameForKey(r.key), r.min, r.max),
		Part:  partOf(r.key),
		Group: "matrix",
		Fresh: r.key == findCoordinatorKey, // it makes an internal topic
		Run:   func(c *C) { runMatrix(c, r) },
	}
}

// partOf is the label Part of an API's version matrix. APIs that are not listed have the fourth: administration and security.
func partOf(key int16) int {
	switch key {
	case 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 32, 33, 35, 37, 42, 44, 47, 60, 61, 74, 75:
		return 1
	case 24, 25, 26, 27, 28, 57, 65, 66:
		return 2
	case 34, 43, 45, 46, 55, 64, 68, 69, 76, 77, 78, 79, 80, 81, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92:
		return 3
	}
	return 4
}

func runMatrix(c *C, r versionRange) {
	warmUp(c, r.key)
	for v := r.min - 1; v <= r.max+1; v++ {
		if v < 0 {
			continue
		}
		req := kmsg.RequestForKey(r.key)
		if produce, ok := req.(*kmsg.ProduceRequest); ok {
			produce.Acks = -1
		}
		name := fmt.Sprintf("v%d", v)
		c.Conn(name).Do(name, v, req)
		c.Conn(name).Close()
	}
}

// warmUp waits until a broker that has just started can answer: it makes its internal topics and takes its first
// producer ids when it is first asked.
func warmUp(c *C, key int16) {
	a := c.Conn("first")
	switch key {
	case findCoordinatorKey:
		a.AwaitGroupCoordinator("")
	case initProducerIDKey:
		a.NewProducer()
	}
}

// hyphenated makes "DescribeUserSCRAMCredentials" "describe-user-scram-credentials".
func hyphenated(name string) string {
	name = strings.ReplaceAll(name, "ACLs", "Acls")
	var b strings.Builder
	for i, r := range name {
		upper := r >= 'A' && r <= 'Z'
		afterLower := i > 0 && name[i-1] >= 'a'
		beforeLower := i > 0 && i+1 < len(name) && name[i+1] >= 'a'
		if upper && (afterLower || beforeLower) {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}
