// Package ordered reads JSON as schemas need it: the order of members and the spelling of numbers are kept, and what a text may
// cost is bounded before anything is built of it. It is the only reader of schema texts that are JSON; Avro and JSON Schema
// are models over its nodes.
package ordered
