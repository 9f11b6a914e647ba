package configs

// clientMetricsDefs are the keys of a client-metrics subscription.
var clientMetricsDefs = []Def{
	{Name: "interval.ms", Type: Int, Default: "300000"},
	{Name: "match", Type: List, check: listOf()},
	{Name: "metrics", Type: List, check: listOf()},
}
