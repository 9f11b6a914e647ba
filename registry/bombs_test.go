//go:build unix

package registry

import (
	"encoding/json"
	"net/http"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Each is answered, quickly by the processor's time, and the registry goes on.
func TestBombs(t *testing.T) {
	bombs := corpus()
	if len(bombs) < 55 {
		t.Fatalf("%d bombs", len(bombs))
	}
	h := newHarness(t)
	h.opt.RequestTimeout = time.Hour // the processor's time is judged, however many share it
	for _, kind := range []string{"AVRO", "JSON", "PROTOBUF"} {
		first := map[string]string{"AVRO": `"int"`, "JSON": `{"type":"string"}`, "PROTOBUF": `message A {}`}[kind]
		if status, answer := h.do("POST", "/subjects/"+kind+"/versions", quoted(kind, first)); status != http.StatusOK {
			t.Fatal(answer)
		}
	}
	for name, b := range bombs {
		before := processorTime(t)
		status, answer := h.do("POST", "/subjects/"+b[0]+"/versions?normalize=true", quoted(b[0], b[1]))
		if took := processorTime(t) - before; took > bombLimit {
			t.Errorf("%s took %v", name, took)
		}
		if status != 200 && status != 409 && status != 422 && status != 413 && status != 400 || !json.Valid([]byte(answer)) {
			t.Errorf("%s: %d %.200s", name, status, answer)
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 128<<20 {
		t.Errorf("%d MiB stay in use", m.HeapAlloc>>20)
	}
}

func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
