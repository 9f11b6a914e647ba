package console

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed templates
var templateFiles embed.FS

// templateSets are the templates once for each zone that times are shown in. A set is made from a master that never executes.
type templateSets struct {
	once   sync.Once
	master *template.Template
	broken error
	now    func() time.Time
	mu     sync.Mutex
	byZone map[string]*template.Template
}

// maxZones bounds the sets that are kept: a browser says its zone itself.
const maxZones = 8

func newTemplateSets(now func() time.Time) *templateSets {
	return &templateSets{now: now, byZone: map[string]*template.Template{}}
}

// read parses the templates, when the first page is asked for: a broker starts without them.
func (s *templateSets) read() {
	s.master = template.New("").Funcs(templateFuncs(time.UTC, s.now)).Funcs(watching)
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		s.broken = err
		return
	}
	for _, name := range names {
		b, err := templateFiles.ReadFile(name)
		if err == nil {
			_, err = s.master.New(name).Parse(templateText(b))
		}
		if err != nil {
			s.broken = fmt.Errorf("read the template %s: %w", name, err)
			return
		}
	}
}

// Tests find out which templates are executed, and what they show where, by calls that they put into each.
var (
	templateText = func(b []byte) string { return string(b) }
	watching     template.FuncMap
)

// in is the set for a zone.
func (s *templateSets) in(zone *time.Location) (*template.Template, error) {
	if s.once.Do(s.read); s.broken != nil {
		return nil, s.broken
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if set := s.byZone[zone.String()]; set != nil {
		return set, nil
	}
	set, err := s.master.Clone()
	if err != nil {
		return nil, fmt.Errorf("copy the templates: %w", err)
	}
	set.Funcs(templateFuncs(zone, s.now))
	if len(s.byZone) >= maxZones {
		clear(s.byZone)
	}
	s.byZone[zone.String()] = set
	return set, nil
}

// templateFuncs are what templates call. README.md lists them.
func templateFuncs(zone *time.Location, now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"asset":     asset,
		"path":      path,
		"query":     withQuery,
		"num":       grouped,
		"bytes":     humanBytes,
		"tableName": tableName,
		"bytesOf":   func(n int) string { return humanBytes(int64(n)) },
		"when":      func(t time.Time) string { return absolute(t, zone) },
		"iso":       func(t time.Time) string { return t.UTC().Format(isoMillis) },
		"ago":       func(t time.Time) string { return ago(t, now()) },
		"clip":      func(most int, s string) string { return clip(s, most) },
		"plural":    func(n any, noun string) string { return pluralOf(grouped(n), noun) },
		"dict":      dict,
		"toJSON":    func(v any) (string, error) { b, err := json.Marshal(v); return string(b), err },
		"join":      strings.Join,
		"split":     func(s string) []string { return strings.Split(s, ",") },
		"int64":     func(n int) int64 { return int64(n) },
	}
}

const isoMillis = "2006-01-02T15:04:05.000Z07:00"

// absolute is a time with its milliseconds and zone. The zero time is a dash.
func absolute(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return "—"
	}
	if zone == time.UTC {
		return t.UTC().Format("2006-01-02 15:04:05.000 UTC")
	}
	return t.In(zone).Format("2006-01-02 15:04:05.000 -07:00")
}

// ago is a time in relation to now, in words.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	d, form := now.Sub(t), "%s ago"
	if d < 0 {
		d, form = -d, "in %s"
	}
	return fmt.Sprintf(form, roughly(d))
}

func roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < 2*time.Minute:
		return plural(int64(d/time.Second), "second")
	case d < 2*time.Hour:
		return plural(int64(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return plural(int64(d/time.Hour), "hour")
	}
	return plural(int64(d/(24*time.Hour)), "day")
}

// plural is a number with its noun.
func plural[N int | int32 | int64](n N, noun string) string {
	return pluralOf(grouped(n), noun)
}

func pluralOf(n, noun string) string {
	if n == "1" {
		return "1 " + noun
	}
	return n + " " + noun + "s"
}

// grouped is a whole number with a comma at each thousand.
func grouped(v any) string {
	s := fmt.Sprint(v)
	sign, digits := "", s
	if strings.HasPrefix(s, "-") {
		sign, digits = "-", s[1:]
	}
	if len(digits) < 4 || strings.Trim(digits, "0123456789") != "" {
		return s
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// humanBytes is a size in the unit that fits it.
func humanBytes(n int64) string {
	if n < 1024 && n > -1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f, unit := float64(n)/1024, 0
	for f >= 1024 || f <= -1024 {
		f /= 1024
		unit++
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " " + []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}[unit]
}

// dict makes a dot for a template of names and values in turn.
func dict(pairs ...any) (map[string]any, error) {
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("name %v of a template's dict is no text", pairs[i])
		}
		m[name] = pairs[i+1]
	}
	return m, nil
}
