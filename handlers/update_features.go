package handlers

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/journal"
	"doze/projections"
	"doze/wire"
)

// UpdateFeatures (key 57), v0-v2 (KIP-584, KIP-778): sets the levels of features, all or none.
//
//	v1  upgrade_type instead of allow_downgrade, validate_only     v2  no results for each feature
//
// Of v0 Kafka's controller never looks at allow_downgrade: it takes every update for an upgrade. Only transaction.version
// changes what doze does; the others are kept and announced.
func (b *Broker) updateFeatures(ctx context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.UpdateFeaturesRequest)
	resp := respond[*kmsg.UpdateFeaturesResponse](r)
	updates, types := featureUpdates(req)
	var refused *refusal
	err := b.decide(ctx, r, req.ValidateOnly, func(tx *tx) { refused = b.decideFeatures(tx, updates, types) })
	if err != nil {
		refused = storageRefusal(err)
	}
	b.shareGroupsOff()
	if refused != nil {
		resp.ErrorCode = refused.code
		resp.ErrorMessage = text("The update failed for all features since the following feature had an error: " + *refused.message)
		return resp, nil
	}
	if req.Version > 1 {
		return resp, nil
	}
	for _, u := range req.FeatureUpdates {
		result := kmsg.NewUpdateFeaturesResponseResult()
		result.Feature, result.ErrorMessage = u.Feature, text("NONE")
		resp.Results = append(resp.Results, result)
	}
	return resp, nil
}

// featureUpdates are the levels that a request asks for; of a feature that it names twice the last counts.
func featureUpdates(req *kmsg.UpdateFeaturesRequest) (updates []projections.Feature, types map[string]int8) {
	types = map[string]int8{}
	levels := map[string]int16{}
	var order []string
	for _, u := range req.FeatureUpdates {
		if _, named := levels[u.Feature]; !named {
			order = append(order, u.Feature)
		}
		levels[u.Feature], types[u.Feature] = u.MaxVersionLevel, u.UpgradeType
		if req.Version == 0 {
			types[u.Feature] = upgradeOnly
		}
	}
	for _, name := range order {
		updates = append(updates, projections.Feature{Name: name, Level: levels[name]})
	}
	return updates, types
}

// Kinds of updates.
const (
	upgradeOnly     int8 = 1
	downgradeSafe   int8 = 2
	downgradeUnsafe int8 = 3
)

func (b *Broker) decideFeatures(tx *tx, updates []projections.Feature, types map[string]int8) *refusal {
	for _, u := range updates {
		if refused := b.checkFeature(tx.State, u, types[u.Name]); refused != nil {
			return refused
		}
	}
	for _, u := range updates {
		if u.Name == kraftVersion && u.Level == b.profile.level(tx.State, kraftVersion) {
			continue // kept elsewhere in Kafka: what does not change it is no update
		}
		b.keepMinInsyncReplicas(tx, u)
		tx.Emit(&journal.FeatureUpdated{Name: u.Name, Level: u.Level})
	}
	return nil
}

// elrVersion is the feature of KIP-966: while it is above 0, min.insync.replicas is set for all brokers and for none by itself.
const elrVersion = "eligible.leader.replicas.version"

// keepMinInsyncReplicas does to min.insync.replicas what a level of elrVersion asks for. Going to 0, the value that a cluster
// begins its life with is written down, since from then on it may be taken away; going above, it is set for all brokers where
// it is not, and taken from each.
func (b *Broker) keepMinInsyncReplicas(tx *tx, u projections.Feature) {
	if u.Name != elrVersion {
		return
	}
	value := b.clusterValues(tx.State)[minInsyncReplicas]
	if _, set := tx.State.Configs.Get(projections.BrokerResource, clusterDefaults, minInsyncReplicas); !set && (value != "" || u.Level > 0) {
		if value == "" {
			value, _ = b.static.Get(minInsyncReplicas)
		}
		tx.Emit(&journal.ConfigsAltered{ResourceType: projections.BrokerResource, Resource: clusterDefaults,
			Set: []journal.ConfigPair{{Name: minInsyncReplicas, Value: value}}})
	}
	if _, own := tx.State.Configs.Get(projections.BrokerResource, b.nodeName, minInsyncReplicas); own && u.Level > 0 {
		tx.Emit(&journal.ConfigsAltered{ResourceType: projections.BrokerResource, Resource: b.nodeName, Removed: []string{minInsyncReplicas}})
	}
}

// elr says whether elrVersion is above 0.
func (b *Broker) elr(state *projections.State) bool { return b.profile.level(state, elrVersion) > 0 }

// checkFeature says what stands against a level.
func (b *Broker) checkFeature(state *projections.State, u projections.Feature, kind int8) *refusal {
	refused := func(format string, args ...any) *refusal {
		return refuse(invalidUpdateVersion, fmt.Sprintf("Invalid update version %d for feature %s. %s", u.Level, u.Name, fmt.Sprintf(format, args...)))
	}
	f := b.profile.feature(u.Name)
	now := b.profile.level(state, u.Name)
	switch {
	case kind < upgradeOnly || kind > downgradeUnsafe:
		return refused("The controller does not support the given upgrade type.")
	case u.Level < 0:
		return refused("A feature version cannot be less than 0.")
	case (u.Level < f.min || u.Level > f.max) && f.max == 0:
		return refused("Local controller %d does not support this feature.", b.nodeID)
	case u.Level < f.min || u.Level > f.max:
		return refused("Local controller %d only supports versions %s", b.nodeID, f.span())
	case u.Level < now && kind == upgradeOnly:
		return refused("Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade.")
	case u.Level > now && kind != upgradeOnly:
		return refused("Can't downgrade to a newer version.")
	case f.max == 0:
		return refused("Feature %s not found.", u.Name)
	case u.Level < now && u.Name == kraftVersion:
		return refused("Can't downgrade the version of this feature.")
	case u.Level < now && u.Name == "metadata.version":
		return refuseMetadataDowngrade(now, u.Level, kind)
	}
	return nil
}

func refuseMetadataDowngrade(from, to int16, kind int8) *refusal {
	why := "Refusing to perform the requested downgrade because it might delete metadata information."
	if kind == downgradeUnsafe {
		why = "Unsafe metadata downgrade is not supported in this version."
	}
	return refuse(invalidUpdateVersion, fmt.Sprintf("Unsupported metadata.version downgrade from %d to %d. %s", from, to, why))
}

// span is a range of levels as Kafka prints it.
func (f feature) span() string {
	if f.min == f.max {
		return fmt.Sprint(f.min)
	}
	return fmt.Sprintf("%d-%d", f.min, f.max)
}

// feature finds what the release supports of a feature; nothing of one that it does not know.
func (p *Profile) feature(name string) feature {
	for _, f := range p.features {
		if f.name == name {
			return f
		}
	}
	return feature{name: name}
}

// level is the level that a feature runs at: the one that was set, as far as the release knows it, else the release's.
func (p *Profile) level(state *projections.State, name string) int16 {
	f := p.feature(name)
	if set, ok := state.Features.Level(name); ok && set >= f.min && set <= f.max {
		return set
	}
	return f.level
}
