//go:build unix && race

package registry

import "time"

// The race detector makes the parsers up to eight times slower.
const bombLimit = 16 * time.Second

// slowed says that the race detector makes work slower than the time of a request allows.
const slowed = true
