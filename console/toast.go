package console

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
)

// toast is what the next page says once: what was done, and where it can be taken back.
type toast struct {
	Text string `json:"t"`
	Undo string `json:"u,omitempty"`
}

const (
	toastCookie = "doze_toast"
	maxToast    = 600 // bytes of its text: a cookie has room for 4 KiB
)

// setToast leaves a toast with the browser for the next page.
func setToast(w http.ResponseWriter, t toast) {
	t.Text = clip(t.Text, maxToast)
	if len(t.Undo) > 2000 {
		t.Undo = ""
	}
	b, err := json.Marshal(t)
	if err != nil {
		return // a struct of two strings always is JSON
	}
	http.SetCookie(w, &http.Cookie{
		Name: toastCookie, Value: base64.RawURLEncoding.EncodeToString(b), Path: "/", MaxAge: 60, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// takeToast is the toast that the browser has brought, which it forgets; nil: none. It is shown as text, whoever wrote it; the way
// back is only a path of the console.
func takeToast(r *http.Request, w http.ResponseWriter) *toast {
	cookie, err := r.Cookie(toastCookie)
	if err != nil {
		return nil
	}
	http.SetCookie(w, &http.Cookie{Name: toastCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return parseToast(cookie.Value)
}

// parseToast reads a cookie.
//
//fuzz:parser class=http FuzzConsoleForms
func parseToast(value string) *toast {
	b, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return nil
	}
	var t toast
	if json.Unmarshal(b, &t) != nil || t.Text == "" {
		return nil
	}
	if !ownPath(t.Undo) {
		t.Undo = ""
	}
	return &t
}

// ownPath says whether an address is a path of this server and of no other.
func ownPath(s string) bool {
	if len(s) == 0 || s[0] != '/' || len(s) > 1 && (s[1] == '/' || s[1] == '\\') {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f || s[i] == '\\' {
			return false
		}
	}
	return true
}
