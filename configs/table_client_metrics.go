package configs

// clientMetricsDefs are the keys of a client-metrics subscription.
var clientMetricsDefs = []Def{
	{Name: "interval.ms", Type: Int, Default: "300000", Acts: true},
	{Name: "match", Type: List, Acts: true, check: listOf()},
	{Name: "metrics", Type: List, Acts: true, check: listOf()},
}
