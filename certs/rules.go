package certs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Bounds of rules.
const (
	rulesMax   = 100
	patternMax = 4096 // bytes of a pattern, and of a replacement
	nameMax    = 4096 // bytes of a name that patterns are matched against
	matchesMax = 1000 // in one name
	userMax    = 8192 // bytes of what comes out, about
)

// Rules turn the name of a certificate into that of a user: ssl.principal.mapping.rules. The first rule that matches all of
// the name is the one that counts.
type Rules []rule

// rule is DEFAULT, which leaves the name as it is, when it has no pattern.
type rule struct {
	pattern *pattern
	with    replacement
	to      byte // L, U or 0: lower case, upper case, as it is
}

// ErrNoRule says that no rule matches a name. Its bearer is not let in.
var ErrNoRule = errors.New("no rule of ssl.principal.mapping.rules matches")

// ParseRules reads rules, separated by commas: DEFAULT, or RULE:PATTERN/REPLACEMENT/ with L or U behind it. In pattern and
// replacement a slash is written \/. Patterns are Java's as far as they can be matched in linear time; what cannot is refused.
//
//fuzz:parser class=config FuzzRules
func ParseRules(text string) (Rules, error) {
	var rules Rules
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimLeft(rest, " \t\r\n") {
		if rest[0] == ',' {
			rest = rest[1:]
			continue
		}
		if len(rules) == rulesMax {
			return nil, fmt.Errorf("more than %d rules", rulesMax)
		}
		r, behind, err := parseRule(rest)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
		rest = strings.TrimLeft(behind, " \t\r\n")
		if rest != "" && rest[0] != ',' {
			return nil, fmt.Errorf("%q stands behind a rule; separate rules by commas", shortened(rest))
		}
	}
	return rules, nil
}

// parseRule reads the rule at the front of a text.
//
//fuzz:not-a-parser ParseRules is its only caller.
func parseRule(text string) (r rule, rest string, err error) {
	if rest, ok := strings.CutPrefix(text, "DEFAULT"); ok {
		return rule{}, rest, nil
	}
	body, ok := strings.CutPrefix(text, "RULE:")
	if !ok {
		return r, "", fmt.Errorf("%q is no rule; write DEFAULT or RULE:PATTERN/REPLACEMENT/", shortened(text))
	}
	pattern, rest, ok1 := cutSlash(body)
	replacement, rest, ok2 := cutSlash(rest)
	if !ok1 || !ok2 {
		return r, "", fmt.Errorf("rule %q has no two slashes; write RULE:PATTERN/REPLACEMENT/", shortened(text))
	}
	if len(pattern) > patternMax || len(replacement) > patternMax {
		return r, "", fmt.Errorf("a rule has a part of more than %d bytes", patternMax)
	}
	if r.pattern, err = compile(pattern); err != nil {
		return r, "", fmt.Errorf("rule with the pattern %q: %w", shortened(pattern), err)
	}
	if r.with, err = parseReplacement(replacement, r.pattern); err != nil {
		return r, "", fmt.Errorf("rule with the replacement %q: %w", shortened(replacement), err)
	}
	if rest != "" && (rest[0] == 'L' || rest[0] == 'U') {
		r.to, rest = rest[0], rest[1:]
	}
	return r, rest, nil
}

// cutSlash cuts a text at the first slash that no backslash stands before.
func cutSlash(s string) (before, after string, found bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '/':
			return s[:i], s[i+1:], true
		}
	}
	return "", "", false
}

func shortened(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

// errLarge says that a name, or what rules make of it, is longer than anybody's.
var errLarge = errors.New("the name of the certificate, or what ssl.principal.mapping.rules make of it, is too long")

// User is the name of the user that the rules give to a certificate's name, or ErrNoRule.
func (rs Rules) User(name string) (string, error) {
	for _, r := range rs {
		if r.pattern == nil {
			return name, nil
		}
		if len(name) > nameMax {
			return "", errLarge
		}
		if r.pattern.whole.MatchString(name) {
			return r.apply(name)
		}
	}
	return "", fmt.Errorf("%w %q", ErrNoRule, shortened(name))
}

func (r rule) apply(name string) (string, error) {
	user, ok := r.pattern.replaceAll(name, r.with)
	if !ok {
		return "", errLarge
	}
	switch r.to {
	case 'L':
		user = strings.ToLower(strings.ReplaceAll(user, "\u0130", "i\u0307"))
	case 'U':
		user = strings.ToUpper(strings.ReplaceAll(user, "\u00df", "SS"))
	}
	return user, nil
}

// pattern is a regular expression in the three forms that Java's replacing takes here: for all of a text, for the first
// place in it, and for the next place after one character that only gives the context. In the last two, group 1 is the match.
type pattern struct {
	whole, first, next *regexp.Regexp
}

func compile(text string) (*pattern, error) {
	if err := javaOnly(text); err != nil {
		return nil, err
	}
	if _, err := regexp.Compile(text); err != nil {
		return nil, fmt.Errorf("%w; look-around, back references and possessive quantifiers are not taken", err)
	}
	var p pattern
	for _, form := range []struct {
		to   **regexp.Regexp
		text string
	}{{&p.whole, `\A(?:` + text + `)\z`}, {&p.first, `\A(?s:.*?)(` + text + `)`}, {&p.next, `\A(?s:.)(?s:.*?)(` + text + `)`}} {
		compiled, err := regexp.Compile(form.text)
		if err != nil {
			return nil, err
		}
		*form.to = compiled
	}
	return &p, nil
}

// javaOnly refuses what Go reads as something else than Java does: classes within classes.
func javaOnly(text string) error {
	inClass, quoted := false, false
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case quoted:
			if strings.HasPrefix(rest, `\E`) {
				quoted = false
				i++
			}
		case strings.HasPrefix(rest, `\Q`):
			quoted = true
			i++
		case rest[0] == '\\':
			i++
		case inClass && (rest[0] == '[' || strings.HasPrefix(rest, "&&")):
			return errors.New("classes within a class are not taken; write one class")
		case rest[0] == '[':
			inClass = true
			if strings.HasPrefix(rest, "[]") || strings.HasPrefix(rest, "[^]") {
				return errors.New(`a class begins with ]; write it as \]`)
			}
		case rest[0] == ']':
			inClass = false
		}
	}
	return nil
}

// replaceAll replaces every match. Unlike Go, and like Java, it counts an empty match right behind another one. false: there
// are more than could be meant.
func (p *pattern) replaceAll(s string, with replacement) (string, bool) {
	var b strings.Builder
	done, re, base := 0, p.first, 0
	for matches := 0; ; matches++ {
		if matches == matchesMax || b.Len() > userMax {
			return "", false
		}
		m := re.FindStringSubmatchIndex(s[base:])
		if m == nil {
			break
		}
		start, end := base+m[2], base+m[3]
		b.WriteString(s[done:start])
		with.expand(&b, s[base:], m)
		done = end
		at := end // where the next match may begin
		if start == end {
			if at == len(s) {
				break
			}
			at += runeAt(s[at:])
		}
		if at == 0 {
			continue
		}
		re, base = p.next, at-runeBefore(s[:at])
	}
	b.WriteString(s[done:])
	return b.String(), true
}
