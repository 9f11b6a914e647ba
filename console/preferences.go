package console

import (
	"net/http"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a machine without a database of zones, Windows first of all
)

// What a browser keeps of a person's taste. Everything else that a page shows is in its address.
const (
	themeCookie = "doze_theme"
	zoneCookie  = "doze_zone"
	pinsCookie  = "doze_pins"
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
	if topic := f.text("pin"); pinnable().MatchString(topic) {
		kept.cookies = append(kept.cookies, keep(pinsCookie, strings.Join(toggled(pinsOf(r.Request), topic), ",")))
	}
	return kept, nil
}

// maxPins is how many bytes the names of pinned topics have together: a browser keeps 4 KiB of a cookie.
const maxPins = 3500

// toggled is the list with a topic in front, or without it when it was there. What is pinned for longest makes room.
func toggled(pins []string, topic string) []string {
	if i := slices.Index(pins, topic); i >= 0 {
		return slices.Delete(slices.Clone(pins), i, i+1)
	}
	room, kept := maxPins, []string{}
	for _, name := range append([]string{topic}, pins...) {
		if room -= len(name) + 1; room < 0 {
			break
		}
		kept = append(kept, name)
	}
	return kept
}

var pinnable = lazyForm(`^[a-zA-Z0-9._-]{1,249}$`)

// pinsOf are the topics that a browser wants first.
//
//fuzz:parser class=http FuzzConsoleForms
func pinsOf(r *http.Request) []string {
	cookie, err := r.Cookie(pinsCookie)
	if err != nil || len(cookie.Value) > maxPins {
		return nil
	}
	var pins []string
	for name := range strings.SplitSeq(cookie.Value, ",") {
		if pinnable().MatchString(name) && !slices.Contains(pins, name) {
			pins = append(pins, name)
		}
	}
	return pins
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
