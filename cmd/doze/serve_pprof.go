package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// servePprof answers with the process's profiles on an address of this machine; on none when it is empty. The bench asks
// for them. They show what the process does and has in memory, so nobody else may reach them.
func servePprof(address string) (io.Closer, error) {
	if address == "" {
		return io.NopCloser(nil), nil
	}
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, usageError{fmt.Errorf("--pprof is %q; give it a port of this machine alone, as 127.0.0.1:6060", address)}
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s for profiles: %w; give --pprof a free address", address, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10}
	go server.Serve(ln) //nolint:errcheck // it ends when it is closed
	return server, nil
}
