package console

import "net/http"

// action answers one route. It writes nothing itself: what it returns is sent, and an error becomes a page of its status.
type action func(*request) (answer, error)

// route is one line of the table of contents.
type route struct {
	pattern string // as http.ServeMux takes it
	do      action
	// past is the same page as of an entry of the journal (?at=N); nil: the page has no past, and says so. Routes that are no
	// GET have none: the past is read-only.
	past action
}

// table is the console's table of contents. A branch of pages adds its own list of routes here, one line.
func (c *Console) table() []route {
	var all []route
	for _, of := range []func() []route{
		c.overviewRoutes,
		c.groupRoutes,
		c.schemaRoutes,
		c.securityRoutes,
		c.brokerRoutes,
		c.preferenceRoutes,
		c.topicRoutes,
		c.trafficRoutes,
		c.telemetryRoutes,
		c.timelineRoutes,
		c.messageRoutes,
		c.produceRoutes,
	} {
		all = append(all, of()...)
	}
	return all
}

// mux serves the table, and what is no page: files and /healthz.
func (c *Console) mux() http.Handler {
	mux := http.NewServeMux()
	for _, route := range c.routes {
		mux.Handle(route.pattern, c.serve(route))
	}
	mux.Handle("GET /static/", staticFiles())
	mux.HandleFunc("GET /healthz", c.healthz)
	mux.Handle("/", c.serve(route{do: func(r *request) (answer, error) {
		return nil, problem{Status: http.StatusNotFound, Message: "There is no page " + r.URL.Path, Hint: "The navigation has every page; an address from a bookmark may be of a thing that was deleted."}
	}}))
	return mux
}

// serve runs a route's action, or its past one, and sends the answer.
func (c *Console) serve(route route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		r, err := c.newRequest(w, hr)
		var a answer
		if err == nil {
			a, err = r.run(route)
		}
		if err != nil {
			a = r.explain(err)
		}
		a.send(r, w)
	})
}

// run picks the present or the past.
func (r *request) run(route route) (answer, error) {
	switch {
	case r.at == 0:
		return route.do(r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return nil, problem{Status: http.StatusConflict, Message: "The past is read-only", Hint: "Leave it first: take at= out of the address."}
	case r.c.outside:
		return nil, r.noInside("The past")
	case route.past == nil && r.c.opt.Journal != nil:
		return pastInstead(r)
	case route.past == nil:
		return nil, problem{Status: http.StatusNotFound, Message: "This page shows the present only", Hint: "It has no state as of an entry of the journal. Take at= out of the address to see it as it is now."}
	}
	return route.past(r)
}
