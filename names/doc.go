// Package names is the .doze zone: every Kafka of a machine keeps port 9092 and gets a loopback address and a name of its own.
//
//	kafka.doze             127.0.0.3    the default name
//	                       127.0.0.4 to .9 are kept
//	NAME.doze              127.0.0.10 to .65, by the name's hash, the next free one when another name has it
//	ANYTHING.NAME.doze     as NAME.doze
//
// Four parts, each of use without the others:
//
//   - [Book] is names.json in the user's doze home: which name has which address for good, and which brokers run, with the pid and
//     start of their process. It is changed under a lock and replaced at once, so that a reader sees one state or the other. A name
//     has one living owner; who is dead by its pid owns nothing. A file that cannot be read is set aside: what is lost is a list
//     that the next start begins anew.
//   - [Zone] reads what is set up on the machine (/etc/hosts, the rule that sends .doze queries to the resolver) and asks no DNS.
//   - [Plan] says what setting up or undoing would write, and writes it. Its root directory is a seam: a test or a careful person
//     writes elsewhere.
//   - [Hold] answers DNS for the zone. Any process may hold the address; the others try again each second, so that the next has
//     it when the holder exits.
package names
