// Package wire is the Kafka protocol on sockets: listeners, frames, request headers, versions, and answers in order. It
// knows no API: it finds the handler of a request in a table ([APIs]) that the handlers provide, and imports nothing of
// doze.
//
// # The life of a connection
//
// One goroutine serves a connection: it reads a frame, parses its header, checks the body's shape, decodes it, calls the
// handler and writes the answer with one write, without a hop to another goroutine. While the connection is idle it
// holds no buffer. Two things borrow a second goroutine, and only for their time:
//
//   - a reply that is a [Later] (a produce that waits for its fsync): the next request is taken in hand while it resolves;
//   - a handler that asks for ctx.Done() and is still at it 50 ms later (a long poll): somebody must notice that the
//     peer has gone.
//
// # Invariants
//
//   - Answers leave in the order of their requests. One request of a connection is in hand at a time; only Laters overlap.
//   - A request without an answer (acks=0) takes no place in that order.
//   - Nothing is allocated by a length that a peer declared: a frame's buffer grows with the bytes that have come, and a
//     body is walked by its shape, its decoded size reckoned, before a decoder sees it. Both are charged to budgets that
//     all connections share.
//   - What Kafka's parser refuses closes the connection; what it lets pass (bytes after the body, unknown tags) passes.
package wire
