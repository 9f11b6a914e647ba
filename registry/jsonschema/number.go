package jsonschema

import (
	"math/big"
	"strconv"
	"strings"
)

// number is a limit as it was written.
type number struct {
	value float64
	exact *big.Rat // nil when the exponent is beyond reason
}

func parseNumber(text string) *number {
	n := &number{}
	n.value, _ = strconv.ParseFloat(text, 64)
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(text[i+1:]); err != nil || e > 300 || e < -300 {
			return n
		}
	}
	n.exact, _ = new(big.Rat).SetString(text)
	return n
}

func (n *number) equal(o *number) bool {
	if n == nil || o == nil {
		return n == o
	}
	if n.exact == nil || o.exact == nil {
		return n.value == o.value
	}
	return n.exact.Cmp(o.exact) == 0
}

// multiple says whether n is a multiple of o.
func (n *number) multiple(o *number) bool {
	if n.exact == nil || o.exact == nil || o.exact.Sign() == 0 {
		return false
	}
	return new(big.Rat).Quo(n.exact, o.exact).IsInt()
}
