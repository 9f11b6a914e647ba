//go:build unix && race

package registry

import "time"

// The race detector makes the parsers up to eight times slower.
const bombLimit = 16 * time.Second
