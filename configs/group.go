package configs

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
)

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// bound is a group's key with the broker's keys that bound it; always says that the broker's own default is held to the
// bounds too.
type bound struct {
	name, min, max string
	always         bool
}

// groupBounds are in the order in which Kafka compares them.
var groupBounds = []bound{
	{"consumer.heartbeat.interval.ms", "group.consumer.min.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms", true},
	{"consumer.session.timeout.ms", "group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms", true},
	{"consumer.assignment.interval.ms", "group.consumer.min.assignment.interval.ms", "group.consumer.max.assignment.interval.ms", false},
	{"share.heartbeat.interval.ms", "group.share.min.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms", true},
	{"share.session.timeout.ms", "group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms", true},
	{"share.record.lock.duration.ms", "group.share.min.record.lock.duration.ms", "group.share.max.record.lock.duration.ms", true},
	{"share.delivery.count.limit", "group.share.min.delivery.count.limit", "group.share.max.delivery.count.limit", true},
	{"share.partition.max.record.locks", "group.share.min.partition.max.record.locks", "group.share.max.partition.max.record.locks", true},
	{"share.assignment.interval.ms", "group.share.min.assignment.interval.ms", "group.share.max.assignment.interval.ms", false},
	{"streams.heartbeat.interval.ms", "group.streams.min.heartbeat.interval.ms", "group.streams.max.heartbeat.interval.ms", true},
	{"streams.session.timeout.ms", "group.streams.min.session.timeout.ms", "group.streams.max.session.timeout.ms", true},
	{"streams.num.standby.replicas", "", "group.streams.max.standby.replicas", true},
	{"streams.assignment.interval.ms", "group.streams.min.assignment.interval.ms", "group.streams.max.assignment.interval.ms", false},
}

// CheckGroup refuses values of a group that do not fit, as Kafka does: unknown names, each value, the broker's bounds, and a
// session that would not outlast a heartbeat.
func (b *Broker) CheckGroup(values map[string]string) error {
	for _, name := range sortedNames(values) {
		if _, ok := GroupKeys.Lookup(name); !ok {
			return invalid("Unknown group config name: " + name)
		}
	}
	if err := checkValues(GroupKeys, values); err != nil {
		return err
	}
	for _, bd := range groupBounds {
		if _, set := values[bd.name]; !set && !bd.always {
			continue
		}
		n := b.groupInt(bd.name, values)
		if bd.min != "" && n < b.Int(bd.min) {
			return invalid(bd.name + " must be greater than or equal to " + bd.min)
		}
		if n > b.Int(bd.max) {
			return invalid(bd.name + " must be less than or equal to " + bd.max)
		}
	}
	for _, kind := range []string{"consumer", "share", "streams"} {
		session, heartbeat := kind+".session.timeout.ms", kind+".heartbeat.interval.ms"
		if b.groupInt(session, values) <= b.groupInt(heartbeat, values) {
			return invalid(session + " must be greater than " + heartbeat)
		}
	}
	return nil
}

func (b *Broker) groupInt(name string, values map[string]string) int64 {
	if s, ok := values[name]; ok {
		d, _ := GroupKeys.Lookup(name)
		if v, err := d.Parse(s); err == nil {
			return int64(number(v))
		}
	}
	broker, _ := groupSynonym(name)
	return b.Int(broker)
}

// GroupInt is the effective whole number of a group's key: its own value, held to the broker's bounds, else the broker's.
func (b *Broker) GroupInt(name string, values map[string]string) int64 {
	n := b.groupInt(name, values)
	i := slices.IndexFunc(groupBounds, func(bd bound) bool { return bd.name == name })
	if _, set := values[name]; !set || i < 0 {
		return n
	}
	if groupBounds[i].min != "" {
		n = max(n, b.Int(groupBounds[i].min))
	}
	return min(n, b.Int(groupBounds[i].max))
}

var isoParts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^by_duration:P(?:\+?(\d+)D)?(?:T(?:\+?(\d+)H)?(?:\+?(\d+)M)?(?:\+?(\d+)(?:[.,](\d*))?S)?)?$`)
})

// ResetAgoMs is how long before now share.auto.offset.reset says to begin; false: it does not say it that way. What is longer
// than a million years is a million years.
func ResetAgoMs(reset string) (ms int64, ago bool) {
	parts := isoParts().FindStringSubmatch(reset)
	if parts == nil {
		return 0, false
	}
	const most = 366 * 1_000_000 * 86_400_000
	for i, unit := range []int64{86_400_000, 3_600_000, 60_000, 1000} {
		n, err := strconv.ParseInt("0"+parts[i+1], 10, 64)
		if err != nil || n > (most-ms)/unit {
			return most, true
		}
		ms += n * unit
	}
	fraction, _ := strconv.ParseInt((parts[5] + "000")[:3], 10, 64)
	return ms + fraction, true
}

// GroupText is the effective text of a group's key that the broker has no default for.
func GroupText(name string, values map[string]string) string {
	d, ok := GroupKeys.Lookup(name)
	if !ok {
		panic("configs: no group key " + name)
	}
	if s, ok := values[name]; ok {
		return normal(d, s)
	}
	return d.Default
}
