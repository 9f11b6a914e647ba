// Package protobuf holds Protobuf schemas as Confluent's registry does: read as text or from a serialized descriptor, printed in
// Confluent's layout (the canonical text) and its normalised form, and compared by Confluent's rules. Nothing has to link for
// that: a file is a tree, as in the parser that Confluent uses.
//
// protocompile's parser gives the syntax tree of a text; its linker is used only to answer a descriptor (format=serialized) and to
// validate strictly. Files that every registry knows (google/protobuf, google/type, confluent) resolve without references.
package protobuf
