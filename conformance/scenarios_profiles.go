package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

// profiles are the releases whose advertised versions doze can take on, and the release that each was recorded from.
var profiles = []struct{ profile, release string }{
	{"3.7", "3.7.2"}, {"3.9", "3.9.1"}, {"4.0", "4.0.2"}, {"4.1", "4.1.1"}, {"4.2", "4.2.0"}, {"4.3", "4.3.1"}, {"4.4", "4.4.0"},
}

func profileScenarios() []Scenario {
	var list []Scenario
	for _, p := range profiles {
		list = append(list, Scenario{
			Name:  "api-versions-" + p.profile,
			Claim: "What Kafka " + p.release + " advertises: API versions, and supported and finalised features.",
			Kafka: p.release,
			Fresh: true,
			Run:   runProfile,
		})
	}
	return list
}

// runProfile asks version 0 first, which every release answers. Version 4 is asked of those that have it: it shows
// features whose lowest version is 0, which version 3 leaves out.
func runProfile(c *C) {
	a := c.Conn("a")
	first := Ask[*kmsg.ApiVersionsResponse](a, "versions as of v0", 0, kmsg.NewPtrApiVersionsRequest())
	for _, k := range first.ApiKeys {
		if k.ApiKey != apiVersionsKey {
			continue
		}
		for v := int16(3); v <= k.MaxVersion; v++ {
			req := kmsg.NewPtrApiVersionsRequest()
			req.ClientSoftwareName, req.ClientSoftwareVersion = "conformance", "1.0"
			a.Do("versions with features", v, req)
		}
	}
}
