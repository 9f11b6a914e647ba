package handlers

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/configs"
	"doze/credentials"
	"doze/journal"
	"doze/projections"
	"doze/segments"
	"doze/wire"
)

// Broker is the Kafka broker behind the sockets. Its methods are the APIs; it keeps only soft state of its own (fetch
// sessions, parked requests, deadlines): what is true is in the store, what is stored is in the logs.
type Broker struct {
	store   *journal.Store[*projections.State]
	logs    *segments.Dir
	static  *configs.Broker
	profile *Profile
	clock   journal.Clock
	steady  journal.Clock // of what is kept in memory alone
	log     *slog.Logger
	// space tells the size of the data directory's file system, for DescribeLogDirs.
	space func() (total, usable int64)
	dir   string
	// nodeID is the id of the one broker of the cluster, nodeName the same as a config resource.
	nodeID   int32
	nodeName string
	// reconfigured is told the broker's own settings when they have changed.
	reconfigured func(*configs.Broker)
	known        atomic.Pointer[settings]
	// fetchMaxBytes is fetch.max.bytes, which only a start sets.
	fetchMaxBytes int32

	credentials *credentials.Store
	tokens      *tokenSecrets

	producerIDs producerIDs

	lifecycle sync.Mutex // of Start and Stop
	stopped   bool
	expiry    *time.Timer

	configuring sync.Mutex // held while a log is made or told its configs, so that the last told are the last made

	table    map[int16]served
	sessions *fetchSessions
	groups   *coordinator
	txns     *txnCoordinator
	loggers  *loggers
	// authorizer is nil when everybody may do everything.
	authorizer *authorizer
	cleaner    *logCleaner

	quotas    *clientQuotas
	telemetry *telemetry

	shares        *sharePartitions
	shareSessions *shareSessions
}

// Options is what a Broker stands on. All fields are required, unless they say otherwise.
type Options struct {
	Store   *journal.Store[*projections.State]
	Logs    *segments.Dir
	Static  *configs.Broker // broker properties of this process
	Profile *Profile        // the Kafka release it answers as
	Clock   journal.Clock
	Log     *slog.Logger
	// LogLevel is what Log's level follows; nil when an administrator cannot change it.
	LogLevel *slog.LevelVar
	NodeID   int32
	DataDir  string                       // as clients see it in DescribeLogDirs
	Space    func() (total, usable int64) // bytes of the data directory's file system
	// Telemetry is who wants what clients push about themselves; nil: nobody.
	Telemetry *Telemetry
	// Reconfigured is told the broker's settings after they were changed, one change after the other; may be nil.
	Reconfigured func(*configs.Broker)
	// Credentials are what lets users in.
	Credentials *credentials.Store
	// Super is a principal that may do everything, beside those of super.users: the console. Empty: nobody.
	Super string
}

// New gives a broker that is ready to serve; Start begins its timers.
func New(opt Options) *Broker {
	b := &Broker{
		store: opt.Store, logs: opt.Logs, profile: opt.Profile, clock: opt.Clock, steady: steadyOf(opt.Clock), log: opt.Log,
		space: opt.Space, dir: opt.DataDir, nodeID: opt.NodeID, nodeName: strconv.Itoa(int(opt.NodeID)), reconfigured: opt.Reconfigured,
		credentials: opt.Credentials, tokens: newTokenSecrets(),
	}
	b.SetStatic(opt.Static)
	b.sessions = newFetchSessions(int(b.static.Int("max.incremental.fetch.session.cache.slots")), b.steady)
	b.authorizer = newAuthorizer(b.static, b.log)
	if b.authorizer != nil && opt.Super != "" {
		b.authorizer.rules.SuperUsers[opt.Super] = true
	}
	b.groups = newCoordinator(b)
	b.txns = newTxnCoordinator(b)
	b.serveShares()
	b.loggers = newLoggers(b.nodeID, opt.LogLevel)
	b.cleaner = newLogCleaner(b)
	b.quotas = newClientQuotas(b.static, b.steady.NowMillis)
	b.telemetry = newTelemetry(opt.Telemetry, b.steady.NowMillis)
	b.table = b.serve()
	return b
}

