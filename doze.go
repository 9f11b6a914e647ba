package doze

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"doze/certs"
	"doze/clientmetrics"
	"doze/configs"
	"doze/credentials"
	"doze/disk"
	"doze/handlers"
	"doze/journal"
	"doze/projections"
	"doze/sasl"
	"doze/segments"
	"doze/timeline"
	"doze/traffic"
	"doze/wire"
)

// Broker is a broker that has its data directory and its listeners. It serves while Run runs.
type Broker struct {
	opt         Options
	static      *configs.Broker // the properties that it was started with
	fs          *disk.OS
	store       *journal.Store[*projections.State]
	recovery    journal.Recovery
	lostEntries bool   // a power failure took entries of the journal that records were written after
	ahead       uint64 // the last of those, of all that were ever lost
	started     uint64 // the last entry that is on disk since the start

	logs      *segments.Dir
	handlers  *handlers.Broker
	secrets   *credentials.Store
	bearers   []*sasl.OAuthBearer // of the listeners that take tokens
	server    *wire.Server
	bound     []net.Listener // of opt.Listeners
	listeners []*wire.Listener

	identities []*certs.Identity // of opt.Listeners; nil where there is no TLS

	registryListener net.Listener // nil: no schema registry
	registryTLS      *tls.Config  // nil: plain HTTP
	noRegistry       string       // its address, when another program has it

	// What a console shows of the inside; nil: there is none.
	traffic       *traffic.Ring
	timeline      *timeline.Timeline
	clientMetrics *clientmetrics.Sink

	consoleListener net.Listener  // nil: no console
	noConsole       string        // its address, when another program has it
	consolePipe     *pipeListener // the console's way to the broker

	once    sync.Once
	closed  error
	closers []func() error // what was opened, in order
}

