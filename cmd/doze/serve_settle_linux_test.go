package main

import (
	"os"
	"slices"
	"testing"
)

func TestOnlyReadOnlyMappingsOfTheProgramAreDropped(t *testing.T) {
	const maps = `00400000-01679000 r-xp 00000000 fd:01 12  /bin/doze
01679000-02a00000 r--p 01279000 fd:01 12  /bin/doze
02a00000-02ac0000 rw-p 02600000 fd:01 12  /bin/doze
02ac0000-02b00000 rw-p 00000000 00:00 0
7f0000000000-7f0000100000 r-xp 00000000 fd:01 13  /lib/libc.so.6
7f0000100000-7f0000200000 r--s 00000000 fd:01 12  /bin/doze
x-y r--p 00000000 fd:01 12  /bin/doze
`
	want := []mapping{{0x400000, 0x1679000}, {0x1679000, 0x2a00000}}
	if got := mappingsOf(maps, "/bin/doze"); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// TestSettleChangesNothing: code and constants are the same afterwards.
func TestSettleChangesNothing(t *testing.T) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil || len(mappingsOf(string(maps), program)) == 0 {
		t.Fatalf("%v; no mapping of %s in\n%s", err, program, maps)
	}
	before := slices.Clone(typedText)
	settle()
	if !slices.Equal(before, typedText) || len(mappingsOf(string(maps), program)) == 0 {
		t.Error("something is different")
	}
}

var typedText = []string{"constants are in the file", "slices of them in its data"}
