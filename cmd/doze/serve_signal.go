package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// signalEcho is how soon after the first signal another is taken for the same one: timeout and some shells signal a process
// and its group.
const signalEcho = time.Second

// untilSignal ends at the first SIGINT or SIGTERM. Another one, no echo of the first, ends the process at once, after forced.
func untilSignal(forced func()) (context.Context, context.CancelFunc) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-signals
		first := time.Now()
		cancel()
		for range signals {
			if time.Since(first) >= signalEcho {
				forced()
				os.Exit(exitError)
			}
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel() }
}
