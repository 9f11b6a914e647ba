package doze

import (
	"errors"
	"strings"
	"testing"
)

// TestExposedAddresses is the matrix of addresses and what protects them.
func TestExposedAddresses(t *testing.T) {
	a := newAuthority(t)
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "127.1.2.3:0", "0.0.0.0:0", ":0", "[::]:0"} {
		outside := address == "0.0.0.0:0" || address == ":0" || address == "[::]:0"
		for _, c := range []struct {
			name      string
			set       func(*Options)
			protected bool
		}{
			{"nothing", func(*Options) {}, false},
			{"TLS", func(o *Options) { o.TLS = a.options().TLS }, false},
			{"requested", func(o *Options) {
				o.TLS = a.options().TLS
				o.TLS.ClientCAFile = a.file("ca")
				o.Properties = map[string]string{"ssl.client.auth": "requested"}
			}, false},
			{"required", func(o *Options) { o.TLS = a.options().TLS; o.TLS.ClientCAFile = a.file("ca") }, true},
			{"login", func(o *Options) {
				o.Listeners[0].Protocol = "SASL_PLAINTEXT"
				o.Users = map[string]string{"alice": "secret"}
				o.Properties = map[string]string{"sasl.enabled.mechanisms": "PLAIN"}
			}, true},
			{"unsigned tokens", func(o *Options) {
				o.Listeners[0].Protocol = "SASL_PLAINTEXT"
				o.OAuthUnsecured = true
				o.Properties = map[string]string{"sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER"}
			}, false},
			{"unprotected", func(o *Options) { o.Unprotected = true }, true},
		} {
			o := Options{DataDir: t.TempDir(), Listeners: []Listener{{Address: address}}}
			c.set(&o)
			checkExposed(t, c.name+" on "+address, o, outside && !c.protected)
		}
		o := Options{DataDir: t.TempDir(), Listeners: []Listener{{Address: "127.0.0.1:0"}}, SchemaRegistry: address}
		checkExposed(t, "registry on "+address, o, outside)
	}
}

func checkExposed(t *testing.T, what string, o Options, refused bool) {
	t.Helper()
	b, err := New(o)
	if err == nil {
		b.Close()
	}
	var exposed *ExposedError
	if errors.As(err, &exposed) != refused || err != nil && !refused {
		t.Errorf("%s: %v", what, err)
	}
	if refused && !strings.Contains(err.Error(), "--unprotected (DOZE_UNPROTECTED=true)") {
		t.Errorf("%s: it does not say what to do: %v", what, err)
	}
}
