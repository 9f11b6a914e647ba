package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/twmb/franz-go/pkg/kgo"

	"doze/console"
	"doze/fixtures"
)

// produceCmd writes records that it reads from standard input.
type produceCmd struct {
	clientFlags
	Topic        string   `arg:"" help:"Name of the topic."`
	Format       string   `short:"f" help:"What is read: lines (a value a line), json (an object a line), whole (all of it is one value), or a layout such as '%k %v\\n'. Default: lines." default:"lines" placeholder:"FORMAT"`
	KeySeparator string   `short:"K" help:"With lines: what stands between key and value." placeholder:"TEXT"`
	Null         *string  `help:"With lines: a value like this is null." placeholder:"TEXT"`
	Key          *string  `short:"k" help:"Key of every record that has none." placeholder:"TEXT"`
	Header       []string `short:"H" help:"Header of every record. May be repeated." placeholder:"NAME=VALUE" sep:"none"`
	Partition    *int32   `short:"p" help:"Partition of every record that names none. Default: by the key, else in turn." placeholder:"N"`
	Acks         string   `help:"Who confirms: all, 1 or 0. Default: all." enum:"all,1,0" default:"all"`
	Compression  string   `short:"z" help:"Codec: none, gzip, snappy, lz4 or zstd. Default: none." enum:"none,gzip,snappy,lz4,zstd" default:"none"`
	JSON         bool     `help:"Print a JSON object a line for each record: where it went." name:"json"`
}

// Help is shown below the flags.
func (*produceCmd) Help() string {
	return `A layout reads %k key, %v value, %t topic, %p partition, %d time (ms), %h{...} headers; %V{3}%v a value of 3 bytes, %v{json}
a JSON value, %v{hex} and %v{base64} bytes. The topic is created when the broker does that.

Examples:
  echo hello | doze produce orders
  doze produce orders -K : < pairs.txt
  doze produce orders -f json < records.jsonl
  doze produce images -k logo -f whole < logo.png`
}

// Bounds of what is read and sent; what a broker takes is less (message.max.bytes), and said by it.
const (
	lineMax  = 64 << 20
	batchMax = 96 << 20
)

// Run writes records to the end of the input.
func (c *produceCmd) Run(p *process) error { return c.run(p, os.Stdin) }

func (c *produceCmd) run(p *process, in io.Reader) error {
	headers, err := c.headers()
	if err != nil {
		return usageError{err}
	}
	next, err := c.reader(in)
	if err != nil {
		return usageError{err}
	}
	at, err := c.find(p)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := at.client(ctx, c.clientOptions()...)
	if err != nil {
		return err
	}
	defer client.Close()
	w := &writing{out: bufio.NewWriter(p.stdout), told: c.JSON}
	for n := 1; ; n++ {
		r, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(fmt.Errorf("record %d: %w", n, err), w.finish(ctx, client))
		}
		c.complete(r, headers)
		client.Produce(ctx, r, w.done)
		if w.failed() {
			break
		}
	}
	return w.finish(ctx, client)
}

func (c *produceCmd) headers() ([]kgo.RecordHeader, error) {
	var all []kgo.RecordHeader
	for _, s := range c.Header {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("--header %s: write it as NAME=VALUE", s)
		}
		all = append(all, kgo.RecordHeader{Key: name, Value: []byte(value)})
	}
	return all, nil
}

func (c *produceCmd) clientOptions() []kgo.Opt {
	acks := map[string]kgo.Acks{"all": kgo.AllISRAcks(), "1": kgo.LeaderAck(), "0": kgo.NoAck()}[c.Acks]
	codec := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}[c.Compression]
	options := []kgo.Opt{
		kgo.AllowAutoTopicCreation(), kgo.RequiredAcks(acks), kgo.ProducerBatchCompression(codec), kgo.ProducerBatchMaxBytes(batchMax),
		kgo.RecordPartitioner(console.NamedOrKeyed()), kgo.RecordDeliveryTimeout(commandLimit),
	}
	if c.Acks != "all" {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	return options
}

