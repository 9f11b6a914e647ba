package console

import (
	"html/template"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Visited counts how often each template was executed, in all tests of the package.
var Visited = struct {
	sync.Mutex
	Times map[string]int
}{Times: map[string]int{}}

var define = regexp.MustCompile(`\{\{-?\s*define "([^"]+)"\s*-?\}\}`)

// init makes every template of this test binary say that it is executed, and what it shows.
func init() {
	templateText = func(b []byte) string { return show(string(b)) }
	watching = template.FuncMap{"visited": visit, "shown": showField}
}

func visit(name string) string {
	Visited.Lock()
	defer Visited.Unlock()
	Visited.Times[name]++
	return ""
}

// Templates are the names of all templates.
func Templates() []string {
	names := map[string]bool{}
	entries, err := fs.ReadDir(templateFiles, "templates")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		b, err := fs.ReadFile(templateFiles, "templates/"+e.Name())
		if err != nil {
			panic(err)
		}
		for _, m := range define.FindAllStringSubmatch(string(b), -1) {
			names[m[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Routes are the patterns of the console's table.
func (c *Console) Routes() []string {
	var all []string
	for _, r := range c.routes {
		all = append(all, r.pattern)
	}
	return all
}

// SetBudget makes searches pause after n messages, until the function that it returns is called.
func SetBudget(n int64) (back func()) {
	was := usualBudget
	usualBudget.Records = n
	return func() { usualBudget = was }
}

// Asked counts the requests that consoles send to brokers.
var Asked atomic.Int64

func init() { clientHooks = append(clientHooks, asked{}) }

type asked struct{}

// OnBrokerWrite is called by a client for each request that it sends.
func (asked) OnBrokerWrite(kgo.BrokerMetadata, int16, int, time.Duration, time.Duration, error) {
	Asked.Add(1)
}
