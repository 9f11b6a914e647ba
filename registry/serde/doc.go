// Package serde is what clients of a schema registry put into records, and what it says under a schema: the wire format
// ([Parse], [Append], message indexes) and values as JSON ([New]). It knows schemas as texts and asks no registry.
//
//	prefix:  00 | id, 4 bytes, big endian | payload
//	         01 | guid, 16 bytes          | payload
//	header:  __key_schema_id or __value_schema_id holds the prefix, the payload stands alone
//
// A Protobuf payload begins with message indexes: the path to the message in the file, as zig-zag varints, count first; a
// single 00 is the first message.
package serde
