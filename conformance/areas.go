package conformance

// areas lists the scenarios by area. An area is a file scenarios_AREA.go, its claims are in claims/AREA.md.
func areas() [][]Scenario {
	return [][]Scenario{
		matrixScenarios(),
		profileScenarios(),
		handshakeScenarios(),
		wireScenarios(),
		topicScenarios(),
		configLayerScenarios(),
	}
}
