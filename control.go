package doze

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"doze/journal"
	"doze/replay"
	"doze/segments"
)

// The control socket is how other commands of the same user reach a running broker: HTTP over a Unix socket in its data
// directory, mode 0600. It only tells; nothing that a broker does is ordered here.
//
//	GET /state?table=NAME&format=json    rows of the state, as replay.Dump prints them; all tables without a name
//	GET /partitions                      a JSON line for each partition that has a log
//	GET /hash                            {"seq": N, "hash": "..."} of the last published state
const ControlSocket = "control.sock"

// maxSocketPath is the longest path that every system takes for a Unix socket.
const maxSocketPath = 100

// openControl listens on the control socket. A socket that a killed broker left is replaced: the lock is ours.
func (b *Broker) openControl() error {
	path, err := b.socketPath()
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the old control socket: %w", err)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("listen on the control socket %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(fmt.Errorf("protect the control socket: %w", err), ln.Close())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /state", b.controlState)
	mux.HandleFunc("GET /partitions", b.controlPartitions)
	mux.HandleFunc("GET /hash", b.controlHash)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10}
	go server.Serve(ln) //nolint:errcheck // it ends when it is closed
	b.onClose(server.Close)
	return nil
}

// socketPath is the socket's place: in the data directory, or, when that path is longer than a socket's may be, in a
// temporary directory that a symbolic link in the data directory leads to.
func (b *Broker) socketPath() (string, error) {
	path := filepath.Join(b.fs.Path(), ControlSocket)
	if len(path) <= maxSocketPath {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "doze-control-")
	if err != nil {
		return "", fmt.Errorf("make a directory for the control socket: %w", err)
	}
	b.onClose(func() error { return os.RemoveAll(dir) })
	short := filepath.Join(dir, ControlSocket)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("remove the old control socket: %w", err)
	}
	if err := os.Symlink(short, path); err != nil {
		return "", fmt.Errorf("link the control socket: %w", err)
	}
	return short, nil
}

func (b *Broker) controlState(w http.ResponseWriter, r *http.Request) {
	state, seq := b.store.View()
	w.Header().Set("Doze-Seq", fmt.Sprint(seq))
	var tables []string
	if table := r.FormValue("table"); table != "" {
		tables = []string{table}
	}
	if err := replay.Dump(w, state, tables, r.FormValue("format") == "json"); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
	}
}

// PartitionInfo is what the control socket tells of a partition's log.
type PartitionInfo struct {
	Topic         string              `json:"topic"`
	TopicID       string              `json:"topicId"`
	Partition     int32               `json:"partition"`
	LogStart      int64               `json:"logStart"`
	HighWatermark int64               `json:"highWatermark"`
	Bytes         int64               `json:"bytes"`
	Producers     []segments.Producer `json:"producers,omitempty"`
	Error         string              `json:"error,omitempty"`
}

func (b *Broker) controlPartitions(w http.ResponseWriter, _ *http.Request) {
	state, _ := b.store.View()
	out := json.NewEncoder(w)
	for _, log := range b.handlers.Logs(state) {
		if err := out.Encode(describeLog(log.Topic.Name, log.Partition)); err != nil {
			return // the caller has gone
		}
	}
}

func describeLog(topic string, log *segments.Partition) PartitionInfo {
	id := log.ID()
	info := PartitionInfo{Topic: topic, TopicID: journal.ID(id.Topic), Partition: id.Partition}
	offsets, err1 := log.Offsets()
	size, err2 := log.Size()
	producers, err3 := log.Producers()
	info.LogStart, info.HighWatermark, info.Bytes, info.Producers = offsets.LogStart, offsets.HighWatermark, size, producers
	if err := errors.Join(err1, err2, err3); err != nil {
		info.Error = err.Error()
	}
	return info
}

func (b *Broker) controlHash(w http.ResponseWriter, _ *http.Request) {
	state, seq := b.store.View()
	hash, err := journal.HashOf(state.Rows)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	json.NewEncoder(w).Encode(map[string]any{"seq": seq, "hash": hex.EncodeToString(hash[:])}) //nolint:errcheck // the caller may be gone
}
