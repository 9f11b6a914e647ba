// Package console is doze's web console: pages made on the server from Go templates, with htmx and Alpine (its CSP build) for what
// moves. It is a Kafka client of the broker through franz-go and of the schema registry over HTTP, so it runs against any Kafka;
// what a client cannot see it gets through the interfaces of console/inside and of [Options].
//
// Invariants:
//   - every route is behind the guard of wire/httpguard and the headers of guard.go: no page of another origin changes anything,
//     and no script runs that is not a file of static/;
//   - everything that a page shows goes through html/template; there is no template.HTML but the body that a template made;
//   - what a page shows is in its URL; only the theme and the zone are a browser's own (cookies);
//   - with a login nothing but files, /healthz and the login itself is answered without a session, and a session's pages are made
//     by a client that is its user: a page shows nothing that the user may not ask Kafka for;
//   - an action (a function from a request to an answer) never writes to the connection itself.
//
// routes.go is the table of contents; README.md says how a page is added.
package console
