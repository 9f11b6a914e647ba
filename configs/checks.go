package configs

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// check refuses a parsed value in Kafka's words.
type check func(name string, v Value) error

func number(v Value) float64 {
	switch v := v.(type) {
	case int16:
		return float64(v)
	case int32:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		return v
	}
	panic("configs: a range on a key that is no number")
}

// atLeast takes the bound as Kafka writes it in its message.
func atLeast(low string) check {
	bound := mustNumber(low)
	return func(name string, v Value) error {
		if number(v) < bound {
			return badValue(name, Format(v), "Value must be at least "+low)
		}
		return nil
	}
}

func between(low, high string) check {
	lower, bound := atLeast(low), mustNumber(high)
	return func(name string, v Value) error {
		if err := lower(name, v); err != nil {
			return err
		}
		if number(v) > bound {
			return badValue(name, Format(v), "Value must be no more than "+high)
		}
		return nil
	}
}

func mustNumber(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic("configs: bound " + s)
	}
	return f
}

func oneOf(allowed ...string) check {
	return func(name string, v Value) error {
		if s := v.(string); !slices.Contains(allowed, s) {
			return badValue(name, s, "String must be one of: "+strings.Join(allowed, ", "))
		}
		return nil
	}
}

// oneOfFold compares without case. Kafka lists what it allows in an order of its own hash set; allowed is in that order.
func oneOfFold(allowed ...string) check {
	return func(name string, v Value) error {
		s := v.(string)
		if !slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, s) }) {
			return badValue(name, s, "String must be one of (case insensitive): "+strings.Join(allowed, ", "))
		}
		return nil
	}
}

func nonEmpty(name string, v Value) error {
	if v.(string) == "" {
		return badValue(name, "", "String must be non-empty")
	}
	return nil
}

// listOf allows lists of the given entries; of any entries when none is given.
func listOf(allowed ...string) check {
	return func(name string, v Value) error {
		for _, s := range v.([]string) {
			if s == "" {
				return invalid("Configuration '" + name + "' values must not be empty.")
			}
			if len(allowed) > 0 && !slices.Contains(allowed, s) {
				return badValue(name, s, "String must be one of: "+strings.Join(allowed, ", "))
			}
		}
		return nil
	}
}

// fullListOf is listOf without the empty list.
func fullListOf(allowed ...string) check {
	entries, choices := listOf(allowed...), "any non-empty value"
	if len(allowed) > 0 {
		choices = "[" + strings.Join(allowed, ", ") + "]"
	}
	return func(name string, v Value) error {
		if len(v.([]string)) == 0 {
			return invalid("Configuration '" + name + "' must not be empty. Valid values include: " + choices)
		}
		return entries(name, v)
	}
}

// gzipLevel allows 1 to 9 and -1, the library's own default.
func gzipLevel(name string, v Value) error {
	if n := v.(int32); n != -1 && (n < 1 || n > 9) {
		return badValue(name, Format(v), "Value must be between 1 and 9 or equal to -1")
	}
	return nil
}

// throttledReplicas allows * or a list of partition:broker, in which an entry may be empty.
func throttledReplicas(name string, v Value) error {
	l := v.([]string)
	if strings.Join(l, "") == "*" {
		return nil
	}
	for _, s := range l {
		partition, broker, ok := strings.Cut(s, ":")
		if s != "" && !(ok && digits(partition) && digits(broker)) {
			return badValue(name, "["+strings.Join(l, ", ")+"]", name+" must be the literal '*' or a list of replicas in the "+
				"following format: [partitionId]:[brokerId],[partitionId]:[brokerId],...")
		}
	}
	return nil
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// offsetReset allows where a share group starts to read: earliest, latest or a duration ago.
func offsetReset(name string, v Value) error {
	s := v.(string)
	duration, ago := strings.CutPrefix(s, "by_duration:")
	if s == "earliest" || s == "latest" || ago && isoDuration(duration) {
		return nil
	}
	return badValue(name, s, "Invalid value `"+s+"` for configuration "+name+
		". The value must be either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.")
}

var isoForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^P(?:[+-]?[0-9]{1,19}D)?(T(?:[+-]?[0-9]{1,19}H)?(?:[+-]?[0-9]{1,19}M)?(?:[+-]?[0-9]{1,19}(?:[.,][0-9]{0,9})?S)?)?$`)
})

// isoDuration says whether s is a duration in ISO 8601 days and smaller, not a negative one.
func isoDuration(s string) bool {
	m := isoForm().FindStringSubmatch(s)
	return m != nil && len(s) > 1 && len(m[1]) != 1 && !strings.Contains(s, "-")
}
