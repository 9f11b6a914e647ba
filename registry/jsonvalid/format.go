package jsonvalid

import (
	"net/netip"
	"net/url"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// formatted says whether a text is of a format. A format that is not known here says nothing.
func formatted(format, s string) bool {
	switch format {
	case "date-time":
		return isDateTime(s)
	case "date":
		return isDate(s)
	case "time":
		return isTime(s)
	case "duration":
		return isDuration(s)
	case "email":
		return isEmail(s)
	case "hostname":
		return isHostname(s)
	case "ipv4":
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is4()
	case "ipv6":
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is6() && a.Zone() == ""
	case "uri", "iri":
		return isURL(s, format == "uri", true)
	case "uri-reference", "iri-reference":
		return isURL(s, format == "uri-reference", false)
	case "uri-template":
		return isTemplate(s)
	case "json-pointer":
		return isPointer(s)
	case "relative-json-pointer":
		return isRelativePointer(s)
	case "uuid":
		return isUUID(s)
	case "regex":
		return isRegex(s)
	}
	return true
}

// digits says whether a text is so many digits.
func digits(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789") == ""
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func isDateTime(s string) bool {
	if len(s) < 11 || s[10]|0x20 != 't' {
		return false
	}
	return isDate(s[:10]) && isTime(s[11:])
}

// isTime is a time of RFC 3339: a second 60 only at the end of a day in UTC.
func isTime(s string) bool {
	if len(s) < 9 || s[2] != ':' || s[5] != ':' || !digits(s[:2], 2) || !digits(s[3:5], 2) || !digits(s[6:8], 2) {
		return false
	}
	hour, _ := strconv.Atoi(s[:2])
	minute, _ := strconv.Atoi(s[3:5])
	second, _ := strconv.Atoi(s[6:8])
	s = s[8:]
	if s[0] == '.' {
		rest := strings.TrimLeft(s[1:], "0123456789")
		if len(rest) == len(s)-1 {
			return false
		}
		s = rest
	}
	offset, ok := offsetOf(s)
	if !ok || hour > 23 || minute > 59 || second > 60 {
		return false
	}
	utc := (hour*60 + minute - offset + 2*24*60) % (24 * 60)
	return second < 60 || utc == 24*60-1
}

// offsetOf reads Z, or hours and minutes with their sign, as minutes.
func offsetOf(s string) (minutes int, ok bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' || !digits(s[1:3], 2) || !digits(s[4:], 2) {
		return 0, false
	}
	h, _ := strconv.Atoi(s[1:3])
	m, _ := strconv.Atoi(s[4:])
	if h > 23 || m > 59 {
		return 0, false
	}
	if s[0] == '-' {
		return -h*60 - m, true
	}
	return h*60 + m, true
}

// isDuration is one of ISO 8601 as RFC 3339 has it: P, then weeks alone, or parts in their order, those of a day after T.
func isDuration(s string) bool {
	s, ok := strings.CutPrefix(s, "P")
	if !ok || s == "" {
		return false
	}
	if weeks, ok := strings.CutSuffix(s, "W"); ok {
		return weeks != "" && digits(weeks, len(weeks))
	}
	day, clock, timed := strings.Cut(s, "T")
	if timed && clock == "" || day == "" && !timed {
		return false
	}
	return partsOf(day, "YMD") && partsOf(clock, "HMS")
}

// partsOf says whether a text is numbers, each with a unit, in the order of the units and without a gap between them.
func partsOf(s, units string) bool {
	last := -1
	for s != "" {
		rest := strings.TrimLeft(s, "0123456789")
		if len(rest) == len(s) || rest == "" {
			return false
		}
		i := strings.IndexByte(units, rest[0])
		if i < 0 || i <= last || last >= 0 && i != last+1 {
			return false
		}
		last, s = i, rest[1:]
	}
	return true
}

func isHostname(s string) bool {
	if len(s) > 253 {
		return false
	}
	for _, label := range strings.Split(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if c != '-' && !alphanumeric(c) {
				return false
			}
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// isEmail is an address of RFC 5321, without comments.
func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || len(s) > 254 {
		return false
	}
	local, domain := s[:at], s[at+1:]
	if len(local) > 1 && local[0] == '"' && local[at-1] == '"' {
		if !isQuoted(local[1 : at-1]) {
			return false
		}
	} else if !isAtoms(local) {
		return false
	}
	if inner, ok := strings.CutPrefix(domain, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if six, tagged := strings.CutPrefix(inner, "IPv6:"); tagged {
			return ok && formatted("ipv6", six)
		}
		return ok && formatted("ipv4", inner)
	}
	return isHostname(domain)
}

func isQuoted(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == '"' {
			return false
		}
	}
	return true
}

func isAtoms(s string) bool {
	for _, atom := range strings.Split(s, ".") {
		if atom == "" || strings.ContainsFunc(atom, func(r rune) bool {
			return r <= ' ' || r == 0x7f || strings.ContainsRune(`"(),:;<>@[\]`, r)
		}) {
			return false
		}
	}
	return true
}

// isURL: Go's reader takes more than RFC 3986 has.
func isURL(s string, ascii, absolute bool) bool {
	u, err := url.Parse(s)
	if err != nil || absolute && !u.IsAbs() || strings.ContainsAny(s, " \\<>\"{}|^`") {
		return false
	}
	if strings.Contains(u.Host, ":") && !strings.Contains(u.Host, "[") && strings.Count(u.Host, ":") > 1 {
		return false
	}
	if ascii && strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return false
	}
	_, fragment, _ := strings.Cut(s, "#")
	return !strings.Contains(fragment, "#")
}

// isTemplate looks at the braces of a template.
func isTemplate(s string) bool {
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			return true
		}
		end := strings.IndexAny(s[i+1:], "{}")
		if s[i] != '{' || end <= 0 || s[i+1+end] != '}' {
			return false
		}
		s = s[i+1+end+1:]
	}
	return true
}

func isPointer(s string) bool {
	if s != "" && s[0] != '/' {
		return false
	}
	for i := range len(s) {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}

func isRelativePointer(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	up := s[:len(s)-len(rest)]
	if up == "" || len(up) > 1 && up[0] == '0' {
		return false
	}
	return rest == "#" || isPointer(rest)
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return false
		}
	}
	return true
}

// isRegex is whether Go's engine can read it.
func isRegex(s string) bool {
	if len(s) > maxPattern {
		return false
	}
	_, err := syntax.Parse(fromECMA(s), syntax.Perl)
	return err == nil
}
