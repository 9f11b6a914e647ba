package kafka

import (
	"context"
	"errors"
)

// Broker is a node as a scenario sees it: it restarts and, when closed, leaves nothing.
type Broker struct{ Node *Node }

// Addr is where clients connect.
func (b Broker) Addr() string { return b.Node.Addr() }

// Restart stops the node cleanly and starts it again.
func (b Broker) Restart() error {
	return errors.Join(b.Node.Stop(), b.Node.Again(context.Background()))
}

// Kill ends the node with SIGKILL and starts it again.
func (b Broker) Kill() error {
	return errors.Join(b.Node.Kill(), b.Node.Again(context.Background()))
}

// Close stops the node and deletes its data.
func (b Broker) Close() error {
	return errors.Join(b.Node.Kill(), b.Node.Wipe())
}
