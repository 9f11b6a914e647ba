//go:build !linux

package main

// portHolder says which process listens on the TCP port; systems without /proc do not tell.
func portHolder(string) string { return "" }

// dirHolder says which process has a file of the directory open; systems without /proc do not tell.
func dirHolder(string) string { return "" }
