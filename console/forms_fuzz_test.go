package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// pageRoutes are the routes of groups, schemas, security and broker, but for the two that change how the broker treats the console
// itself: a quota of everybody, and any config.
func pageRoutes(w *walk) []string {
	var routes []string
	for _, pattern := range w.console.Routes() {
		_, at, _ := strings.Cut(pattern, " ")
		for _, area := range []string{"/groups", "/schemas", "/security", "/broker"} {
			if strings.HasPrefix(at, area) && pattern != "POST /security/quotas/edit" && pattern != "POST /broker/config/{key}" {
				routes = append(routes, pattern)
			}
		}
	}
	return routes
}

// filled is a pattern with a name in the place of each of its names.
func filled(pattern, name string) string {
	parts := strings.Split(pattern, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			parts[i] = url.PathEscape(name)
		}
	}
	return strings.Join(parts, "/")
}

// FuzzPageForms: any address and any form of the pages of groups, schemas, security and broker is answered, with a broker and a registry
// behind them, and no text in it becomes markup.
func FuzzPageForms(f *testing.F) {
	w := start(f)
	w.topicOf("orders", 1, 3)
	w.commit("billing", "orders", 1)
	w.registers("orders-value", "AVRO", orderV1)
	routes := pageRoutes(w)
	for i := range routes {
		f.Add(uint(i), "billing", "strategy=earliest&topic=orders&from=1&to=1&version=1", "plan=1+0+0+orders&topic=orders&typed=billing&do=check&type=AVRO&schema=%22string%22&subject=fuzz")
		f.Add(uint(i), "<script>hostile()</script>", "q=%3Cscript%3Ehostile()%3C/script%3E&principal=%3Cscript%3Ehostile()&subject=%3Cscript%3Ehostile()", "user=%3Cscript%3Ehostile()&password=x&mechanism=1&iterations=4096&what=level&value=%3Cscript%3Ehostile()&ref-name=a&ref-subject=b&ref-version=c")
	}
	f.Fuzz(func(t *testing.T, n uint, name, query, body string) {
		method, at, _ := strings.Cut(routes[n%uint(len(routes))], " ")
		if _, err := url.Parse(filled(at, name) + "?" + query); err != nil || strings.ContainsAny(query, " \x00\r\n\t#") || strings.ContainsFunc(query, func(r rune) bool { return r < ' ' || r > '~' }) {
			return // no client can send it
		}
		w.t = t
		got := w.do(method, filled(at, name)+"?"+query, "application/x-www-form-urlencoded", strings.NewReader(body))
		if got.Status >= http.StatusInternalServerError {
			t.Fatalf("%s %s ? %q with %q: %d\n%s", method, at, query, body, got.Status, got.Body)
		}
		if strings.Contains(got.Body, "<script>hostile") {
			t.Fatalf("%s %s: a text became markup", method, at)
		}
	})
}
