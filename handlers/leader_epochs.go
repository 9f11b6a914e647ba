package handlers

// checkLeaderEpoch compares the leader epoch that a client believes in (-1: it does not say) with the partition's (KIP-320).
func checkLeaderEpoch(believed, current int32) int16 {
	switch {
	case believed == -1 || believed == current:
		return none
	case believed < current:
		return fencedLeaderEpoch
	}
	return unknownLeaderEpoch
}
