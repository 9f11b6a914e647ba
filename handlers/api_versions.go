package handlers

import (
	"context"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// ApiVersions (key 18), v0-v4: what this broker serves (KIP-35), its features (KIP-584, v3+) and who the client is
// (KIP-511, v3+).
//
// A version that is too new is answered below this, by wire: its body cannot be read.
func (b *Broker) apiVersions(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.ApiVersionsRequest)
	resp := respond[*kmsg.ApiVersionsResponse](r)
	if !validSoftwareOf(req) {
		resp.ErrorCode = invalidRequest
		return resp, nil
	}
	if req.Version >= 3 {
		r.Conn.SetClientSoftware(req.ClientSoftwareName, req.ClientSoftwareVersion)
	}
	for _, key := range slices.Sorted(maps.Keys(b.table)) {
		if telemetryAPI(key) && !b.telemetry.enabled() {
			continue
		}
		low, high, _ := b.Versions(key)
		resp.ApiKeys = append(resp.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: key, MinVersion: low, MaxVersion: high})
	}
	b.describeFeatures(req.Version, resp)
	return resp, nil
}

// describeFeatures lists the release's features. Before v4 one whose range begins at 0 is left out of the supported ones,
// since older clients refuse it.
func (b *Broker) describeFeatures(version int16, resp *kmsg.ApiVersionsResponse) {
	state, _ := b.view()
	resp.FinalizedFeaturesEpoch = featuresEpoch + state.Features.Updates()
	for _, f := range b.profile.features {
		if f.min > 0 || version >= 4 {
			resp.SupportedFeatures = append(resp.SupportedFeatures, kmsg.ApiVersionsResponseSupportedFeature{
				Name: f.name, MinVersion: f.min, MaxVersion: f.max,
			})
		}
		if level := b.profile.level(state, f.name); level > 0 {
			resp.FinalizedFeatures = append(resp.FinalizedFeatures, kmsg.ApiVersionsResponseFinalizedFeature{
				Name: f.name, MinVersionLevel: level, MaxVersionLevel: level,
			})
		}
	}
}

// featuresEpoch is the epoch of the features before any was changed; each update raises it.
const featuresEpoch = 1

// validSoftwareOf tells whether what the request says of the client, if it is of a version that does, is valid.
func validSoftwareOf(req *kmsg.ApiVersionsRequest) bool {
	return req.Version < 3 || validSoftware(req.ClientSoftwareName) && validSoftware(req.ClientSoftwareVersion)
}

// validSoftware tells whether a client's name or version is one by KIP-511: letters and digits, and dashes and dots between
// them.
func validSoftware(s string) bool {
	alphanumeric := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	}
	if s == "" || !alphanumeric(s[0]) || !alphanumeric(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if !alphanumeric(s[i]) && s[i] != '-' && s[i] != '.' {
			return false
		}
	}
	return true
}
