package conformance

// areas lists the scenarios by area. An area is a file scenarios_AREA.go, its claims are in claims/AREA.md.
func areas() [][]Scenario {
	return [][]Scenario{
		matrixScenarios(),
		profileScenarios(),
		handshakeScenarios(),
		wireScenarios(),
		connectionScenarios(),
		topicScenarios(),
		topicConfigScenarios(),
		deleteTopicScenarios(),
		createPartitionsScenarios(),
		metadataScenarios(),
		clusterScenarios(),
		configScenarios(),
		alterConfigScenarios(),
		brokerConfigScenarios(),
		configLayerScenarios(),
		groupScenarios(),
		staticMemberScenarios(),
		groupTimeScenarios(),
		groupAdminScenarios(),
		offsetScenarios(),
		recordScenarios(),
		recompressScenarios(),
		markerScenarios(),
		storageScenarios(),
	}
}
