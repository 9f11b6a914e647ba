package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// NewRequest is a request of an API at a version with the protocol's default values; nil for a key that kmsg does not
// know.
func NewRequest(key, version int16) kmsg.Request {
	r := kmsg.RequestForKey(key)
	if r == nil {
		return nil
	}
	setDefaults(r)
	r.SetVersion(version)
	return r
}

// NewResponse is the empty response to a request of an API at a version, with default values.
func NewResponse(key, version int16) kmsg.Response {
	r := kmsg.ResponseForKey(key)
	if r == nil {
		return nil
	}
	setDefaults(r)
	r.SetVersion(version)
	return r
}

func setDefaults(v any) {
	if d, ok := v.(interface{ Default() }); ok {
		d.Default()
	}
}
