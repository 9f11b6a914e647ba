//go:build unix && !race

package registry

import "time"

// bombLimit is the processor's time that one hostile schema may take.
const bombLimit = 2 * time.Second
