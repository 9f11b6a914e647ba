// Package load is the bench's client: raw connections that send frames built beforehand, so that the client's core is
// never the one that is short, and every broker gets the same bytes.
package load
