package quotas

import (
	"fmt"
	"testing"
)

func TestAddressesOfHosts(t *testing.T) {
	for host, want := range map[string]string{
		"10.0.0.1": "[10.0.0.1]", "::1": "[::1]", "[::1]": "[::1]", "::ffff:10.0.0.1": "[10.0.0.1]", "fe80::1%eth0": "[fe80::1]",
		"localhost": "[127.0.0.1 ::1]", "LocalHost": "[127.0.0.1 ::1]",
		"1.2.3": "[1.2.0.3]", "1": "[0.0.0.1]", "4294967295": "[255.255.255.255]", "01.2.3.4": "[1.2.3.4]", "1.256": "[1.0.1.0]",
		"4294967296": "[]", "1.2.3.256": "[]", "256.1": "[]", "0x7f.1": "[]", "1..2": "[]", "1.": "[]", "-1": "[]", "+1": "[]",
		"1.2.3.4.5": "[]", "no such host": "[]", "example.com": "[]", "": "[]",
	} {
		if got := fmt.Sprint(AddressesOf(host)); got != want {
			t.Errorf("%q means %s, want %s", host, got, want)
		}
	}
}