// complete fills in what the flags say.
func (c *produceCmd) complete(r *kgo.Record, headers []kgo.RecordHeader) {
	r.Topic = c.Topic
	if c.Key != nil && r.Key == nil {
		r.Key = []byte(*c.Key)
	}
	if c.Partition != nil && r.Partition < 0 {
		r.Partition = *c.Partition
	}
	r.Headers = append(r.Headers, headers...)
}

// reader gives one record after another, then io.EOF.
//
//fuzz:not-a-parser it chooses one; parseRecordJSON and kgo's look inside
func (c *produceCmd) reader(in io.Reader) (func() (*kgo.Record, error), error) {
	if c.Format != "lines" && (c.KeySeparator != "" || c.Null != nil) {
		return nil, errors.New("--key-separator and --null are for --format lines; leave them out")
	}
	switch c.Format {
	case "lines":
		return eachLine(in, c.fromLine), nil
	case "json":
		return eachLine(in, parseRecordJSON), nil
	case "whole":
		return wholeInput(in), nil
	}
	if !strings.Contains(c.Format, "%") {
		return nil, fmt.Errorf("--format %q: write lines, json, whole, or a layout such as '%%k %%v\\n'", c.Format)
	}
	reader, err := kgo.NewRecordReader(in, c.Format)
	if err != nil {
		return nil, fmt.Errorf("--format: %w; see doze produce --help", err)
	}
	layoutHasPartition := strings.Contains(c.Format, "%p")
	return func() (*kgo.Record, error) {
		r, err := reader.ReadRecord()
		if err == nil && !layoutHasPartition {
			r.Partition = -1
		}
		return r, err
	}, nil
}

func (c *produceCmd) fromLine(line []byte) (*kgo.Record, error) {
	r := &kgo.Record{Partition: -1, Value: line}
	if c.KeySeparator != "" {
		key, value, found := bytes.Cut(line, []byte(c.KeySeparator))
		if !found {
			return nil, fmt.Errorf("has no %q between key and value; correct the line, or leave --key-separator out", c.KeySeparator)
		}
		r.Key, r.Value = key, value
	}
	if c.Null != nil && string(r.Value) == *c.Null {
		r.Value = nil
	}
	return r, nil
}

// eachLine makes a record of every line.
func eachLine(in io.Reader, read func([]byte) (*kgo.Record, error)) func() (*kgo.Record, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, lineMax)
	return func() (*kgo.Record, error) {
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				return nil, fmt.Errorf("read a line: %w; a line has at most %d bytes, use --format whole", err, lineMax)
			}
			return nil, io.EOF
		}
		return read(append([]byte{}, lines.Bytes()...))
	}
}

// wholeInput makes one record of all there is.
func wholeInput(in io.Reader) func() (*kgo.Record, error) {
	read := false
	return func() (*kgo.Record, error) {
		if read {
			return nil, io.EOF
		}
		read = true
		value, err := io.ReadAll(io.LimitReader(in, lineMax+1))
		if err == nil && len(value) > lineMax {
			err = fmt.Errorf("the input has more than %d bytes; a record cannot", lineMax)
		}
		return &kgo.Record{Partition: -1, Value: value}, err
	}
}

// writing is what became of the records.
type writing struct {
	mu    sync.Mutex
	out   *bufio.Writer
	told  bool
	first error
}

func (w *writing) done(r *kgo.Record, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil && w.first == nil:
		w.first = fmt.Errorf("write to %s: %w", r.Topic, fixtures.RecordError(r, err))
	case err == nil && w.told:
		_ = json.NewEncoder(w.out).Encode(struct { // the flush tells the error
			Topic     string `json:"topic"`
			Partition int32  `json:"partition"`
			Offset    int64  `json:"offset"`
		}{r.Topic, r.Partition, r.Offset})
	}
}

func (w *writing) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first != nil
}

func (w *writing) finish(ctx context.Context, client *kgo.Client) error {
	err := client.Flush(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.first, err, w.out.Flush())
}
