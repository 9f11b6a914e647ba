package doze

import "testing"

func TestLogFiles(t *testing.T) {
	for _, c := range []struct {
		limit          uint64
		kept, unsynced int
	}{{0, 400, 1600}, {64, 16, 16}, {256, 96, 96}, {1024, 400, 480}, {1 << 19, 400, 1600}, {1<<64 - 1, 400, 1600}} {
		if kept, unsynced := logFiles(c.limit); kept != c.kept || unsynced != c.unsynced {
			t.Error(c.limit, kept, unsynced)
		}
	}
}
