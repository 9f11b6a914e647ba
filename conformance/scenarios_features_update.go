package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// featureUpdateScenarios show which levels of features are taken, and what follows.
func featureUpdateScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "update-features-elr",
			Claim: "At eligible.leader.replicas.version 0 min.insync.replicas is a config like others; going up sets it for all brokers and takes it from each.",
			Fresh: true,
			Run:   runUpdateELR,
		},
		{
			Name:  "update-features-each",
			Claim: "Each feature goes down and up again by itself; what it is at is told by ApiVersions, at 0 not at all, and survives a restart.",
			Fresh: true,
			Run:   runUpdateEach,
		},
		{
			Name:  "update-features-levels",
			Claim: "Every level of every feature that is or is not supported, with each type of update, is taken or refused with a text.",
			Run:   runUpdateLevels,
		},
	}
}

// runUpdateELR shows what eligible.leader.replicas.version does to min.insync.replicas.
func runUpdateELR(c *C) {
	a := c.Conn("a")
	const feature, key = "eligible.leader.replicas.version", "min.insync.replicas"
	a.MakeTopic("t", 1)
	show := func(step, cluster, own string) {
		AskUntil(a, step+": all brokers", 4, describe(aBroker, "", key), func(r *kmsg.DescribeConfigsResponse) bool {
			set := r.Resources[0].Configs
			return len(set) == 0 && cluster == "" || len(set) == 1 && *set[0].Value == cluster
		})
		describeOnce(a, step+": the broker", describe(aBroker, "1", key), key, own)
		describeOnce(a, step+": the topic", describe(aTopic, "t", key), key, own)
	}
	alter := func(step, name string, ch change) {
		ch.key = key
		a.Do(step, 1, incremental(aBroker, name, ch))
		a.Do(step+" again", 1, incremental(aBroker, name, ch))
	}
	show("at first", "1", "1")
	alter("at 1, set for the broker", "1", change{value: "2"})
	alter("at 1, delete for the broker", "1", change{op: deleteOp})
	alter("at 1, delete for all", "", change{op: deleteOp})
	alter("at 1, set for all", "", change{value: "3"})
	show("at 1, set for all", "3", "3")
	a.Do("down", 2, updateFeatures(featureUpdate(feature, 0, safeDowngrade)))
	a.awaitFeature("at 0", feature, 0)
	show("at 0", "3", "3")
	alter("at 0, set for the broker", "1", change{value: "2"})
	show("at 0, set for the broker", "3", "2")
	alter("at 0, delete for all", "", change{op: deleteOp})
	show("at 0, deleted for all", "", "2")
	c.Restart()
	a = c.Conn("a")
	a.AwaitTopic("t", 1)
	show("after a restart", "", "2")
	a.Do("up, validated", 2, validated(updateFeatures(featureUpdate(feature, 1, upgrade))))
	show("up, validated", "", "2")
	a.Do("up", 2, updateFeatures(featureUpdate(feature, 1, upgrade)))
	a.awaitFeature("at 1 again", feature, 1)
	show("at 1 again", "1", "1")
	alter("at 1 again, set for the broker", "1", change{value: "2"})
	alter("at 1 again, delete for all", "", change{op: deleteOp})
	a.Do("up again", 2, updateFeatures(featureUpdate(feature, 1, upgrade)))
	show("up again", "1", "1")
	a.Do("down once more", 2, updateFeatures(featureUpdate(feature, 0, unsafeDowngrade)))
	a.awaitFeature("at 0 once more", feature, 0)
	show("at 0 once more", "1", "1")
	alter("at 0 once more, delete for the broker", "1", change{op: deleteOp})
	alter("at 0 once more, delete for all", "", change{op: deleteOp})
	show("at 0, none", "", "1")
}

func validated(req *kmsg.UpdateFeaturesRequest) *kmsg.UpdateFeaturesRequest {
	req.ValidateOnly = true
	return req
}

func runUpdateEach(c *C) {
	a := c.Conn("a")
	a.awaitLevel("at first", 2)
	for _, f := range features[:5] {
		for v := int16(1); v <= 2; v++ {
			a.Do(f.name+" down", v, updateFeatures(featureUpdate(f.name, 0, safeDowngrade)))
			a.Do(f.name+" down again", v, updateFeatures(featureUpdate(f.name, 0, safeDowngrade)))
			a.awaitFeature(f.name+" is down", f.name, 0)
			a.Do(f.name+" up as a downgrade", v, updateFeatures(featureUpdate(f.name, 1, safeDowngrade)))
			a.Do(f.name+" up", v, updateFeatures(featureUpdate(f.name, f.high, upgrade)))
			a.Do(f.name+" up again", v, updateFeatures(featureUpdate(f.name, f.high, upgrade)))
			a.awaitFeature(f.name+" is up", f.name, f.high)
		}
	}
	a.Do("all down", 2, updateFeatures(
		featureUpdate("group.version", 0, safeDowngrade), featureUpdate("share.version", 0, safeDowngrade),
		featureUpdate("streams.version", 0, unsafeDowngrade), featureUpdate("eligible.leader.replicas.version", 0, safeDowngrade)))
	a.awaitFeature("all are down", "eligible.leader.replicas.version", 0)
	c.Restart()
	a = c.Conn("a")
	a.awaitFeature("after a restart", "eligible.leader.replicas.version", 0)
	a.Do("configs of all brokers", 4, describe(aBroker, "", "min.insync.replicas"))
	a.Do("up", 2, updateFeatures(featureUpdate("group.version", 1, upgrade), featureUpdate("share.version", 1, upgrade),
		featureUpdate("streams.version", 1, upgrade), featureUpdate("eligible.leader.replicas.version", 1, upgrade)))
	a.awaitFeature("all are up", "eligible.leader.replicas.version", 1)
}

func runUpdateLevels(c *C) {
	a := c.Conn("a")
	a.awaitLevel("at first", 2)
	for _, f := range features {
		levels := []int16{-1, f.high + 1, 32767, -32768}
		for level := f.low; level <= f.high; level++ {
			levels = append(levels, level)
		}
		if f.low > 0 {
			levels = append(levels, 0, 1, 6, 7)
		}
		for _, level := range levels {
			for how := int8(0); how <= 4; how++ {
				for v := int16(1); v <= 2; v++ {
					req := updateFeatures(featureUpdate(f.name, level, how))
					req.ValidateOnly = true
					a.Do(fmt.Sprintf("%s to %d, type %d", f.name, level, how), v, req)
				}
			}
		}
		a.Do(f.name+" as it is, for real", 2, updateFeatures(featureUpdate(f.name, f.high, upgrade)))
		a.Do(f.name+" above, for real", 0, updateFeatures(featureUpdate(f.name, f.high+1, upgrade)))
	}
}
