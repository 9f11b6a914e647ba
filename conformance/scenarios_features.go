package conformance

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// featureScenarios show transaction.version, the feature by which clients choose the protocol of transactions.
func featureScenarios() []Scenario {
	list := inTxnPart([]Scenario{
		{
			Name:  "update-features",
			Claim: "UpdateFeatures changes transaction.version down (SAFE or UNSAFE_DOWNGRADE) and up, also by more than one, and to what it is; v0 cannot go down, AllowDowngrade or not; ApiVersions tells the level, at 0 not at all.",
			Run:   runUpdateFeatures,
		},
		{
			Name:  "update-features-validate",
			Claim: "UpdateFeatures that only validates answers as the change would be, and changes nothing.",
			Run:   runUpdateFeaturesValidate,
		},
		{
			Name:  "update-features-refusals",
			Claim: "An unknown feature, a level that is not supported, a downgrade that is called an upgrade and the reverse are INVALID_UPDATE_VERSION with a text; one of them refuses all; of a feature that is named twice the last mention counts; no feature is no error.",
			Run:   runUpdateFeaturesRefusals,
		},
		{
			Name:  "update-features-restart",
			Claim: "The level of a feature survives a restart and a kill.",
			Run:   runUpdateFeaturesRestart,
		},
		{
			Name:  "update-features-others",
			Claim: "UpdateFeatures of other features: what they can be changed to, and their dependencies.",
			Run:   runUpdateFeaturesOthers,
		},
		{
			Name:  "txn-version-0",
			Claim: "At transaction.version 0 requests of v1 are answered as at 2, and InitProducerId aborts an open transaction as v1 does: the same pair again is PRODUCER_FENCED.",
			Run:   runTxnVersion0,
		},
		{
			Name:  "txn-version-0-v2",
			Claim: "At transaction.version 0 Produce v12 and EndTxn v5 are UNSUPPORTED_VERSION and do nothing; but the transactional id is CONCURRENT_TRANSACTIONS from then on, until a restart.",
			Run:   runTxnVersion0V2,
		},
		{
			Name:  "txn-version-1",
			Claim: "At transaction.version 1 requests of both protocols are answered as at 2: the version of the request decides; InitProducerId aborts an open transaction as v1 does.",
			Run:   runTxnVersion1,
		},
		{
			Name:  "txn-version-open",
			Claim: "A transaction that is open when transaction.version changes between 1 and 2 goes on and ends by the protocol of its requests.",
			Run:   runTxnVersionOpen,
		},
		{
			Name:  "txn-version-timeout",
			Claim: "At transaction.version 0 a transaction that runs out is aborted with the next epoch, and the old pair is no repeat.",
			Set:   quickTxnSet(),
			Run:   runTxnVersionTimeout,
		},
	})
	for i := range list {
		list[i].Fresh = true
		if list[i].Name == "update-features-others" {
			list[i].Part = 3
		}
	}
	return list
}

// Upgrade types of UpdateFeatures.
const (
	upgrade         = 1
	safeDowngrade   = 2
	unsafeDowngrade = 3
)

func featureUpdate(name string, level int16, how int8) kmsg.UpdateFeaturesRequestFeatureUpdate {
	u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	u.Feature, u.MaxVersionLevel, u.UpgradeType, u.AllowDowngrade = name, level, how, how > upgrade
	return u
}

func updateFeatures(updates ...kmsg.UpdateFeaturesRequestFeatureUpdate) *kmsg.UpdateFeaturesRequest {
	req := kmsg.NewPtrUpdateFeaturesRequest()
	req.TimeoutMillis, req.FeatureUpdates = 10_000, updates
	return req
}

const txnFeature = "transaction.version"

// awaitLevel waits until ApiVersions tells a level of transaction.version, and shows the features.
func (n *Conn) awaitLevel(step string, level int16) { n.awaitFeature(step, txnFeature, level) }

// awaitFeature waits until ApiVersions tells a level of a feature, and shows all.
func (n *Conn) awaitFeature(step, name string, level int16) {
	before, deadline := len(n.c.steps), time.Now().Add(patience)
	for {
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = "conformance", "1"
		p := n.Send(step, 3, req).Only("FinalizedFeatures", "FinalizedFeaturesEpoch")
		r := AwaitAs[*kmsg.ApiVersionsResponse](p)
		told := int16(0)
		for _, f := range r.FinalizedFeatures {
			if f.Name == name {
				told = f.MaxVersionLevel
			}
		}
		if told == level {
			return
		}
		if time.Now().After(deadline) {
			n.c.Fatalf("step %s: %s is %d within %s", step, name, told, patience)
		}
		n.c.steps = n.c.steps[:before]
		time.Sleep(20 * time.Millisecond)
	}
}

// setLevel changes transaction.version and waits until it is told.
func (n *Conn) setLevel(step string, version int16, level int16, how int8) {
	n.Do(step, version, updateFeatures(featureUpdate(txnFeature, level, how)))
	n.awaitLevel(step+": told", level)
}

