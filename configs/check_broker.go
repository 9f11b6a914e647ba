package configs

// Check refuses values that fit one by one but not together, as a starting Kafka does.
func (b *Broker) Check() error {
	for _, r := range []struct {
		holds     bool
		otherwise string
	}{
		{b.millis("log.roll.ms", unit{"log.roll.hours", hour}) >= 1,
			"log.roll.ms must be greater than or equal to 1"},
		{b.millis("log.roll.jitter.ms", unit{"log.roll.jitter.hours", hour}) >= 0,
			"log.roll.jitter.ms must be greater than or equal to 0"},
		{b.millis("log.retention.ms", unit{"log.retention.minutes", minute}, unit{"log.retention.hours", hour}) != 0,
			"log.retention.ms must be unlimited (-1) or, greater than or equal to 1"},
		{b.Int("log.cleaner.dedupe.buffer.size")/max(b.Int("log.cleaner.threads"), 1) > 1<<20,
			"log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread."},
		{b.Int("replica.fetch.wait.max.ms") <= b.Int("replica.socket.timeout.ms"),
			"replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to prevent unnecessary socket timeouts"},
		{b.Int("replica.fetch.wait.max.ms") <= b.Int("replica.lag.time.max.ms"),
			"replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms to prevent frequent changes in ISR"},
		{b.Int("queued.max.request.bytes") <= 0 || b.Int("queued.max.request.bytes") >= b.Int("socket.request.max.bytes"),
			"queued.max.request.bytes must be larger or equal to socket.request.max.bytes"},
	} {
		if !r.holds {
			return &Error{Message: "requirement failed: " + r.otherwise, Request: true}
		}
	}
	for _, kind := range []string{"consumer", "share", "streams"} {
		if err := b.checkGroupDefaults("group." + kind + "."); err != nil {
			return err
		}
	}
	return nil
}

// checkGroupDefaults holds the broker's own defaults of one kind of group to its bounds.
func (b *Broker) checkGroupDefaults(prefix string) error {
	for _, key := range []string{"heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms"} {
		value, low, high := prefix+key, prefix+"min."+key, prefix+"max."+key
		if key == "assignment.interval.ms" {
			if h, s := prefix+"heartbeat.interval.ms", prefix+"session.timeout.ms"; b.Int(h) >= b.Int(s) {
				return &Error{Message: h + " must be less than " + s, Request: true}
			}
		}
		switch {
		case b.Int(high) < b.Int(low):
			return &Error{Message: high + " must be greater than or equal to " + low, Request: true}
		case b.Int(value) < b.Int(low):
			return &Error{Message: value + " must be greater than or equal to " + low, Request: true}
		case b.Int(value) > b.Int(high):
			return &Error{Message: value + " must be less than or equal to " + high, Request: true}
		}
	}
	return nil
}
