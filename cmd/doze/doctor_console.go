package main

import (
	"context"

	"doze"
	"doze/console"
)

// consoleDoctor is the doctor of a broker that runs. It looks at the machine; ports and data directory are the broker's own by now.
type consoleDoctor struct{ o doze.Options }

// Findings are what doctor would say now.
func (d consoleDoctor) Findings(context.Context) []console.Finding {
	var all []console.Finding
	for _, f := range examineMachine(d.o) {
		all = append(all, console.Finding{Level: f.Level, What: f.What, Mend: f.Mend})
	}
	return all
}