func runUpdateFeatures(c *C) {
	a := c.Conn("a")
	a.awaitLevel("at first", 2)
	a.setLevel("v1: down by one", 1, 1, safeDowngrade)
	a.setLevel("v1: the same again", 1, 1, upgrade)
	a.setLevel("v1: to what it is, as a downgrade", 1, 1, unsafeDowngrade)
	a.setLevel("v1: up by one", 1, 2, upgrade)
	a.setLevel("v2: down by two", 2, 0, unsafeDowngrade)
	a.setLevel("v2: the same again", 2, 0, safeDowngrade)
	a.setLevel("v2: up by two", 2, 2, upgrade)
	a.Do("v0: down by one", 0, updateFeatures(featureUpdate(txnFeature, 1, safeDowngrade)))
	a.setLevel("v0: to what it is", 0, 2, upgrade)
	a.setLevel("v1: down by two", 1, 0, safeDowngrade)
	a.setLevel("v0: up by one", 0, 1, upgrade)
	for v := int16(0); v <= 4; v++ {
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = "conformance", "1"
		a.Send("ApiVersions "+vn(v), v, req).Only("ErrorCode", "SupportedFeatures", "FinalizedFeatures", "FinalizedFeaturesEpoch", "ZkMigrationReady").Await()
	}
}

func runUpdateFeaturesValidate(c *C) {
	a := c.Conn("a")
	a.awaitLevel("at first", 2)
	for v := int16(1); v <= 2; v++ {
		for _, u := range []kmsg.UpdateFeaturesRequestFeatureUpdate{
			featureUpdate(txnFeature, 1, safeDowngrade), featureUpdate(txnFeature, 0, unsafeDowngrade), featureUpdate(txnFeature, 2, upgrade),
			featureUpdate(txnFeature, 1, upgrade), featureUpdate(txnFeature, 3, upgrade), featureUpdate("nonsense", 1, upgrade),
		} {
			req := updateFeatures(u)
			req.ValidateOnly = true
			a.Do(fmt.Sprintf("%s: %s to %d, type %d", vn(v), u.Feature, u.MaxVersionLevel, u.UpgradeType), v, req)
		}
		a.awaitLevel(vn(v)+": as before", 2)
	}
}

func runUpdateFeaturesRefusals(c *C) {
	a := c.Conn("a")
	a.awaitLevel("at first", 2)
	for v := int16(0); v <= 2; v++ {
		ask := func(step string, updates ...kmsg.UpdateFeaturesRequestFeatureUpdate) {
			a.Do(vn(v)+": "+step, v, updateFeatures(updates...))
		}
		ask("an unknown feature", featureUpdate("nonsense", 1, upgrade))
		ask("an unknown feature to 0", featureUpdate("nonsense", 0, safeDowngrade))
		ask("an empty name", featureUpdate("", 1, upgrade))
		ask("level 3", featureUpdate(txnFeature, 3, upgrade))
		ask("level -1", featureUpdate(txnFeature, -1, safeDowngrade))
		ask("a downgrade called an upgrade", featureUpdate(txnFeature, 1, upgrade))
		ask("to 0 called an upgrade", featureUpdate(txnFeature, 0, upgrade))
		if v > 0 {
			ask("type 0", featureUpdate(txnFeature, 1, 0))
			ask("type 4", featureUpdate(txnFeature, 1, 4))
		}
		ask("good and bad", featureUpdate(txnFeature, 1, safeDowngrade), featureUpdate("nonsense", 1, upgrade))
		ask("none")
	}
	a.awaitLevel("as before", 2)
	a.Do("twice, the last bad", 2, updateFeatures(featureUpdate(txnFeature, 1, safeDowngrade), featureUpdate(txnFeature, 3, upgrade)))
	a.awaitLevel("still as before", 2)
	a.Do("twice, the first bad", 2, updateFeatures(featureUpdate(txnFeature, 3, upgrade), featureUpdate(txnFeature, 1, safeDowngrade)))
	a.awaitLevel("the last counts", 1)
	a.setLevel("down", 2, 0, safeDowngrade)
	a.Do("an upgrade called a downgrade", 2, updateFeatures(featureUpdate(txnFeature, 1, safeDowngrade)))
	a.Do("an upgrade called an unsafe downgrade", 2, updateFeatures(featureUpdate(txnFeature, 2, unsafeDowngrade)))
	a.awaitLevel("still down", 0)
}

func runUpdateFeaturesRestart(c *C) {
	c.Conn("a").setLevel("down by one", 2, 1, safeDowngrade)
	c.Restart()
	c.Conn("a").awaitLevel("after a restart", 1)
	c.Conn("a").setLevel("down by one more", 2, 0, safeDowngrade)
	c.Kill()
	c.Conn("a").awaitLevel("after a kill", 0)
	c.Conn("a").setLevel("up", 2, 2, upgrade)
	c.Restart()
	c.Conn("a").awaitLevel("after another restart", 2)
}

