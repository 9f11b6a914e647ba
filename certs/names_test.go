package certs

import (
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
)

// lines of a file in testdata, each taken apart at its tabs.
func lines(t testing.TB, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		all = append(all, strings.Split(line, "\t"))
	}
	return all
}

// testdata/names.txt: a name in DER, and what X500Principal.getName of Java 17 makes of it.
func TestNamesAsJava(t *testing.T) {
	for _, l := range lines(t, "names.txt") {
		der, err := hex.DecodeString(l[0])
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Join(l[1:], "\t")
		if got, err := Name(der); err != nil || got != want {
			t.Errorf("%s: %q, %v; Java says %q", l[0], got, err, want)
		}
	}
}

func TestNamesThatAreNone(t *testing.T) {
	for _, der := range []string{"", "00", "3002", "30023000", "300430020500", "3006310430020500", "3000ff"} {
		b, _ := hex.DecodeString(der)
		if got, err := Name(b); err == nil {
			t.Errorf("%s: %q", der, got)
		}
	}
}

// notTaken are patterns that Java can match and we refuse at the start, and replacements that Java refuses at a login.
var notTaken = []string{
	`RULE:CN=([^,]*+),.*/$1/`, `RULE:(?=CN)(.*)/$1/`, `RULE:(.)\1.*/$1/`, `RULE:(.*)\Z/$1/`, `RULE:(.*)\h/$1/`, `RULE:[a-z&&[^b]]/b/`,
	`RULE:CN=(\w+),OU=(\p{Alpha}+).*/$1-$2/`, `RULE:CN=(\p{javaLowerCase}+).*/$1/`,
}

// testdata/rules.txt: rules, a name, and what SslPrincipalMapper of Kafka 4.3.1 makes of it: =USER, none (no rule matches), bad
// (no rules) or error (the rule fails when it is applied).
func TestRulesAsKafka(t *testing.T) {
	for _, l := range lines(t, "rules.txt") {
		text, name, want := l[0], l[1], l[2]
		rules, err := ParseRules(text)
		refused := want == "bad" || want == "error"
		for _, n := range notTaken {
			refused = refused || n == text
		}
		if refused || err != nil {
			if (err == nil) == refused {
				t.Errorf("%s: %v; Kafka says %s", text, err, want)
			}
			continue
		}
		user, err := rules.User(name)
		switch {
		case errors.Is(err, ErrNoRule):
			user = "none"
		case err == nil:
			user = "=" + user
		}
		if user != want {
			t.Errorf("%s of %q: %q, %v; Kafka says %q", text, name, user, err, want)
		}
	}
}

func TestRulesAreBounded(t *testing.T) {
	if _, err := ParseRules(strings.Repeat("DEFAULT,", rulesMax+1)); err == nil {
		t.Error("any number of rules is taken")
	}
	if _, err := ParseRules("RULE:" + strings.Repeat("a", patternMax+1) + "/b/"); err == nil {
		t.Error("a pattern of any length is taken")
	}
	if _, err := ParseRules("RULE:((a{1000}){1000}){1000}/b/"); err == nil {
		t.Error("a pattern of any size is taken")
	}
}

func FuzzName(f *testing.F) {
	for _, l := range lines(f, "names.txt") {
		der, _ := hex.DecodeString(l[0])
		f.Add(der)
	}
	f.Fuzz(func(t *testing.T, der []byte) {
		if name, err := Name(der); err == nil && len(name) > 16*len(der)+16 {
			t.Errorf("%d bytes make a name of %d", len(der), len(name))
		}
	})
}

func FuzzRules(f *testing.F) {
	for _, l := range lines(f, "rules.txt") {
		f.Add(l[0], l[1])
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		text, name = text[:min(len(text), 4096)], name[:min(len(name), 1024)] // what takes milliseconds: a bound of the search, not of the rules
		if rules, err := ParseRules(text); err == nil {
			_, _ = rules.User(name)
		}
	})
}
