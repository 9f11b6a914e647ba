package main

import (
	"os"
	"slices"
	"testing"
)

func TestOnlyWhatIsAsTheFileIsDropped(t *testing.T) {
	const smaps = `00400000-01679000 r-xp 00000000 fd:01 12  /bin/doze
Size:              18916 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
01679000-02a00000 r--p 01279000 fd:01 12  /bin/doze
Anonymous:             0 kB
Swap:                  0 kB
02a00000-02ac0000 rw-p 02600000 fd:01 12  /bin/doze
Anonymous:             0 kB
02ac0000-02b00000 rw-p 00000000 00:00 0
Anonymous:             0 kB
03000000-03001000 r--p 00001000 fd:01 12  /bin/doze
Anonymous:             4 kB
Swap:                  0 kB
04000000-04001000 r-xp 00001000 fd:01 12  /bin/doze
Anonymous:             0 kB
Swap:                  4 kB
05000000-05001000 r-xp 00001000 fd:01 12  /bin/doze
7f0000000000-7f0000100000 r-xp 00000000 fd:01 13  /lib/libc.so.6
Anonymous:             0 kB
7f0000100000-7f0000200000 r--s 00000000 fd:01 12  /bin/doze
Anonymous:             0 kB
x-y r--p 00000000 fd:01 12  /bin/doze
Anonymous:             0 kB
`
	want := []mapping{{start: 0x400000, end: 0x1679000}, {start: 0x1679000, end: 0x2a00000}}
	if got := fileMappings(smaps, "/bin/doze"); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestSettleChangesNothing: there is something to drop, and constants are the same afterwards.
func TestSettleChangesNothing(t *testing.T) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil || len(fileMappings(string(smaps), program)) == 0 {
		t.Fatalf("%v; no mapping of %s in\n%s", err, program, smaps)
	}
	before := slices.Clone(constants)
	settle()
	if !slices.Equal(before, constants) {
		t.Errorf("%q were %q", constants, before)
	}
}

var constants = []string{"these texts are in the file", "the slice of them in its data"}
