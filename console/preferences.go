package console

import (
	"net/http"
	"strings"
	"time"
	_ "time/tzdata" // a machine without a database of zones, Windows first of all
)

// What a browser keeps of a person's taste. Everything else that a page shows is in its address.
const (
	themeCookie = "doze_theme"
	zoneCookie  = "doze_zone"
	yearSeconds = 365 * 24 * 3600
)

func (c *Console) preferenceRoutes() []route {
	return []route{{pattern: "POST /preferences", do: setPreferences}}
}

// setPreferences keeps a theme or a zone, and goes back to where the person was.
func setPreferences(r *request) (answer, error) {
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	kept := preferences{back: "/"}
	if to := f.text("back"); ownPath(to) {
		kept.back = to
	}
	if theme := f.text("theme"); theme == "dark" || theme == "light" || theme == "system" {
		kept.cookies = append(kept.cookies, keep(themeCookie, theme))
	}
	if zone := f.text("zone"); zone == "UTC" || zoneName().MatchString(zone) {
		if _, err := time.LoadLocation(zone); err != nil {
			return nil, badRequest("The zone %s is not known", clip(zone, 64))
		}
		kept.cookies = append(kept.cookies, keep(zoneCookie, zone))
	}
	return kept, nil
}

// preferences is the answer that keeps cookies.
type preferences struct {
	cookies []*http.Cookie
	back    string
}

func (p preferences) send(r *request, w http.ResponseWriter) {
	for _, cookie := range p.cookies {
		http.SetCookie(w, cookie)
	}
	done{To: p.back}.send(r, w)
}

func keep(name, value string) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: yearSeconds, SameSite: http.SameSiteStrictMode, HttpOnly: true}
}

var zoneName = lazyForm(`^[A-Za-z][A-Za-z0-9_+-]{0,30}(/[A-Za-z0-9_+-]{1,30}){0,2}$`)

// zoneOf is the zone that a browser wants times in: UTC unless it has said another.
func zoneOf(r *http.Request) *time.Location {
	cookie, err := r.Cookie(zoneCookie)
	if err != nil || !zoneName().MatchString(cookie.Value) || strings.EqualFold(cookie.Value, "local") {
		return time.UTC
	}
	zone, err := time.LoadLocation(cookie.Value)
	if err != nil {
		return time.UTC
	}
	return zone
}

func themeOf(r *http.Request) string {
	cookie, err := r.Cookie(themeCookie)
	if err != nil || cookie.Value != "dark" && cookie.Value != "light" {
		return ""
	}
	return cookie.Value
}
