package jsonvalid

import (
	"math/big"
	"strconv"
	"strings"
)

// decimal is a number as it was written, exactly: digits times ten to the power of exp. Digits begin and end with none of 0, and are
// empty for zero. Nothing here costs more than its digits, whatever the exponent is.
type decimal struct {
	negative bool
	digits   string
	exp      int64
}

// maxExponent bounds exponents: beyond it numbers are as large, or as small, as that.
const maxExponent = 1 << 40

// newDecimal reads a number of JSON.
func newDecimal(text string) decimal {
	var d decimal
	text, d.negative = strings.CutPrefix(text, "-")
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		d.exp = exponent(text[i+1:])
		text = text[:i]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	d.exp -= int64(len(fraction))
	d.digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(d.digits, "0")
	d.exp += int64(len(d.digits) - len(trimmed))
	if d.digits = trimmed; trimmed == "" {
		return decimal{}
	}
	return d
}

// exponent is what follows e; ParseInt gives the largest number there is when it is larger.
func exponent(text string) int64 {
	e, _ := strconv.ParseInt(text, 10, 64)
	return min(max(e, -maxExponent), maxExponent)
}

func (d decimal) integer() bool { return d.exp >= 0 }

// sign is -1, 0 or 1.
func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// compare is negative when d is less than o, zero when they are equal.
func (d decimal) compare(o decimal) int {
	if d.sign() != o.sign() || d.sign() == 0 {
		return d.sign() - o.sign()
	}
	return d.sign() * d.magnitude(o)
}

// magnitude compares without signs: how many digits stand before the point, then the digits.
func (d decimal) magnitude(o decimal) int {
	a, b := int64(len(d.digits))+d.exp, int64(len(o.digits))+o.exp
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return strings.Compare(d.digits, o.digits)
}

// multipleOf says whether d is a whole number of times o, which is not zero.
func (d decimal) multipleOf(o decimal) bool {
	if d.digits == "" {
		return true
	}
	shift := d.exp - o.exp
	if shift < 0 {
		return false // o times a power of ten would have to divide d's digits, which do not end with 0
	}
	a, _ := new(big.Int).SetString(d.digits, 10)
	b, _ := new(big.Int).SetString(o.digits, 10)
	a.Mul(a, new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), b))
	return a.Mod(a, b).Sign() == 0
}

// text is the number for people, as short as it can be.
func (d decimal) text() string {
	if f, err := strconv.ParseFloat(d.String(), 64); err == nil && len(d.digits) <= 15 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return clip(d.String(), 40)
}

// String is one text for each value.
func (d decimal) String() string {
	text := d.digits + "e" + strconv.FormatInt(d.exp, 10)
	if d.negative {
		return "-" + text
	}
	return text
}
