// Package httpguard protects an HTTP server that listens on a developer's machine from the pages that run in his browser: a page of
// any site may send requests to 127.0.0.1, and by DNS rebinding read the answers. It is a leaf: the schema registry and the
// console are served behind it.
//
// Three rules: the Host of a request is an address, localhost or a name that was allowed; a request that changes something
// does not come from another origin; and everything that a client may take its time with has a limit.
package httpguard
