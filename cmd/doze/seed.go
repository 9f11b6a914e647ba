package main

import (
	"context"
	"fmt"

	"doze/fixtures"
)

// seedCmd gives a running broker what a fixture says.
type seedCmd struct {
	clientFlags
	Files []string `arg:"" name:"file" help:"Files of topics, configs, ACLs, schemas and records."`
}

// Help is shown below the flags.
func (*seedCmd) Help() string {
	return `docs/run.md has the format of the files. A topic that is there stays.

Example: doze seed testdata/seed.yaml`
}

// Run applies the files in order.
func (c *seedCmd) Run(p *process) error {
	at, err := c.find(p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), seedLimit)
	defer cancel()
	for _, name := range c.Files {
		f, err := fixtures.Load(name)
		if err != nil {
			return err
		}
		done, err := fixtures.Apply(ctx, fixtures.Target{Options: at.options(), Registry: at.registry}, f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(p.stdout, "%s: %d topics, %d configs, %d ACLs, %d schemas, %d records\n", name, done.Topics, done.Configs, done.ACLs, done.Schemas, done.Records)
	}
	return nil
}
