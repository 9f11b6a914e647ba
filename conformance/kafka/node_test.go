package kafka

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"doze"
)

// A node does not start where another broker serves, which would be taken for it.
func TestNodeWantsItsPort(t *testing.T) {
	other, err := doze.New(doze.Options{Ephemeral: true, Listeners: []doze.Listener{{Address: "127.0.0.1:0"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()       //nolint:errcheck // it keeps nothing
	go other.Run(t.Context()) //nolint:errcheck // it ends with the test
	n := &Node{opt: Options{Port: int(netip.MustParseAddrPort(other.Addr()).Port())}, dir: t.TempDir()}
	if err := n.launch(context.Background()); err == nil || !strings.Contains(err.Error(), "another broker serves") {
		t.Fatalf("launch where another broker serves: %v", err)
	}
}
