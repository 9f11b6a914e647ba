package configs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParseProperties(t *testing.T) {
	// What java.util.Properties makes of the same text.
	text := "# a comment\n! another\n\n  a=1\nb : 2\nc 3\nd\t=\t4 \ne\\ f = g\\=h\nlong = one, \\\n   two, \\\r\n\tthree\n" +
		"u = \\u00e9\\ud83d\\ude00\\t|\nempty\nback = c:\\\\dir\\x\nodd = x\\\\\\\n  y\na = last\rend=\\"
	var got []string
	all, err := ParseProperties([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		got = append(got, fmt.Sprintf("%d %q=%q", p.Line, p.Name, p.Value))
	}
	want := []string{`4 "a"="1"`, `5 "b"="2"`, `6 "c"="3"`, `7 "d"="4 "`, `8 "e f"="g=h"`, `9 "long"="one, two, three"`,
		`12 "u"="é😀\t|"`, `13 "empty"=""`, `14 "back"="c:\\dirx"`, `15 "odd"="x\\y"`, `17 "a"="last"`, `18 "end"=""`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestParsePropertiesRefuses(t *testing.T) {
	if _, err := ParseProperties([]byte("a=1\nb=\\u12x4")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a bad escape: %v", err)
	}
	if _, err := ParseProperties(make([]byte, PropertiesMax+1)); err == nil {
		t.Error("a text over the bound is read")
	}
}

func TestFromEnvironment(t *testing.T) {
	got := FromEnvironment([]string{"KAFKA_NUM_PARTITIONS=3", "PATH=/bin", "KAFKA_HEAP_OPTS=-Xmx1g", "KAFKA_", "KAFKA_A__B___C_D=x=y",
		"KAFKA_AUTO_CREATE_TOPICS_ENABLE=false", "KAFKA_BOOTSTRAP_SERVERS=localhost:9092"})
	want := []Property{{"a_b-c.d", "x=y", 0}, {"auto.create.topics.enable", "false", 0}, {"num.partitions", "3", 0}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if v := EnvironmentName("a_b-c.d"); v != "KAFKA_A__B___C_D" {
		t.Errorf("variable %s", v)
	}
}

// TestEveryPropertyHasAVariable: the name of the variable leads back to the property.
func TestEveryPropertyHasAVariable(t *testing.T) {
	for _, d := range BrokerKeys.All() {
		got := FromEnvironment([]string{EnvironmentName(d.Name) + "=1"})
		if len(got) != 1 || got[0].Name != d.Name {
			t.Errorf("%s: %v", d.Name, got)
		}
	}
}
