package configs

import (
	"strings"
	"testing"
)

// FuzzValue: a value that a key takes is answered in a form that the key takes again, to the same.
func FuzzValue(f *testing.F) {
	for _, s := range []string{"1", " 5 ", "compact,delete", "0:1,1:2", "*", "0x1p3", "by_duration:PT1H", "true", "NaN", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, table := range []*Table{TopicKeys, GroupKeys, ClientMetricsKeys} {
			for i := range table.All() {
				d := &table.All()[i]
				v, err := d.Parse(s)
				if err != nil || Format(v) != javaTrim(Format(v)) {
					continue // as in Kafka, a blank that ends a list's inner entry may come to end the list, and goes
				}
				if again, err := d.Parse(Format(v)); err != nil || Format(again) != Format(v) {
					t.Errorf("%s=%q is %q, which is %v, %v", d.Name, s, Format(v), again, err)
				}
			}
		}
	})
}

// FuzzProperties: what is read can be written and read again.
func FuzzProperties(f *testing.F) {
	f.Add([]byte("a=1\n# c\nb : 2 \\\n 3\nu=\\u00e9"))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := ParseProperties(text)
		if err != nil {
			return
		}
		var out strings.Builder
		for _, p := range all {
			out.WriteString(escapeProperty(p.Name) + "=" + escapeProperty(p.Value) + "\n")
		}
		again, err := ParseProperties([]byte(out.String()))
		if err != nil || len(again) != len(all) {
			t.Fatalf("%q read again: %d of %d, %v", out.String(), len(again), len(all), err)
		}
		for i := range all {
			if again[i].Name != all[i].Name || again[i].Value != all[i].Value {
				t.Errorf("%q=%q is %q=%q when read again", all[i].Name, all[i].Value, again[i].Name, again[i].Value)
			}
		}
	})
}

func escapeProperty(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`, "=", `\=`, ":", `\:`, " ", `\ `, "#", `\#`, "!", `\!`).Replace(s)
}

// FuzzEnvironment: a property's name has no capital letter and its variable leads back to it.
func FuzzEnvironment(f *testing.F) {
	f.Add("KAFKA_NUM_PARTITIONS=3")
	f.Add("KAFKA_A__B___C=")
	f.Fuzz(func(t *testing.T, e string) {
		for _, p := range FromEnvironment([]string{e}) {
			if p.Name == "" || p.Name != strings.ToLower(p.Name) {
				t.Errorf("%q names the property %q", e, p.Name)
			}
		}
	})
}
