//go:build linux

package main

import "doze/conformance"

// oneRecord is a batch of one record.
func oneRecord() []byte { return conformance.Values("a record").Bytes() }
