//go:build linux

package brokers

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func (b *Broker) propertiesPath() string { return filepath.Join(b.dir, "server.properties") }

// The session of a Kafka broker with its own controller, ms. It must survive being frozen; but a Kafka that was killed is
// not let in again before the session has ended, and gives up after a minute: one that is started again has Kafka's own.
const (
	frozenSessionMs = 3_600_000
	ownSessionMs    = 9_000
)

// writeProperties writes the properties of a single node that is broker and controller. What else differs from Kafka's
// defaults: replication factors of the internal topics (there is one node), no wait before a group's first rebalance
// (the bench measures work, not waiting), and deleted logs go at once (their space is wanted by the next row).
func (b *Broker) writeProperties(sessionMs int) error {
	listeners, protocols := "PLAINTEXT://"+b.Addr, "PLAINTEXT:PLAINTEXT"
	if b.TLSAddr != "" {
		listeners, protocols = listeners+",SSL://"+b.TLSAddr, protocols+",SSL:SSL"
	}
	properties := []string{
		"process.roles=broker,controller",
		"node.id=1",
		"controller.quorum.voters=1@" + b.secondAddr(),
		"listeners=" + listeners + ",CONTROLLER://" + b.secondAddr(),
		"advertised.listeners=" + listeners,
		"listener.security.protocol.map=" + protocols + ",CONTROLLER:PLAINTEXT",
		"ssl.keystore.type=PEM",
		"ssl.keystore.location=" + filepath.Join(b.dir, keyAndCertificate),
		"controller.listener.names=CONTROLLER",
		"inter.broker.listener.name=PLAINTEXT",
		"log.dirs=" + filepath.Join(b.dir, "data"),
		"offsets.topic.replication.factor=1",
		"transaction.state.log.replication.factor=1",
		"transaction.state.log.min.isr=1",
		"share.coordinator.state.topic.replication.factor=1",
		"share.coordinator.state.topic.min.isr=1",
		"log.segment.delete.delay.ms=1000",
		fmt.Sprintf("broker.session.timeout.ms=%d", sessionMs),
	}
	if !b.setup.GroupDelay {
		properties = append(properties, "group.initial.rebalance.delay.ms=0")
	}
	text := strings.Join(properties, "\n") + "\n"
	if err := os.WriteFile(b.propertiesPath(), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write Kafka's properties: %w", err)
	}
	return nil
}

// formatKafka formats Kafka's log directory, which Kafka wants done before the first start.
func (l *Launcher) formatKafka(ctx context.Context, b *Broker) error {
	if err := b.writeProperties(frozenSessionMs); err != nil {
		return err
	}
	id := make([]byte, 16)
	rand.Read(id)
	id[0] &= 0x7f // the text must not begin with a dash
	cmd := l.java("kafka.tools.StorageTool", "format", "-t", base64.RawURLEncoding.EncodeToString(id), "-c", b.propertiesPath())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("format Kafka's log directory: %w\n%s", err, out)
	}
	return ctx.Err()
}
