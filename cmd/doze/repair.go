package main

import (
	"errors"
	"fmt"

	"doze"
	"doze/replay"
)

// repairCmd is the only way on after damage.
type repairCmd struct {
	Path       string `arg:"" help:"A data directory."`
	AcceptLoss bool   `help:"Do it: keep what can be read, set the damaged files aside, and journal that it happened." name:"accept-loss"`
}

// Help is shown below the flags.
func (*repairCmd) Help() string {
	return `Without --accept-loss it shows what would be given up and changes nothing: the exit status is 0 when there is nothing to
repair and 4 when there is. No file is deleted: the damaged ones are kept beside under other names. The broker must not run.

Examples:
  doze repair ~/.local/state/doze/kafka
  doze repair ~/.local/state/doze/kafka --accept-loss`
}

// Run shows what a repair would do, and does it when the loss is accepted.
func (c *repairCmd) Run(p *process) (err error) {
	r, err := doze.PlanRepair(c.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if !r.Damaged() {
		fmt.Fprintf(p.stdout, "%s: nothing to repair\n", c.Path)
		return nil
	}
	fmt.Fprint(p.stdout, r)
	if !c.AcceptLoss {
		fmt.Fprintf(p.stdout, "Nothing was changed. Restore the files from a copy if there is one; to give up what is named above:\n  doze repair %s --accept-loss\n", c.Path)
		return exitCode(replay.Damaged)
	}
	kept, err := r.Accept()
	if err != nil {
		return fmt.Errorf("repair %s: %w; mend that and run the same command again", c.Path, err)
	}
	fmt.Fprint(p.stdout, "Repaired, and journaled (doze replay shows it as DamageAccepted).")
	if len(kept) > 0 {
		fmt.Fprint(p.stdout, " Kept beside:")
	}
	fmt.Fprintln(p.stdout)
	for _, name := range kept {
		fmt.Fprintf(p.stdout, "  %s\n", name)
	}
	return nil
}
