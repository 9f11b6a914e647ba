package traffic

import (
	"doze/console/inside"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Keys of the APIs that carry what lets people in.
const (
	keySASLHandshake    = 17
	keySASLAuthenticate = 36
	keyCreateToken      = 38
	keyRenewToken       = 39
	keyExpireToken      = 40
	keyDescribeToken    = 41
	keyDescribeSCRAM    = 50
	keyAlterSCRAM       = 51
)

// secretive says whether an API's messages may hold what lets people in: only what mayShow lists is kept of them.
func secretive(key int16) bool {
	switch key {
	case keySASLHandshake, keySASLAuthenticate, keyCreateToken, keyRenewToken, keyExpireToken, keyDescribeToken, keyDescribeSCRAM, keyAlterSCRAM:
		return true
	}
	return false
}

// mayShow are the fields of those messages that are shown: mechanisms, names of users and principals, iterations, lifetimes,
// and what was refused.
var mayShow = []string{
	"Mechanism", "SupportedMechanisms",
	"Name", "User",
	"PrincipalType", "PrincipalName", "OwnerPrincipalType", "OwnerPrincipalName", "TokenRequesterPrincipalType", "TokenRequesterPrincipalName",
	"Iterations",
	"MaxLifetimeMillis", "SessionLifetimeMillis", "RenewTimeMillis", "ExpiryPeriodMillis", "IssueTimestamp", "ExpiryTimestamp", "MaxTimestamp",
	"ErrorCode",
}

// secretive describes a request of those APIs.
func (w *words) secretive(body kmsg.Request) {
	switch req := body.(type) {
	case *kmsg.SASLHandshakeRequest:
		w.add("mechanism=%s", shown(req.Mechanism))
	case *kmsg.AlterUserSCRAMCredentialsRequest:
		for _, d := range req.Deletions {
			w.add("delete user=%s mechanism=%s", shown(d.Name), scramName(d.Mechanism))
		}
		for _, u := range req.Upsertions {
			w.add("set user=%s mechanism=%s iterations=%d", shown(u.Name), scramName(u.Mechanism), u.Iterations)
		}
	case *kmsg.DescribeUserSCRAMCredentialsRequest:
		for _, u := range req.Users {
			w.add("user=%s", shown(u.Name))
		}
	case *kmsg.CreateDelegationTokenRequest:
		if owner := value(req.OwnerPrincipalName); owner != "" {
			w.add("owner=%s:%s", shown(value(req.OwnerPrincipalType)), shown(owner))
		}
		w.add("lifetime=%dms", req.MaxLifetimeMillis)
	case *kmsg.RenewDelegationTokenRequest:
		w.add("for %dms", req.RenewTimeMillis)
	case *kmsg.ExpireDelegationTokenRequest:
		w.add("in %dms", req.ExpiryPeriodMillis)
	case *kmsg.DescribeDelegationTokenRequest:
		for _, o := range req.Owners {
			w.add("owner=%s:%s", shown(o.PrincipalType), shown(o.PrincipalName))
		}
	}
}

func scramName(mechanism int8) string {
	switch mechanism {
	case 1:
		return "SCRAM-SHA-256"
	case 2:
		return "SCRAM-SHA-512"
	}
	return "unknown"
}

func configShown(name string, value *string) string {
	switch {
	case inside.SecretConfig(name):
		return inside.Hidden
	case value == nil:
		return "null"
	}
	return shown(*value)
}
