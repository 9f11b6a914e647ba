package journal

// DelegationTokenCreated: whoever shows this token is its owner, until Expiry (KIP-48). The secret that goes with it is made
// from the id and the broker's key; neither secret nor key is in the journal. Principals are TYPE:NAME, times milliseconds.
type DelegationTokenCreated struct {
	ID        string   `msgpack:"i"`
	Owner     string   `msgpack:"o"`
	Requester string   `msgpack:"q"`
	Renewers  []string `msgpack:"r,omitempty"`
	Issued    int64    `msgpack:"t"`
	Max       int64    `msgpack:"m"` // no renewal goes beyond it
	Expiry    int64    `msgpack:"e"`
}

// Kind is the event's number.
func (*DelegationTokenCreated) Kind() Kind { return 117 }

// DelegationTokenExpirySet: the token was renewed, or is to end sooner or later than it was.
type DelegationTokenExpirySet struct {
	ID     string `msgpack:"i"`
	Expiry int64  `msgpack:"e"`
}

// Kind is the event's number.
func (*DelegationTokenExpirySet) Kind() Kind { return 118 }

// DelegationTokenRemoved: the token is gone, at somebody's wish or because it had expired.
type DelegationTokenRemoved struct {
	ID string `msgpack:"i"`
}

// Kind is the event's number.
func (*DelegationTokenRemoved) Kind() Kind { return 119 }
