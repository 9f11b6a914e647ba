package registry

import (
	"net/http"
	"sync"
)

// Bounds of what is kept of answers.
const (
	maxAnswers     = 4096
	maxAnswerBytes = 8 << 20
	maxAnswer      = 64 << 10
	maxAnswerURI   = 1 << 10
)

// answers are the last bodies that were sent to requests that change nothing: every client asks for the same few ids. All of them
// are of one state of the registry and go with its first change, so they can never be old.
type answers struct {
	mu      sync.RWMutex
	changes uint64 // of the state that they are of
	byURI   map[string][]byte
	bytes   int
}

// get is the body for the request, or nil.
func (a *answers) get(hr *http.Request, changes uint64) []byte {
	if hr.Method != http.MethodGet {
		return nil
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.changes != changes {
		return nil
	}
	return a.byURI[hr.RequestURI]
}

// put keeps the body, which is not changed any more.
func (a *answers) put(hr *http.Request, changes uint64, body []byte) {
	if hr.Method != http.MethodGet || hr.RequestURI == "" || len(hr.RequestURI) > maxAnswerURI || len(body) == 0 || len(body) > maxAnswer {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	size := len(hr.RequestURI) + len(body)
	if changes < a.changes {
		return
	}
	if a.changes != changes || a.byURI == nil || len(a.byURI) >= maxAnswers || a.bytes+size > maxAnswerBytes {
		a.changes, a.bytes, a.byURI = changes, 0, map[string][]byte{}
	}
	if _, has := a.byURI[hr.RequestURI]; !has {
		a.bytes += size
	}
	a.byURI[hr.RequestURI] = body
}
