package doze

import (
	"crypto/rand"
	"encoding/base64"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"doze/journal"
)

// systemClock is the machine's clock.
type systemClock struct{}

func (systemClock) NowMillis() int64 { return time.Now().UnixMilli() }

// Steady is the time that has passed since the program began, on top of what the clock said then.
func (systemClock) Steady() journal.Clock { return steadyClock{} }

type steadyClock struct{}

var begun = time.Now()

func (steadyClock) NowMillis() int64 { return begun.UnixMilli() + time.Since(begun).Milliseconds() }

// randomIDs makes random UUIDs (version 4). As in Kafka none begins with a dash in its text form, which a command line
// would take for an option, and none is one of the few that Kafka reserves.
type randomIDs struct{}

func (randomIDs) NewUUID() [16]byte {
	for {
		var id [16]byte
		rand.Read(id[:])
		id[6] = id[6]&0x0f | 0x40
		id[8] = id[8]&0x3f | 0x80
		if base64.RawURLEncoding.EncodeToString(id[:])[0] != '-' {
			return id
		}
	}
}

// BootID tells one run of the machine from another, where the system says: what is missing from a file after a power loss
// is no damage. Empty where it is not known.
func BootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// Version is doze's own version, "devel" when it was not built from a release.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
