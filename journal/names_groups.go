package journal

import "strconv"

// Names of the numbers in events of groups, for people.

func (t GroupType) String() string {
	return nameOf([]string{GroupClassic: "classic", GroupConsumer: "consumer", GroupShare: "share", GroupStreams: "streams"}, uint8(t))
}

func (r RemovalReason) String() string {
	return nameOf([]string{
		RemovedLeft: "left", RemovedSessionExpired: "session-expired", RemovedNotRejoined: "not-rejoined", RemovedNotSynced: "not-synced",
		RemovedGroupFull: "group-full", RemovedNotRevoked: "not-revoked",
	}, uint8(r))
}

func (r RebalanceReason) String() string {
	return nameOf([]string{
		RebalanceMemberJoined: "member-joined", RebalanceMemberChanged: "member-changed", RebalanceLeaderRejoined: "leader-rejoined",
		RebalanceStaticReplaced: "static-member-replaced", RebalanceMemberRemoved: "member-removed", RebalanceOverCapacity: "over-capacity",
	}, uint8(r))
}

func (r EpochReason) String() string {
	return nameOf([]string{
		EpochMemberSubscribed: "member-subscribed", EpochMemberRemoved: "member-removed", EpochTopicsChanged: "topics-changed",
		EpochRegexResolved: "regex-resolved",
	}, uint8(r))
}

func (s ReconcileState) String() string {
	return nameOf([]string{MemberStable: "stable", MemberUnrevoked: "unrevoked", MemberUnreleased: "unreleased"}, uint8(s))
}

// nameOf is the name of a number, or the number.
func nameOf(names []string, n uint8) string {
	if int(n) < len(names) && names[n] != "" {
		return names[n]
	}
	return strconv.Itoa(int(n))
}

func (s StreamsMemberState) String() string {
	return nameOf([]string{StreamsStable: "stable", StreamsUnrevoked: "unrevoked", StreamsUnreleased: "unreleased"}, uint8(s))
}
