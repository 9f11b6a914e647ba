// Package doze is a Kafka broker for development in one process: to any client it is Apache Kafka, and its entire state is
// the fold of a journal. The command doze is built on exactly this.
//
//	broker, err := doze.New(doze.Options{Ephemeral: true, Listeners: []doze.Listener{{Address: "127.0.0.1:0"}}})
//	...
//	go broker.Run(ctx)
//	use(broker.Addr())
//	broker.Close()
//
// New in doze.go is the way to read it: a broker comes up in the steps that stand there, one after the other, and Close undoes them in
// the opposite order. Where each step and what belongs to it is:
//
//	options*.go     what may be set, and what is wrong with it: before anything binds or touches the disk
//	bind, exposed, tls, logins*     listeners: their sockets, who may reach them, certificates, who logs in
//	foreign, ephemeral, note_start, open_files, live     the data directory and its journal; clock and ids; bounds of open files
//	reconfigure     settings that change while the broker runs
//	registry_*      the schema registry beside it
//	console_*       the console beside it, its pipe to the broker, and what it is shown of the inside; traffic observes requests
//	control         the socket that doze inspect asks
//	check_dir, repair     of a directory that no broker runs on: would it start, and the way on after damage
//
// Files of tests that are about the whole tree, not this package, stand here too: determinism_test, fuzz_targets_test, imports_test,
// acting_keys_test and sources_test.
package doze
