// Package credentials keeps what lets people in: verifiers of passwords, keys of tokens. They are not in the journal, so that
// a journal can be given away; it names each by a reference, and whoever replays it without this directory knows the users
// and lets nobody in.
//
// Each credential is one file of its own, mode 0600, that is written once and never changed. The order is fixed:
//
//	1  Put writes the file, syncs it and its directory
//	2  an event of the journal names its reference
//	3  the file of the credential that it replaces is removed
//
// A crash between 1 and 2 leaves a file that nothing names, between 2 and 3 one that nothing names any more: [Store.Sweep]
// removes both at the next start. A file that is named and missing or damaged lets nobody in.
package credentials
