package configs

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Error is a refusal in Kafka's words. Request says that Kafka calls the request wrong (INVALID_REQUEST) where it else calls
// the config wrong (INVALID_CONFIG).
type Error struct {
	Message string
	Request bool
}

func (e *Error) Error() string { return e.Message }

func invalid(message string) *Error { return &Error{Message: message} }

// badValue is Kafka's sentence for a value that does not fit.
func badValue(name, value, why string) *Error {
	return invalid("Invalid value " + value + " for configuration " + name + ": " + why)
}

// Value is a parsed value: bool, int16, int32, int64, float64, string or []string by its [Type].
type Value any

// Parse reads a value of the key and checks it; the error is Kafka's.
//
//fuzz:parser class=config FuzzValue
func (d *Def) Parse(s string) (Value, error) {
	v, err := d.parseType(s)
	if err != nil {
		return nil, err
	}
	if l, ok := v.([]string); ok && d.check != nil && !d.bag {
		v = distinct(l) // Kafka drops what a checked list holds twice, then checks
	}
	if d.check != nil {
		if err := d.check(d.Name, v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// parseType reads a value of the key's type, whatever its check says of it.
//
//fuzz:parser class=config FuzzValue
func (d *Def) parseType(s string) (Value, error) {
	t := javaTrim(s)
	switch d.Type {
	case Boolean:
		switch {
		case strings.EqualFold(t, "true"):
			return true, nil
		case strings.EqualFold(t, "false"):
			return false, nil
		}
		return nil, badValue(d.Name, s, "Expected value to be either true or false")
	case Short:
		n, err := strconv.ParseInt(t, 10, 16)
		return int16(n), d.notNumber(s, err)
	case Int:
		n, err := strconv.ParseInt(t, 10, 32)
		return int32(n), d.notNumber(s, err)
	case Long:
		n, err := strconv.ParseInt(t, 10, 64)
		return n, d.notNumber(s, err)
	case Double:
		f, err := parseDouble(t)
		return f, d.notNumber(s, err)
	case List:
		return splitList(s), nil
	}
	return t, nil
}

func (d *Def) notNumber(s string, err error) error {
	if err == nil {
		return nil
	}
	return badValue(d.Name, s, "Not a number of type "+d.Type.String())
}

// parseDouble reads what Java's Double.parseDouble reads.
//
//fuzz:parser class=config FuzzValue
func parseDouble(s string) (float64, error) {
	unsigned := strings.TrimLeft(s, "+-")
	if unsigned != "NaN" && unsigned != "Infinity" {
		if n := len(s) - 1; n > 0 && strings.IndexByte("fFdD", s[n]) >= 0 {
			s = s[:n]
		}
		allowed := "0123456789+-.eE"
		if len(unsigned) > 1 && strings.EqualFold(unsigned[:2], "0x") {
			allowed += "abcdfABCDFxXpP"
		}
		if strings.Trim(s, allowed) != "" || strings.Contains(s, "_") {
			return 0, strconv.ErrSyntax
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if math.IsInf(f, 0) { // what is out of range is infinite in Java
		err = nil
	}
	return f, err
}

// Format writes a parsed value as Kafka answers it.
func Format(v Value) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int16:
		return strconv.Itoa(int(v))
	case int32:
		return strconv.Itoa(int(v))
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return formatDouble(v)
	case []string:
		return strings.Join(v, ",")
	case string:
		return v
	}
	return ""
}

// formatDouble writes a double as Java's Double.toString: plain between a thousandth and ten million, else with an E.
func formatDouble(f float64) string {
	switch abs := math.Abs(f); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case abs == 0 || abs >= 1e-3 && abs < 1e7:
		return withPoint(strconv.FormatFloat(f, 'f', -1, 64))
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	n, _ := strconv.Atoi(exponent)
	return withPoint(mantissa) + "E" + strconv.Itoa(n)
}

func withPoint(s string) string {
	if strings.Contains(s, ".") {
		return s
	}
	return s + ".0"
}

func distinct(l []string) []string {
	var out []string
	for _, s := range l {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
