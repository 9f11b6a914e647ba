// Package recording is the format in which traffic with a Kafka broker is kept: steps with the connection they used,
// the request and its answer, as JSON that people read and diff.
//
// A message is shown field by field under kmsg's names, with only the fields that its version has on the wire. Bytes
// that are text are shown as text, others as "hex:...". Record batches are shown decoded. A Value tree keeps the order
// of fields, so that one recording has one text.
//
// Conformance recordings use the format with identities and times replaced by names; a recorder of live traffic uses
// it as it is.
package recording
