package doze

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"doze/journal"
	"doze/replay"
	"doze/segments"
)

// The control socket is how other commands of the same user reach a running broker: HTTP over a Unix socket in its data
// directory, mode 0600. It only tells; nothing that a broker does is ordered here, though asking for partitions opens their logs.
//
//	GET /state?table=NAME&format=json    rows of the state, as replay.Dump prints them; all tables without a name
//	GET /rows                            the state as rows of a snapshot, each behind its length (4 bytes, little endian);
//	                                     the header Doze-Seq says as of which entry
//	GET /partitions?at=SEQ               a JSON line for each partition that has a log; at: with its end as of that entry
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
	mux.HandleFunc("GET /rows", b.controlRows)
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
		if !slices.Contains(replay.Tables(), table) {
			http.Error(w, fmt.Sprintf("there is no table %q; there are %s", table, strings.Join(replay.Tables(), ", ")), http.StatusNotFound)
			return
		}
		tables = []string{table}
	}
	if err := replay.Dump(w, state, tables, r.FormValue("format") == "json"); err != nil {
		panic(http.ErrAbortHandler) // the caller has gone, or must see that this is not all
	}
}

func (b *Broker) controlRows(w http.ResponseWriter, _ *http.Request) {
	state, seq := b.store.View()
	w.Header().Set("Doze-Seq", strconv.FormatUint(seq, 10))
	out := bufio.NewWriter(w)
	err := state.Rows(func(row []byte) error {
		var length [4]byte
		binary.LittleEndian.PutUint32(length[:], uint32(len(row)))
		_, err1 := out.Write(length[:])
		_, err2 := out.Write(row)
		return errors.Join(err1, err2)
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the caller has gone, or must see that this is not all
	}
}

// PartitionInfo is what the control socket tells of a partition's log.
type PartitionInfo struct {
	Topic         string                 `json:"topic"`
	TopicID       string                 `json:"topicId"`
	Partition     int32                  `json:"partition"`
	LogStart      int64                  `json:"logStart"`
	HighWatermark int64                  `json:"highWatermark"`
	Bytes         int64                  `json:"bytes"`
	Segments      []segments.SegmentInfo `json:"segments,omitempty"`
	Producers     []segments.Producer    `json:"producers,omitempty"`
	EndAsOf       int64                  `json:"endAsOf"` // as segments.(*Partition).EndAsOf; the high watermark when not asked for
	EndUnknown    bool                   `json:"endUnknown,omitempty"`
	Error         string                 `json:"error,omitempty"`
}

func (b *Broker) controlPartitions(w http.ResponseWriter, r *http.Request) {
	asOf := uint64(math.MaxUint64)
	if at := r.FormValue("at"); at != "" {
		n, err := strconv.ParseUint(at, 10, 64)
		if err != nil {
			http.Error(w, "at is not the number of an entry", http.StatusBadRequest)
			return
		}
		asOf = n
	}
	state, _ := b.store.View()
	out := json.NewEncoder(w)
	for _, log := range b.handlers.Logs(state) {
		if err := out.Encode(describeLog(log.Topic.Name, log.Partition, asOf)); err != nil {
			return // the caller has gone
		}
	}
}

func describeLog(topic string, log *segments.Partition, asOf uint64) PartitionInfo {
	id := log.ID()
	info := PartitionInfo{Topic: topic, TopicID: journal.ID(id.Topic), Partition: id.Partition}
	offsets, err := log.Offsets()
	if err != nil {
		info.Error = err.Error()
		return info
	}
	info.LogStart, info.HighWatermark = offsets.LogStart, offsets.HighWatermark
	var known bool
	var errs [4]error
	info.Bytes, errs[0] = log.Size()
	info.Segments, errs[1] = log.Segments()
	info.Producers, errs[2] = log.Producers()
	info.EndAsOf, known, errs[3] = log.EndAsOf(asOf)
	info.EndUnknown = !known && asOf != math.MaxUint64
	if err := errors.Join(errs[:]...); err != nil {
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
