package configs

// groupDefs are the keys of a group.
var groupDefs = []Def{
	{Name: "consumer.assignment.interval.ms", Type: Int, Default: "1000", Acts: true, check: atLeast("0")},
	{Name: "consumer.heartbeat.interval.ms", Type: Int, Default: "1000", KafkaDefault: "5000", Acts: true, check: atLeast("1")},
	{Name: "consumer.session.timeout.ms", Type: Int, Default: "45000", Acts: true, check: atLeast("1")},
	{Name: "share.assignment.interval.ms", Type: Int, Default: "1000", Acts: true, check: atLeast("0")},
	{Name: "share.auto.offset.reset", Type: String, Default: "latest", Acts: true, check: offsetReset},
	{Name: "share.delivery.count.limit", Type: Int, Default: "5", Acts: true, check: atLeast("2")},
	{Name: "share.heartbeat.interval.ms", Type: Int, Default: "1000", KafkaDefault: "5000", Acts: true, check: atLeast("1")},
	{Name: "share.isolation.level", Type: String, Default: "read_uncommitted", Acts: true, check: oneOf("read_committed", "read_uncommitted")},
	{Name: "share.partition.max.record.locks", Type: Int, Default: "2000", Acts: true, check: atLeast("100")},
	{Name: "share.record.lock.duration.ms", Type: Int, Default: "30000", Acts: true, check: atLeast("1000")},
	{Name: "share.renew.acknowledge.enable", Type: Boolean, Default: "true", Acts: true},
	{Name: "share.session.timeout.ms", Type: Int, Default: "45000", Acts: true, check: atLeast("1")},
	{Name: "streams.assignment.interval.ms", Type: Int, Default: "1000", Acts: true, check: atLeast("0")},
	{Name: "streams.heartbeat.interval.ms", Type: Int, Default: "1000", KafkaDefault: "5000", Acts: true, check: atLeast("1")},
	{Name: "streams.initial.rebalance.delay.ms", Type: Int, Default: "200", KafkaDefault: "3000", Acts: true, check: atLeast("0")},
	{Name: "streams.num.standby.replicas", Type: Int, Default: "0", Acts: true, check: atLeast("0")},
	{Name: "streams.session.timeout.ms", Type: Int, Default: "45000", Acts: true, check: atLeast("1")},
}
