package conformance

// partOf tells which part of the work serves an API; the part of its version matrix. APIs that are not listed belong
// to the fourth: administration and security.
func partOf(key int16) int {
	switch key {
	case 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 32, 33, 35, 37, 42, 44, 47, 60, 61, 74, 75:
		return 1
	case 24, 25, 26, 27, 28, 57, 65, 66:
		return 2
	case 34, 43, 45, 46, 55, 64, 68, 69, 76, 77, 78, 79, 80, 81, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92:
		return 3
	}
	return 4
}

// leftOut tells whether doze does not serve an API on purpose: the difference share-state-requests, and what releases after
// 4.3.1 brought.
func leftOut(key int16) bool { return key >= 83 && key <= 87 || key > 92 }

// featurePart tells which part of the work brings a feature that ApiVersions announces.
func featurePart(name string) int {
	switch name {
	case "transaction.version":
		return 2
	case "group.version", "share.version", "streams.version":
		return 3
	}
	return 1
}
