package traffic

import (
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/console/inside"
)

// maxPage bounds a page of requests.
const maxPage = 500

// snapshot gives the exchanges that are kept, newest first.
func (r *Ring) snapshot() (all []*exchange, newest uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(r.last, MaxRequests)
	all = make([]*exchange, 0, n)
	for i := range n {
		all = append(all, r.kept[(r.last-i)%MaxRequests])
	}
	return all, r.last
}

// Requests gives the requests that the filter lets through, newest first (inside.Traffic).
func (r *Ring) Requests(f inside.RequestFilter) inside.RequestPage {
	all, newest := r.snapshot()
	page := inside.RequestPage{Newest: newest, Kept: len(all), Lost: newest - uint64(len(all))}
	if len(all) > 0 {
		page.Oldest = all[len(all)-1].id
	}
	limit := min(max(f.Limit, 0), maxPage)
	if limit == 0 {
		limit = 100
	}
	for _, x := range all {
		if f.Before > 0 && x.id >= f.Before || !mayPass(f, x) {
			continue
		}
		row := x.words(r.name)
		row.ID = x.id
		if !passes(f, row) {
			continue
		}
		if len(page.Requests) == limit {
			page.Next = page.Requests[limit-1].ID
			break
		}
		page.Requests = append(page.Requests, row)
	}
	return page
}

// mayPass looks at what needs no words.
func mayPass(f inside.RequestFilter, x *exchange) bool {
	return (f.Client == "" || strings.Contains(x.client, f.Client)) && (f.Principal == "" || x.principal == f.Principal) &&
		(f.API == "" || strings.Contains(strings.ToLower(kmsg.NameForKey(x.key)), strings.ToLower(f.API)))
}

func passes(f inside.RequestFilter, row inside.Request) bool {
	return (!f.Errors || row.Error != "") && (f.Topic == "" || slices.Contains(row.Topics, f.Topic)) &&
		(f.Group == "" || slices.Contains(row.Groups, f.Group))
}

// Open opens a request (inside.Traffic).
func (r *Ring) Open(id uint64) (inside.OpenRequest, bool) {
	x := r.exchange(id)
	if x == nil {
		return inside.OpenRequest{}, false
	}
	opened := x.fields(r.name)
	opened.ID = id
	return opened, true
}

func (r *Ring) exchange(id uint64) *exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id == 0 || id > r.last || id+MaxRequests <= r.last {
		return nil
	}
	return r.kept[id%MaxRequests]
}

// Find finds the request that made an entry of the journal at the time at (inside.Traffic). Numbers of connections begin
// anew with each start, and a client may use a correlation id twice: the time tells them apart.
func (r *Ring) Find(conn uint64, correlation int32, api int16, at int64) uint64 {
	all, _ := r.snapshot()
	for _, x := range all {
		if x.conn == conn && x.correlation == correlation && x.key == api && covers(x, at) {
			return x.id
		}
	}
	return 0
}

// covers says whether an entry of the time at may be of the exchange; the journal's clock may run behind after the machine's
// was set back, so a second is allowed for.
func covers(x *exchange, at int64) bool {
	const slack = int64(time.Second / time.Millisecond)
	return at >= x.received.UnixMilli()-slack && at <= x.written.UnixMilli()+slack
}

// GroupEvents gives what members of a group asked for and got (inside.Traffic).
func (r *Ring) GroupEvents(group string) []inside.GroupEvent {
	r.mu.Lock()
	events := r.groups.of(cut(group, maxKeptName))
	r.mu.Unlock()
	var told []inside.GroupEvent
	for i := range events {
		told = append(told, events[i].told(r.name))
	}
	return told
}
