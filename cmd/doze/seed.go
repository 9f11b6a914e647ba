package main

import (
	"context"
	"fmt"

	"doze"
	"doze/fixtures"
)

// seeds are fixtures that are applied at every start of a broker.
type seeds []namedSeed

type namedSeed struct {
	name    string
	fixture *fixtures.Fixture
}

// loadSeeds reads the files of --seed.
func loadSeeds(g gathered) (seeds, error) {
	var all seeds
	for _, name := range g.own["seed"].values {
		f, err := fixtures.Load(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.own["seed"].from, err)
		}
		all = append(all, namedSeed{name, f})
	}
	return all, nil
}

// apply gives the broker all of them; records only in topics that are new.
func (all seeds) apply(ctx context.Context, ready doze.Ready, o doze.Options) error {
	ctx, cancel := context.WithTimeout(ctx, seedLimit)
	defer cancel()
	for _, one := range all {
		if err := applySeed(ctx, ready, o, one.fixture, true); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

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
	if at.registry, err = at.registry.checked(); err != nil {
		return usageError{err}
	}
	ctx, cancel := context.WithTimeout(context.Background(), seedLimit)
	defer cancel()
	for _, name := range c.Files {
		f, err := fixtures.Load(name)
		if err != nil {
			return err
		}
		done, err := fixtures.Apply(ctx, fixtures.Target{Options: at.options(), Registry: at.registry.url, HTTP: at.registry.client()}, f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(p.stdout, "%s: %d topics, %d configs, %d ACLs, %d schemas, %d records\n", name, done.Topics, done.Configs, done.ACLs, done.Schemas, done.Records)
	}
	return nil
}
