package conformance

import "github.com/twmb/franz-go/pkg/kmsg"

func handshakeScenarios() []Scenario {
	return []Scenario{
		{
			Name:  "api-versions-too-new",
			Claim: "ApiVersions of a version that is too new is answered in the form of version 0 with error 35 and its own range only, whatever its body holds, and the connection goes on.",
			Run:   runApiVersionsTooNew,
		},
	}
}

func runApiVersionsTooNew(c *C) {
	a := c.Conn("a")
	// Key 18, version 99, correlation 7, client id "x", no tags, then bytes that are no body.
	frame := []byte{0, 18, 0, 99, 0, 0, 0, 7, 0, 1, 'x', 0, 0xff, 0xff, 0xff, 0xff, 0x01}
	// The same without the header's tags: the header of a version that is not known is read as flexible.
	oldHeader := []byte{0, 18, 0, 99, 0, 0, 0, 7, 0, 1, 'x', 0xff, 0xff, 0xff, 0xff, 0x01}
	like := kmsg.NewPtrApiVersionsRequest()
	a.DoRaw("v99 with garbage", frame, like)
	a.DoRaw("v99 with garbage again", frame, like)
	c.Conn("b").DoRaw("v99 with a header that is not flexible", oldHeader, like)
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "conformance", "1.0"
	a.Do("v5, one above the highest", 5, req)
	a.Do("v3 on the same connection", 3, req)
}
