//go:build !linux && !darwin && !windows

package disk

import (
	"errors"
	"fmt"
)

func spaceOf(path string) (Space, error) {
	return Space{}, fmt.Errorf("free space of %s: %w", path, errors.ErrUnsupported)
}
