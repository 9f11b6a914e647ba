package handlers

import (
	"fmt"
	"slices"
	"strings"
)

// versions is a range of versions of an API.
type versions struct{ low, high int16 }

// Profile is a Kafka release as a client sees it: the API versions and features that it advertises.
type Profile struct {
	Release  string // "4.3"
	apis     map[int16]versions
	features []feature
}

// feature is a feature of KIP-584 that the release supports (min to max), and the level it runs at after a fresh format;
// level 0 is not announced as finalised.
type feature struct {
	name            string
	min, max, level int16
}

// Features that doze acts on. What a later part of the work brings is announced when it is there.
var releaseFeatures = map[string][]feature{
	"3.7": {{"metadata.version", 1, 19, 19}},
	"3.9": {{"kraft.version", 0, 1, 0}, {"metadata.version", 1, 21, 21}},
	"4.0": {{"eligible.leader.replicas.version", 0, 1, 0}, {"group.version", 0, 1, 1}, {"kraft.version", 0, 1, 0}, {"metadata.version", 7, 25, 25}, {"transaction.version", 0, 2, 2}},
	"4.1": {{"eligible.leader.replicas.version", 0, 1, 1}, {"group.version", 0, 1, 1}, {"kraft.version", 0, 1, 0}, {"metadata.version", 7, 27, 27}, {"share.version", 0, 1, 0}, {"transaction.version", 0, 2, 2}},
	"4.2": {{"eligible.leader.replicas.version", 0, 1, 1}, {"group.version", 0, 1, 1}, {"kraft.version", 0, 1, 0}, {"metadata.version", 7, 29, 29}, {"share.version", 0, 1, 1}, {"streams.version", 0, 1, 1}, {"transaction.version", 0, 2, 2}},
	"4.3": {{"eligible.leader.replicas.version", 0, 1, 1}, {"group.version", 0, 1, 1}, {"kraft.version", 0, 1, 0}, {"metadata.version", 7, 30, 30}, {"share.version", 0, 1, 1}, {"streams.version", 0, 1, 1}, {"transaction.version", 0, 2, 2}},
	"4.4": {{"eligible.leader.replicas.version", 0, 1, 1}, {"group.version", 0, 1, 1}, {"kraft.version", 0, 1, 0}, {"metadata.version", 7, 33, 33}, {"share.version", 0, 2, 2}, {"streams.version", 0, 1, 1}, {"transaction.version", 0, 2, 2}},
}

// Releases lists the releases that have a profile, oldest first.
func Releases() []string {
	all := make([]string, 0, len(releaseAPIs))
	for release := range releaseAPIs {
		all = append(all, release)
	}
	slices.Sort(all)
	return all
}

// NewProfile finds the profile of a Kafka version: "4.3.1" and "4.3" are the same.
func NewProfile(version string) (*Profile, error) {
	release := version
	if parts := strings.Split(version, "."); len(parts) == 3 {
		release = parts[0] + "." + parts[1]
	}
	apis, known := releaseAPIs[release]
	if !known {
		return nil, fmt.Errorf("no profile of Kafka %s; there are %s", version, strings.Join(Releases(), ", "))
	}
	return &Profile{Release: release, apis: apis, features: releaseFeatures[release]}, nil
}
