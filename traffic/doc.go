// Package traffic keeps what clients asked and got lately: the last requests, and for each group the last events, in rings
// whose number and bytes are bounded. It is a [wire.Observer]; a broker without a console has none, and its connections pay a
// nil check. It is memory only: nothing of it is on disk, and a restart forgets it.
//
// Invariants:
//
//   - Of what lets people in (SaslHandshake, SaslAuthenticate, SCRAM credentials, delegation tokens) a list of fields is
//     shown; every other field reads "(hidden)", set or not, and nothing is kept of it, its length neither.
//   - Records are counted, never kept.
//   - What a client names is cut to a length before it is kept.
//   - A message is kept decoded and put into words when somebody looks; one that is large is cut and written out at once.
//
// The root package makes a [Ring] when there is a console, which asks it through console/inside.
package traffic
