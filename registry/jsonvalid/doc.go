// Package jsonvalid says whether a JSON value fits a JSON Schema of drafts 4, 6, 7, 2019-09 or 2020-12. It does nothing before it is
// asked: no table is made and no schema is compiled when the process starts.
//
// [Compile] walks the schema and the documents that it may refer to ([index]): that finds the resources with their URLs and
// anchors, and refuses keywords of the wrong form. Then it makes a [schema] of every place that the root leads to. Nothing is ever
// loaded: a reference leads into these documents, to a schema of schemas, or is an error.
//
// A validation ([Schema.Validate]) is a walk over the value with the compiled schema. Its work, its depth and the number of
// reasons that it gives are bounded. A Schema is not changed after it is made; any number of goroutines may use it.
//
// What a pattern may say is what Go's engine knows (RE2): look-around and references to groups are refused with a message. The
// keyword format is asserted in drafts 4, 6 and 7, and describes only in later ones; contentEncoding and contentMediaType always
// describe only.
package jsonvalid
