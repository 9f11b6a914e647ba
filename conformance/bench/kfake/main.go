// Command kfake serves franz-go's kfake as a process, with its data on disk as kfake does it by itself: no fsync a batch.
// It is a module of its own so that kfake never reaches the product's go.mod; the bench builds and starts it.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9092", "`HOST:PORT` to listen on")
	dataDir := flag.String("data-dir", "", "`DIR` to keep the data in")
	flag.Parse()
	if err := serve(*listen, *dataDir); err != nil {
		fmt.Fprintln(os.Stderr, "kfake:", err)
		os.Exit(1)
	}
}

func serve(listen, dataDir string) error {
	_, portText, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("read listen address: %w", err)
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return fmt.Errorf("read listen port: %w", err)
	}
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.Ports(port),
		kfake.DataDir(dataDir),
	)
	if err != nil {
		return fmt.Errorf("start cluster: %w", err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	<-stop
	cluster.Close()
	return nil
}
