package jsonvalid

import (
	"strconv"
	"strings"
)

// path is a place in a document. It is a list towards the root, and becomes text only where something is wrong there.
type path struct {
	up    *path
	key   string
	index int // -1 where key counts
}

func (p *path) member(key string) *path { return &path{p, key, -1} }
func (p *path) item(i int) *path        { return &path{p, "", i} }

// maxPath is how much of a path is told.
const maxPath = 500

// String is the place as a JSON pointer; of a long one the end.
func (p *path) String() string {
	var steps []string
	for length := 0; p != nil && p.up != nil; p = p.up {
		step := strings.NewReplacer("~", "~0", "/", "~1").Replace(clip(p.key, maxPath/2))
		if p.index >= 0 {
			step = strconv.Itoa(p.index)
		}
		steps = append(steps, step)
		if length += len(step) + 1; length > maxPath {
			steps = append(steps, "...")
			break
		}
	}
	var b strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		b.WriteString("/" + steps[i])
	}
	return b.String()
}

// clip is the beginning of a text, whole runes.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
