// Command fill gives a broker and its schema registry what a project has after some weeks: topics with records in several formats, groups of
// all four kinds with members, schemas that evolved, quotas and permissions; and the hostile texts of conformance/hostile wherever a text may stand. The walk in
// a real browser (conformance/browser) looks at all of it.
//
// It prints "ready", keeps its members alive, and ends when its standard input does.
package main
