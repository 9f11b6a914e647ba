package journal

// kinds is the one list of events: number, type, durability. It is appended to and never otherwise changed; the number
// is also what the type's Kind method returns (a test compares). docs/checklists/event.md is the way to add one.
//
// mapped events are encoded by reflection as a map with the short keys of their msgpack tags: right for almost all.
// packed events bring pack and unpack (see codec.go): for those that come thousands of times a second.
//
// Numbers go by area, so that two authors do not meet: 1 to 9 the journal and the cluster, 10 to 19 topics, 20 to 29
// configs, 30 to 39 producer ids and committed offsets, 40 to 89 groups, 90 to 109 transactions, 110 to 139 users, ACLs
// and quotas, 140 to 169 the schema registry.
var kinds = [...]kind{
	1: mapped[ClusterCreated](Durable),
	2: mapped[BrokerStarted](Durable),
	3: mapped[StateHashed](Durable),
	4: mapped[DamageAccepted](Durable),
	5: mapped[FeatureUpdated](Durable),

	10: mapped[TopicCreated](Durable),
	11: mapped[TopicDeleted](Durable),
	12: mapped[PartitionsAdded](Durable),
	13: mapped[RecordsDeleted](Durable),

	20: mapped[ConfigsAltered](Durable),

	30: mapped[ProducerIDsAllocated](Durable),
	31: packed[OffsetsCommitted](Buffered),
	32: mapped[OffsetsDeleted](Buffered),
	33: mapped[OffsetsExpired](Buffered),
	34: mapped[GroupDeleted](Buffered),

	40: mapped[GroupCreated](Buffered),
	41: mapped[MemberIDAssigned](Buffered),
	42: mapped[MemberJoined](Buffered),
	43: mapped[MemberRejoined](Buffered),
	44: mapped[StaticMemberReplaced](Buffered),
	45: mapped[MemberRemoved](Buffered),
	46: mapped[RebalanceStarted](Buffered),
	47: mapped[RebalanceExtended](Buffered),
	48: mapped[RebalanceInterrupted](Buffered),
	49: mapped[GenerationStarted](Buffered),
	50: mapped[GroupEmptied](Buffered),
	51: mapped[MemberSynced](Buffered),
	52: mapped[AssignmentsMade](Buffered),
	53: mapped[GroupConverted](Buffered),
	54: mapped[ConsumerMemberJoined](Buffered),
	55: mapped[ConsumerMemberChanged](Buffered),
	56: mapped[ConsumerMemberReplaced](Buffered),
	57: mapped[ConsumerMemberRemoved](Buffered),
	58: mapped[ConsumerEpochRaised](Buffered),
	59: mapped[ConsumerTargetAssigned](Buffered),
	60: mapped[ConsumerMemberReconciled](Buffered),
	61: mapped[ConsumerRegexesResolved](Buffered),

	62: mapped[ShareStateInitialized](Buffered),
	63: mapped[ShareStateLoaded](Buffered),
	64: mapped[ShareStateWritten](Buffered),
	65: mapped[ShareStateDeleted](Buffered),
	66: mapped[ShareMemberJoined](Buffered),
	67: mapped[ShareMemberChanged](Buffered),
	68: mapped[ShareMemberRemoved](Buffered),
	69: mapped[ShareEpochRaised](Buffered),
	70: mapped[ShareTargetAssigned](Buffered),
	71: mapped[ShareMemberReconciled](Buffered),
	76: mapped[StreamsMemberSaid](Buffered),
	77: mapped[StreamsTopologySet](Buffered),
	78: mapped[StreamsGroupBumped](Buffered),
	79: mapped[StreamsTargetsChanged](Buffered),
	80: mapped[StreamsTasksAssigned](Buffered),
	81: mapped[StreamsMemberMoved](Buffered),
	82: mapped[StreamsMemberRemoved](Buffered),

	90: mapped[TxnProducerInitialized](Durable),
	91: mapped[TxnPartitionsAdded](Buffered),
	92: mapped[TxnGroupAdded](Buffered),
	93: packed[TxnOffsetsStaged](Buffered),
	94: mapped[TxnEnding](Durable),
	95: mapped[TxnEnded](Buffered),
	96: mapped[TxnMarkersSynced](Buffered),
	97: mapped[TxnOrphanAborted](Durable),
	98: mapped[TransactionalIDExpired](Buffered),

	110: mapped[AclCreated](Durable),
	111: mapped[AclDeleted](Durable),
	120: mapped[ClientQuotasAltered](Durable),
	113: mapped[ScramCredentialSet](Durable),
	114: mapped[ScramCredentialDeleted](Durable),
	117: mapped[DelegationTokenCreated](Durable),
	118: mapped[DelegationTokenExpirySet](Durable),
	119: mapped[DelegationTokenRemoved](Durable),

	140: mapped[SchemaRegistered](Durable),
	141: mapped[SchemaVersionsDeleted](Durable),
	142: mapped[RegistryConfigSet](Durable),
	143: mapped[RegistryConfigDeleted](Durable),
	144: mapped[RegistryModeSet](Durable),
	145: mapped[RegistryModeDeleted](Durable),
	146: mapped[RegistryContextDeleted](Durable),
	147: mapped[AssociationSet](Durable),
	148: mapped[AssociationDeleted](Durable),
}
