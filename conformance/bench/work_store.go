//go:build linux

package main

// storeRows measures doze's own store, which the others have no like of.
func storeRows() []row { return nil }
