//go:build !unix

package doze

// openFilesLimit is how many files the process may have open, 0 when the system does not say.
func openFilesLimit() uint64 { return 0 }
