package main

import (
	"fmt"
	"net"
	"net/http"
	"time"
)

// health is the HTTP server of /healthz; the zero value is none.
type health struct {
	ln     net.Listener
	server *http.Server
	url    string
}

// listenHealth takes the address of /healthz; none when it is empty. Nothing is answered before serve.
func listenHealth(address string) (health, error) {
	if address == "" {
		return health{}, nil
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return health{}, fmt.Errorf("listen on %s for /healthz: %w; give --health-addr a free address, such as 127.0.0.1:0", address, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10}
	return health{ln, server, "http://" + ln.Addr().String() + "/healthz"}, nil
}

// serve answers with 200 from now on.
func (h health) serve() {
	if h.server != nil {
		go h.server.Serve(h.ln) //nolint:errcheck // it ends when it is closed
	}
}

// Close ends the server, if there is one.
func (h health) Close() error {
	if h.server == nil {
		return nil
	}
	err := h.server.Close()
	h.ln.Close() // the server has closed it, unless it did not serve yet
	return err
}
