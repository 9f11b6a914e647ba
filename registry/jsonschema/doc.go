// Package jsonschema holds JSON Schemas as Confluent's registry looks at them when it compares two: in the classes of the
// everit library (a string, a number, an object, a combination, ...), whatever the draft. What a text becomes in classes decides
// most verdicts, so [Parse] is held to everit's own answers (testdata) and [Compare] to the vectors of differences.
//
// Drafts 4 to 7 follow everit; 2019-09 and 2020-12 are read by their own keywords into the same classes. References resolve
// within the text and to the schemas that it is given; nothing is ever loaded from a file or the network. Instances are not
// validated here: see registry/serde.
package jsonschema