// Start finishes transactions that a stop or a crash left half way, and begins what the broker does by itself: deadlines of
// groups and transactions, expiry of offsets and of silent producers, retention and compaction of logs. After Stop it does
// nothing.
func (b *Broker) Start() {
	b.txns.start()
	b.groups.start()
	b.lifecycle.Lock()
	defer b.lifecycle.Unlock()
	if b.stopped {
		return
	}
	b.cleaner.start()
	b.startTokens()
	every := time.Duration(b.static.Int("producer.id.expiration.check.interval.ms")) * time.Millisecond
	b.expiry = time.AfterFunc(every, func() { b.expireProducers(every) })
}

// expireProducers forgets silent producers, now and again after every.
func (b *Broker) expireProducers(every time.Duration) {
	b.logs.ExpireProducers()
	b.lifecycle.Lock()
	defer b.lifecycle.Unlock()
	if !b.stopped {
		b.expiry.Reset(every)
	}
}

// Stop ends what Start began and answers who waits in a group.
func (b *Broker) Stop() {
	b.shares.close(b.shareSessions.close())
	b.txns.stop()
	b.groups.stop()
	defer b.cleaner.stop() // after stopped is set: it cannot be started any more
	b.lifecycle.Lock()
	defer b.lifecycle.Unlock()
	b.stopped = true
	b.stopTokens()
	if b.expiry != nil {
		b.expiry.Stop()
	}
}

// SetStatic replaces the properties that the broker was started with, before Start: addresses are known late.
func (b *Broker) SetStatic(static *configs.Broker) {
	b.static, b.fetchMaxBytes = static, int32(static.Int("fetch.max.bytes"))
}

// Settings are the broker's own as they are now.
func (b *Broker) Settings() *configs.Broker {
	state, _ := b.view()
	return b.settings(state).Broker
}

// view is the last published state and the journal sequence that it is of.
func (b *Broker) view() (*projections.State, uint64) { return b.store.View() }

// update makes one entry of the journal on behalf of a request.
func (b *Broker) update(ctx context.Context, r *wire.Request, decide func(*tx)) error {
	return b.store.Update(ctx, causeOf(r), decide)
}

// tx is a decision in progress over the broker's state.
type tx = journal.Tx[*projections.State]

func causeOf(r *wire.Request) journal.Cause {
	return journal.Cause{
		API: r.Key, Conn: r.Conn.ID, Correlation: r.Correlation,
		ClientID: r.ClientID, Principal: r.Conn.Principal(),
	}
}

// partition is the log of a partition that the state shows; nil when it shows none.
func (b *Broker) partition(state *projections.State, topic *projections.Topic, number int32) *segments.Partition {
	if topic == nil || number < 0 || number >= topic.Partitions {
		return nil
	}
	id := segments.ID{Topic: topic.ID, Partition: number}
	if log := b.logs.Known(id); log != nil {
		return log
	}
	return b.openLog(id, state, topic)
}

// Log is the log of a topic's partition; nil when there is no such partition.
func (b *Broker) Log(topic [16]byte, number int32) *segments.Partition {
	state, _ := b.view()
	return b.partition(state, state.Topics.WithID(topic), number)
}

// respond gives the response that belongs to the request, at its version.
func respond[R kmsg.Response](r *wire.Request) R {
	return r.Body.ResponseKind().(R)
}

// Log is a partition that has a log, with its topic.
type Log struct {
	Topic     *projections.Topic
	Partition *segments.Partition
}

// Logs are the partitions that have anything on disk, in the order of topic names.
func (b *Broker) Logs(state *projections.State) []Log {
	onDisk := map[segments.ID]bool{}
	for _, id := range b.logs.List() {
		onDisk[id] = true
	}
	var logs []Log
	state.Topics.Each("", func(topic *projections.Topic) bool {
		for number := range topic.Partitions {
			if onDisk[segments.ID{Topic: topic.ID, Partition: number}] {
				logs = append(logs, Log{topic, b.partition(state, topic, number)})
			}
		}
		return true
	})
	return logs
}
