// Package credentials keeps what lets people in: verifiers of passwords, keys of tokens. They are not in the journal, so that
// a journal can be given away; it names each by a reference, and whoever replays it without this directory knows the users
// and lets nobody in.
//
// Each credential is one file of its own, mode 0600, that is written once and never changed; those that one request sets share
// files (PutAll). The order is fixed:
//
//	1  Put or PutAll writes the file, syncs it and its directory
//	2  an event of the journal names its reference
//	3  the credential that it replaces is removed
//
// A crash between 1 and 2 leaves a credential that nothing names, between 2 and 3 one that nothing names any more: [Store.Sweep]
// removes both at the next start. One that is named and missing or damaged lets nobody in.
package credentials
