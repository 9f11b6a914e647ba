package kill

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// RegistryReport is what a campaign against the schema registry found.
type RegistryReport struct {
	Kills      int
	Registered int // schemas with an acknowledged id
	Versions   int // acknowledged versions of subjects
	Hidden     int // acknowledged deletions
	Checked    int // ids that were read back
	Slowest    time.Duration
	Faults     []string
}

const (
	registryClients  = 4
	registrySubjects = 12
	// After each start so many ids are read back: the last ones, and others by chance. At the end all are.
	checkedAfterStart = 60
)

// RunRegistry kills a broker again and again while clients register schemas, and after each start and at the end reads back what was
// acknowledged: no id may be gone or another schema's, no version another id's, no deletion undone.
func RunRegistry(ctx context.Context, opt Options) (*RegistryReport, error) {
	b, err := NewBroker(opt.Binary, opt.Dir)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if b.registry, err = freeAddr(); err != nil {
		return nil, err
	}
	if _, err := b.Start(); err != nil {
		return nil, err
	}
	c := newRegistryClient(b.registry)
	if err := c.setup(ctx); err != nil {
		return nil, errors.Join(err, b.Kill())
	}
	h, report := newRegistryHistory(), &RegistryReport{}
	work, stop := context.WithCancel(ctx)
	var clients sync.WaitGroup
	for i := range registryClients {
		clients.Go(func() { newRegistrant(b.registry, i, opt.Seed, h).run(work) })
	}
	err = killRegistry(ctx, b, opt, report, h)
	stop()
	clients.Wait()
	if err != nil {
		return nil, errors.Join(err, b.Kill())
	}
	return report, finishRegistry(ctx, b, report, h)
}

func killRegistry(ctx context.Context, b *Broker, opt Options, report *RegistryReport, h *registryHistory) error {
	moments := rand.New(rand.NewPCG(opt.Seed, 2))
	c := newRegistryClient(b.registry)
	for report.Kills < opt.Times {
		select {
		case <-time.After(lifeMin + time.Duration(moments.Int64N(int64(lifeMax-lifeMin)))):
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := b.Kill(); err != nil {
			return err
		}
		report.Kills++
		took, err := b.Start()
		if err != nil {
			return fmt.Errorf("after kill %d: %w", report.Kills, err)
		}
		report.Slowest = max(report.Slowest, took)
		if err := h.check(ctx, c, h.some(moments, checkedAfterStart)); err != nil {
			return fmt.Errorf("read back after kill %d: %w", report.Kills, err)
		}
		if report.Kills%10 == 0 {
			fmt.Fprintf(opt.Out, "%d kills, %s, slowest start %v\n", report.Kills, h, report.Slowest.Round(time.Millisecond))
		}
	}
	return nil
}

// finishRegistry reads everything back, ends the broker and has its journal replayed.
func finishRegistry(ctx context.Context, b *Broker, report *RegistryReport, h *registryHistory) error {
	c := newRegistryClient(b.registry)
	if err := h.check(ctx, c, h.all()); err != nil {
		return errors.Join(err, b.Kill())
	}
	if err := h.checkVersions(ctx, c); err != nil {
		return errors.Join(err, b.Kill())
	}
	if err := b.Stop(); err != nil {
		return err
	}
	if err := b.Check(ctx); err != nil {
		h.fault("%v", err)
	}
	report.Registered, report.Versions, report.Hidden, report.Checked, report.Faults = len(h.texts), len(h.versions), len(h.hidden), h.checked, h.faults
	return nil
}

// registrant registers schemas one after the other: new ones, ones that are there, and hides a version now and then.
type registrant struct {
	*registryClient
	name    int
	chance  *rand.Rand
	history *registryHistory
	made    int
}

func newRegistrant(addr string, name int, seed uint64, h *registryHistory) *registrant {
	return &registrant{registryClient: newRegistryClient(addr), name: name, chance: rand.New(rand.NewPCG(seed, uint64(100+name))), history: h}
}

func (r *registrant) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := r.step(ctx); err != nil {
			// The broker is down; what it did with the request is not known.
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
}

func (r *registrant) step(ctx context.Context) error {
	subject := fmt.Sprintf("s%d", r.chance.IntN(registrySubjects))
	if r.chance.IntN(20) == 0 {
		return r.hide(ctx)
	}
	n := r.made
	if again := r.chance.IntN(5) == 0 && n > 0; again {
		n = r.chance.IntN(n)
	} else {
		r.made++
	}
	text := fmt.Sprintf(`{"type":"record","name":"R%d_%d","fields":[{"name":"f","type":"long"}]}`, r.name, n)
	id, version, err := r.register(ctx, subject, text)
	if err != nil {
		return err
	}
	r.history.registered(subject, version, id, text)
	return nil
}

// hide deletes the newest version of a subject of this client's own.
func (r *registrant) hide(ctx context.Context) error {
	subject := fmt.Sprintf("own%d", r.name)
	text := fmt.Sprintf(`{"type":"record","name":"H%d_%d","fields":[]}`, r.name, r.made)
	r.made++
	id, version, err := r.register(ctx, subject, text)
	if err != nil {
		return err
	}
	r.history.registered(subject, version, id, text)
	if err := r.remove(ctx, subject, version); err != nil {
		return err
	}
	r.history.hid(subject, version)
	return nil
}