// New validates the options, binds the listeners, takes the data directory and brings the state up: when it returns,
// clients may connect; they are served once Run runs. After an error nothing is left open.
func New(opt Options) (*Broker, error) {
	opt, err := opt.WithDefaults()
	if err != nil {
		return nil, err
	}
	b := &Broker{opt: opt}
	for _, step := range []func() error{b.openTLS, b.bind, b.bindRegistry, b.bindConsole, b.openDir, b.openJournal, b.openLogs, b.openInside, b.openCredentials, b.openHandlers, b.openControl, b.listen, b.serveRegistry, b.serveConsole} {
		if err := step(); err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	return b, nil
}

// Run serves until ctx ends or Close is called, and returns after a clean stop.
func (b *Broker) Run(ctx context.Context) error {
	b.handlers.Start()
	err := b.server.Serve(ctx)
	return errors.Join(err, b.Close())
}

// stopLimit is how long requests in hand may take to finish at a stop.
const stopLimit = 5 * time.Second

// Close stops serving, finishes requests in hand, syncs and closes the journal and the logs, and lets go of the data
// directory. It may be called at any time, and again.
func (b *Broker) Close() error {
	b.once.Do(func() {
		var errs []error
		for i := len(b.closers) - 1; i >= 0; i-- {
			errs = append(errs, b.closers[i]())
		}
		b.closed = errors.Join(errs...)
	})
	return b.closed
}

// onClose adds what Close does; the last added comes first.
func (b *Broker) onClose(f func() error) { b.closers = append(b.closers, f) }

// Addr is where clients reach the first listener: HOST:PORT, or unix:PATH.
func (b *Broker) Addr() string { return b.Ready().Kafka[0] }

// Ready says where the broker is reached, as the ready line of the command does.
func (b *Broker) Ready() Ready {
	state, _ := b.store.View()
	ready := Ready{DataDir: b.fs.Path(), ClusterID: state.ClusterID, Registry: b.registryURL(), NoRegistry: b.noRegistry, Console: b.consoleURL(), NoConsole: b.noConsole}
	for _, l := range b.listeners {
		ready.Kafka = append(ready.Kafka, reachable(l))
	}
	return ready
}

// reachable is the address at which a client of this machine reaches a listener.
func reachable(l *wire.Listener) string {
	if l.Addr().Network() == "unix" {
		return unixPrefix + l.Addr().String()
	}
	host, port := l.Advertised()
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// Recovered is what the start found and mended, a sentence each; empty after a clean stop.
func (b *Broker) Recovered() string { return b.recovery.String() }

// openDir makes the data directory, or a temporary one, and takes its lock.
func (b *Broker) openDir() error {
	if b.opt.Ephemeral {
		if err := b.makeEphemeral(); err != nil {
			return err
		}
	}
	if err := refuseForeign(b.opt.DataDir); err != nil {
		return err
	}
	fs, err := disk.OpenOS(b.opt.DataDir)
	if err != nil {
		return fmt.Errorf("%w; give a data directory that you may write to", err)
	}
	b.fs = fs
	b.onClose(fs.Close)
	b.static = configs.NewBroker(b.opt.StaticProperties(nil, nil), nil, nil)
	lock, err := fs.Lock(lockName)
	if err != nil {
		return b.lockRefused(err)
	}
	b.onClose(lock.Close)
	return b.markEphemeral()
}

// Names in a data directory.
const (
	lockName    = "lock"
	journalDir  = "journal"
	segmentsDir = "segments"

	credentialsDir = "credentials"
)

func (b *Broker) lockRefused(err error) error {
	var held *disk.LockedError
	if errors.As(err, &held) {
		return fmt.Errorf("data directory %s is in use by the broker with pid %d; stop it, or give this one another --data-dir or --name", b.fs.Path(), held.PID)
	}
	return fmt.Errorf("take data directory %s: %w; make it one that you may write to, or give another", b.fs.Path(), err)
}

func (b *Broker) openJournal() error {
	_, err := b.fs.Stat(segmentsDir)
	hasSegments := err == nil
	reach, ahead, err := reachOf(b.fs)
	if err != nil {
		return inDir(b.fs, err)
	}
	store, recovery, err := journal.Open(b.fs, journal.Options{
		Dir: journalDir, Clock: systemClock{}, IDs: randomIDs{}, SyncAlways: b.opt.SyncAlways,
		Retention: max(b.opt.JournalRetention, 0), MustExist: hasSegments, Reach: reach,
		Report: func(err error) { b.opt.Logger.Error("the control journal", "error", err) },
	}, projections.New)
	if err != nil {
		return inDir(b.fs, err)
	}
	b.store, b.recovery = store, recovery
	b.onClose(b.closeJournal)
	if state, _ := store.View(); !hasSegments {
		if err := missingSegments(b.fs, state.Topics.Len()); err != nil {
			return inDir(b.fs, err)
		}
	}
	b.started, b.lostEntries, b.ahead = recovery.LastSeq, ahead > recovery.LastSeq, reach.Ahead
	if b.lostEntries {
		b.ahead = max(b.ahead, ahead)
	}
	return b.noteStart()
}

// openLogs opens the directory of partitions and sets aside those that the journal does not know.
func (b *Broker) openLogs() error {
	kept, unsynced := logFiles(openFilesLimit())
	logs, err := segments.OpenDir(b.fs, segmentsDir, segments.Options{
		Now: systemClock{}.NowMillis, ProducerExpiryMs: b.static.Int("producer.id.expiration.ms"), BootID: BootID(),
		Report: b.partitionReport, MaxOpenFiles: kept, MaxUnsyncedFiles: unsynced,
		Unfinished: func(p *segments.Partition, open []segments.OpenTxn) { b.handlers.Unfinished(p, open) },
	})
	if err != nil {
		return err
	}
	b.logs = logs
	b.onClose(b.closeLogs)
	b.noteStarted()
	state, _ := b.store.View()
	for _, id := range logs.List() {
		topic := state.Topics.WithID(id.Topic)
		if topic != nil && id.Partition < topic.Partitions {
			continue
		}
		aside, err := logs.Quarantine(id)
		if err != nil {
			return err
		}
		if aside == "" {
			continue // of a deleted topic, whose directory is gone already
		}
		b.opt.Logger.Warn("a partition on disk belongs to no topic: set aside, not deleted", "directory", aside)
	}
	return nil
}

func (b *Broker) openHandlers() error {
	profile, err := handlers.NewProfile(b.opt.KafkaProfile())
	if err != nil {
		return err
	}
	b.handlers = handlers.New(handlers.Options{
		Store: b.store, Logs: b.logs, Profile: profile, Clock: systemClock{}, Log: b.opt.Logger, LogLevel: b.opt.LogLevel, NodeID: b.opt.NodeID,
		Static: b.static, DataDir: b.fs.Path(), Space: b.space, Telemetry: b.opt.Telemetry, Reconfigured: b.reconfigure,
		Credentials: b.secrets, Super: consolePrincipal,
	})
	return nil
}

func (b *Broker) space() (total, usable int64) {
	space, err := b.fs.Space()
	if err != nil {
		return -1, -1
	}
	return int64(space.Total), int64(space.Free)
}

func (b *Broker) listen() error {
	broker := b.handlers.Settings()
	b.server = wire.NewServer(wire.Options{
		MaxFrame: int32(broker.Int("socket.request.max.bytes")), MaxIdle: time.Duration(broker.Int("connections.max.idle.ms")) * time.Millisecond,
		Observer: observer(b.opt.Logger, b.traffic), Admit: b.handlers.Admit,
	}, b.handlers)
	b.reconfigure(broker)
	b.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		err := b.server.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil // what was still in hand was cut off, as at any stop of a broker
		}
		return err
	})
	for i := range b.opt.Listeners {
		if err := b.bindOne(i); err != nil {
			return err
		}
		options, err := b.wireOptions(i)
		if err != nil {
			return err
		}
		listener, err := b.server.ListenOn(b.bound[i], options)
		if err != nil {
			return err
		}
		b.listeners = append(b.listeners, listener)
	}
	if err := b.listenConsolePipe(); err != nil {
		return err
	}
	// Before the sockets close: who waits in a group is told, and nothing is decided by a timer while requests finish.
	b.onClose(func() error { b.handlers.Stop(); return nil })
	b.describeListeners()
	return nil
}

// describeListeners makes the addresses that were bound the broker's properties: a port 0 is a number now.
func (b *Broker) describeListeners() {
	var listening, advertised []string
	for _, l := range b.listeners {
		listening = append(listening, l.Addr().String())
		advertised = append(advertised, reachable(l))
	}
	b.static = configs.NewBroker(b.opt.StaticProperties(listening, advertised), nil, nil)
	b.handlers.SetStatic(b.static)
}

func (b *Broker) partitionReport(r segments.Report) {
	if r.Failure != nil {
		b.opt.Logger.Error("the storage of a partition failed", "at", r.Cause.String(), "partition", r.Partition.String(), "error", r.Failure)
		return
	}
	if r.Damage != nil {
		b.opt.Logger.Error("a partition is damaged and answers KAFKA_STORAGE_ERROR; see doze repair", "partition", r.Partition.String(), "error", r.Damage)
		return
	}
	b.opt.Logger.Warn("cut the unfinished write of a crash off a partition", "partition", r.Partition.String(), "file", r.File,
		"position", r.Position, "bytes", r.Bytes, "kept", r.Kept)
}
