// Package certs is a leaf: certificates. It reads those that a server shows and those that it trusts, again when their
// files change ([Identity]); it names a client's certificate as Kafka does ([Name], [Rules]); and it makes certificates for
// development ([Authority]).
//
// # Invariants
//
//   - A file that cannot be read or does not fit changes nothing: what was read before goes on, Report is told once, and the
//     file is read again with each connection until it can be used.
//   - Names and rules cost a bounded time: a name is at most a certificate long, patterns are matched in linear time.
//   - No error and no String repeats a key or a password.
package certs
