package main

import (
	"context"
	"time"

	"doze"
	"doze/console"
)

// consoleDoctor is the doctor of a broker that runs. It looks at the machine; ports and data directory are the broker's own by now.
type consoleDoctor struct{ o doze.Options }

// Findings are what doctor would say now.
func (d consoleDoctor) Findings(context.Context) []console.Finding {
	found := []finding{examineFiles()}
	if !d.o.Ephemeral {
		found = append(found, examineDisk(existingParent(d.o.DataDir)), examineClock(d.o.DataDir, time.Now()))
	}
	var all []console.Finding
	for _, f := range found {
		all = append(all, console.Finding{Level: f.Level, What: f.What, Mend: f.Mend})
	}
	return all
}
