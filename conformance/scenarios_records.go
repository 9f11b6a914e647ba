package conformance

import "slices"

// recordScenarios are those of records: how they are taken, stored, found and read.
func recordScenarios() []Scenario {
	return slices.Concat(
		produceScenarios(), produceBatchScenarios(), produceTimeScenarios(), produceEdgeScenarios(), idempotenceScenarios(),
		fetchScenarios(), sessionScenarios(), listOffsetsScenarios(),
	)
}
