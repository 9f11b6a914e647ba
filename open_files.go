package doze

// Bounds of the files that the logs keep open; see logFiles.
const (
	openFilesElse   = 64 // what the rest of the process is left: journal, listeners, connections
	keptFilesLeast  = 16
	keptFilesMost   = 400
	unsyncedPerKept = 4
)

// logFiles derives from the process's limit of open files (0: not known) how many the logs may keep open, and how many
// because they wait for their sync.
func logFiles(limit uint64) (kept, unsynced int) {
	if limit == 0 {
		return keptFilesMost, unsyncedPerKept * keptFilesMost
	}
	half := (int64(min(limit, 1<<20)) - openFilesElse) / 2
	kept = int(max(keptFilesLeast, min(keptFilesMost, half)))
	return kept, int(max(keptFilesLeast, min(unsyncedPerKept*keptFilesMost, half)))
}
