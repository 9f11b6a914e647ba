//go:build !linux

package main

// dropStartPages does nothing where the kernel is not asked.
func dropStartPages() {}