func runUpdateFeaturesOthers(c *C) {
	a := c.Conn("a")
	a.awaitLevel("at first", 2)
	ask := func(name string, level int16, how int8) {
		req := updateFeatures(featureUpdate(name, level, how))
		req.ValidateOnly = true
		a.Do(fmt.Sprintf("%s to %d, type %d", name, level, how), 2, req)
	}
	for _, name := range []string{"group.version", "share.version", "streams.version", "eligible.leader.replicas.version", "kraft.version", "metadata.version"} {
		ask(name, 0, safeDowngrade)
		ask(name, 0, unsafeDowngrade)
		ask(name, 1, upgrade)
		ask(name, 99, upgrade)
	}
	ask("metadata.version", 25, safeDowngrade)
	ask("metadata.version", 25, unsafeDowngrade)
}

// atLevel brings transaction.version to a level, and a producer.
func atLevel(c *C, level int16) (*txnProducer, topicRef) {
	a := c.Conn("a")
	t := a.NewTopic("txn-version", 1)
	a.AwaitGroupCoordinator("txn-version")
	a.setLevel("the level", 2, level, safeDowngrade)
	return c.txnProducer("a", "txn-version"), t
}

// versionedV1 plays the first protocol.
func versionedV1(p *txnProducer, t topicRef) {
	p.Write("never added", produceV1, t, "no")
	p.next[place{t, 0}]--
	p.WriteV1("v1", t, "a")
	p.State("v1 described")
	p.End("commit of v1", endTxnV1, true)
	p.Do("commit of v1 again", endTxnV1, endTxn(p, true))
	p.WriteV1("v1 again", t, "b")
	p.End("abort of v1", endTxnV1, false)
	p.Do("add offsets", 3, addOffsets(p, p.txn))
	p.Do("offset", offsetCommitV1, txnOffset(p, p.txn, t, 4))
	p.End("commit of the offset", endTxnV1, true)
	p.Offset("offset committed", p.txn, t)
	p.WriteV1("v1 left open", t, "c")
	p.Do("init", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	p.Settled("aborted")
	p.Do("init with the same pair again", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	p.init("init without a pair", 60_000)
}

func runTxnVersion0(c *C) {
	p, t := atLevel(c, 0)
	versionedV1(p, t)
	p.Read("read", t, 0)
}

func runTxnVersion0V2(c *C) {
	p, t := atLevel(c, 0)
	q := c.txnProducer("a", "txn-version-empty")
	p.WriteV2("write", t, "a")
	p.next[place{t, 0}] = 0
	p.State("described")
	q.Do("abort of nothing", endTxnV2, endTxn(q, false))
	q.State("the empty one described")
	p.Do("abort of v1", endTxnV1, endTxn(p, false))
	c.Restart()
	p.reopened()
	p.AwaitTxnCoordinator()
	p.AwaitTopic(t.name, 1)
	p.State("described after a restart")
	p.init("init after a restart", 60_000)
	p.WriteV1("v1 after a restart", t, "b")
	p.End("commit of v1", endTxnV1, true)
	p.Read("read", t, 0)
}

func runTxnVersion1(c *C) {
	p, t := atLevel(c, 1)
	versionedV1(p, t)
	p.WriteV2("v2", t, "d")
	p.State("v2 described")
	p.End("commit of v2", endTxnV2, true)
	p.End("abort of nothing", endTxnV2, false)
	p.Do("offset of v2", offsetCommit, txnOffset(p, p.txn, t, 5))
	p.End("commit of the offset of v2", endTxnV2, true)
	p.Offset("offset of v2 committed", p.txn, t)
	p.WriteV2("v2 left open", t, "e")
	p.Do("init over it", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	p.Settled("aborted again")
	p.Do("abort with the old epoch", endTxnV2, endTxn(p, false))
	p.Do("init with the same pair once more", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	p.init("init again", 60_000)
	p.Read("read", t, 0)
}

func runTxnVersionOpen(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-version-open", 1)
	p, q := c.txnProducer("a", "txn-version-open-p"), c.txnProducer("a", "txn-version-open-q")
	p.WriteV1("v1", t, "a")
	q.WriteV2("v2", t, "b")
	a.setLevel("down", 2, 1, safeDowngrade)
	p.Write("v1 goes on", produceV1, t, "c")
	q.WriteV2("v2 goes on", t, "d")
	p.End("v1 commits", endTxnV1, true)
	q.End("v2 commits", endTxnV2, true)
	p.WriteV1("v1 again", t, "e")
	q.WriteV2("v2 again", t, "f")
	a.setLevel("up", 2, 2, upgrade)
	p.End("v1 aborts", endTxnV1, false)
	q.End("v2 aborts", endTxnV2, false)
	a.Read("read", t, 0)
}

func runTxnVersionTimeout(c *C) {
	a := c.Conn("a")
	t := a.NewTopic("txn-version-timeout", 1)
	a.setLevel("down", 2, 0, safeDowngrade)
	p := c.txnProducerWithin("a", "txn-version-timeout", 500)
	p.WriteV1("write", t, "a")
	p.untilAborted("until it is aborted")
	p.Do("abort", endTxnV1, endTxn(p, false))
	p.Do("init with the pair", 4, initRequest(p.txn, 60_000, p.id, p.epoch))
	p.init("init", 60_000)
	p.Read("read", t, 0)
}
