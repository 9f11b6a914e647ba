package console

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"sync"
)

// Bounds of filters that are too long for an address. Browsers send the address of a page up to three times with a request of one
// of its parts, proxies and chats take a few kilobytes of it.
const (
	maxInAddress = 1000 // bytes of a filter as an address writes it
	maxFilters   = 500  // that are kept; each has maxExpression bytes at most
)

// longFilters keep filters that are too long for an address under a short id, in memory. The id is made of the text: the same
// filter has the same one, also after a restart, when somebody has typed it again.
type longFilters struct {
	mu   sync.Mutex
	byID map[string]*keptFilter
	turn uint64
}

type keptFilter struct {
	text string
	used uint64 // turn of the last use
}

func newLongFilters() *longFilters { return &longFilters{byID: map[string]*keptFilter{}} }

// keep gives the id of a filter. When there are too many, the one that was not used for longest is forgotten.
func (l *longFilters) keep(text string) string {
	sum := sha256.Sum256([]byte(text))
	id := base64.RawURLEncoding.EncodeToString(sum[:12])
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn++
	if kept := l.byID[id]; kept != nil {
		kept.used = l.turn
		return id
	}
	if len(l.byID) >= maxFilters {
		l.forgetOne()
	}
	l.byID[id] = &keptFilter{text, l.turn}
	return id
}

func (l *longFilters) forgetOne() {
	least, at := "", l.turn+1
	for id, kept := range l.byID {
		if kept.used < at {
			least, at = id, kept.used
		}
	}
	delete(l.byID, least)
}

func (l *longFilters) find(id string) (text string, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.byID[id]
	if kept == nil {
		return "", false
	}
	l.turn++
	kept.used = l.turn
	return kept.text, true
}

// filterNames are the values of an address that may be long: beside each stands its id, as cel-id.
var filterNames = []string{"q", "cel"}

// shortened is the request's address with an id in place of each long filter; empty: there is none.
func (r *request) shortened() string {
	var pairs []string
	for _, name := range filterNames {
		text := r.query(name)
		if len(url.QueryEscape(text)) > maxInAddress && len(text) <= maxExpression {
			pairs = append(pairs, name, "", name+"-id", r.c.filters.keep(text))
		}
	}
	if pairs == nil {
		return ""
	}
	return r.changed(pairs...)
}

// filterText is a filter of the address, or the one that the address has an id of.
func (r *request) filterText(name string) (text string, known bool) {
	if text := r.query(name); text != "" {
		return text, true
	}
	id := r.query(name + "-id")
	if id == "" {
		return "", true
	}
	return r.c.filters.find(id)
}

// errForgotten is the answer to a link whose filter is not kept any more: without it the messages would be other ones.
var errForgotten = problem{
	Status: http.StatusGone, Message: "The filter of this link is not known any more",
	Hint: "It is too long for an address, so the console keeps it in memory: the last 500 until it stops. Type it again: its link will be the same.",
}
