package journal

// ScramCredentialSet: from here on a user logs in by SCRAM with this credential, and with no other of the mechanism before
// (AlterUserScramCredentials). The credential itself is not in the journal.
type ScramCredentialSet struct {
	User       string   `msgpack:"u"`
	Mechanism  int8     `msgpack:"m"` // Kafka's number: 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
	Iterations int32    `msgpack:"i"`
	Ref        [16]byte `msgpack:"r"` // of the credential's file
}

// Kind is the event's number.
func (*ScramCredentialSet) Kind() Kind { return 113 }

// ScramCredentialDeleted: the user has no credential of the mechanism any more.
type ScramCredentialDeleted struct {
	User      string `msgpack:"u"`
	Mechanism int8   `msgpack:"m"`
}

// Kind is the event's number.
func (*ScramCredentialDeleted) Kind() Kind { return 114 }
