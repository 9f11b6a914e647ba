package handlers

import (
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"doze/configs"
)

// rootLogger is the one logger of doze: it has no class loggers as Kafka has.
const rootLogger = "root"

// logLevels are Kafka's, in the order in which it lists them.
var logLevels = []string{"DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN"}

// loggers are the levels of the resource BROKER_LOGGER. As in Kafka they are soft state: a restart forgets them.
type loggers struct {
	nodeID int32
	mu     sync.Mutex
	levels map[string]string
	// root is the level of doze's own log, nil when it cannot change.
	root *slog.LevelVar
}

func newLoggers(nodeID int32, root *slog.LevelVar) *loggers {
	level := "INFO"
	if root != nil {
		level = kafkaLevel(root.Level())
	}
	return &loggers{nodeID: nodeID, levels: map[string]string{rootLogger: level}, root: root}
}

// kafkaLevel is Kafka's name of a level.
func kafkaLevel(level slog.Level) string {
	switch {
	case level < slog.LevelInfo:
		return "DEBUG"
	case level < slog.LevelWarn:
		return "INFO"
	case level < slog.LevelError:
		return "WARN"
	}
	return "ERROR"
}

// slogLevel is the level of a name of Kafka's.
func slogLevel(name string) slog.Level {
	switch name {
	case "TRACE", "DEBUG":
		return slog.LevelDebug
	case "INFO":
		return slog.LevelInfo
	case "WARN":
		return slog.LevelWarn
	}
	return slog.LevelError
}

// entries describes the loggers.
func (l *loggers) entries() []configs.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []configs.Entry
	for _, name := range slices.Sorted(maps.Keys(l.levels)) {
		level := l.levels[name]
		all = append(all, configs.Entry{Name: name, Value: &level, Source: configs.DynamicBrokerLogger})
	}
	return all
}

// alter sets levels, all or none.
func (l *loggers) alter(resource alteredResource, validateOnly bool) *refusal {
	id, err := strconv.ParseInt(resource.name, 10, 32)
	switch {
	case err != nil:
		return refuse(invalidRequest, "Node id must be an integer, but it is: "+resource.name)
	case int32(id) != l.nodeID:
		return refuse(invalidRequest, "Unexpected node id. Expected "+strconv.Itoa(int(l.nodeID))+", but received "+strconv.Itoa(int(id)))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, op := range resource.ops {
		if no := l.check(op); no != nil {
			return no
		}
	}
	if validateOnly {
		return nil
	}
	for _, op := range resource.ops {
		l.levels[op.name] = *op.value
		if l.root != nil {
			l.root.Set(slogLevel(*op.value))
		}
	}
	return nil
}

func (l *loggers) check(op configOp) *refusal {
	switch op.kind {
	case opSet, opDelete:
	case opAppend, opSubtract:
		return refuse(invalidRequest, op.kind.String()+" operation is not allowed for the BROKER_LOGGER resource")
	default:
		return &refusal{code: unknownServerError} // Kafka trips over an operation that it does not know
	}
	if _, known := l.levels[op.name]; !known {
		return refuse(invalidConfig, "Logger "+op.name+" does not exist!")
	}
	if op.kind == opDelete {
		return refuse(invalidRequest, "Removing the log level of the root logger is not allowed")
	}
	if !slices.Contains(logLevels, *op.value) {
		return refuse(invalidConfig, "Cannot set the log level of "+op.name+" to "+*op.value+
			" as it is not a supported log level. Valid log levels are "+strings.Join(logLevels, ", "))
	}
	return nil
}
