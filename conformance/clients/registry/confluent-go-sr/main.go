// Command confluent-go-sr walks the package schemaregistry of confluent-kafka-go against the schema registry beside the broker, which
// is at the port after the broker's: one story, told with each of the three kinds of schema. Records go through the broker with
// franz-go. (The package links librdkafka, for the types of its headers alone.)
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"strconv"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/rest"
	"github.com/twmb/franz-go/pkg/kgo"
)

func claim(what string, holds bool, shown string) {
	if holds {
		fmt.Println("PASS registry:", what)
		return
	}
	fmt.Println("FAIL registry:", what, shown)
}

// teller tells the story of one kind. An error that the story does not want ends it.
type teller struct {
	kind
	url, subject, part string
	broker             *kgo.Client
}

type ending struct{ err error }

func must[T any](v T, err error) T {
	if err != nil {
		panic(ending{err})
	}
	return v
}

func (t *teller) same(what string, got, want any) {
	claim(t.name+": "+what, reflect.DeepEqual(got, want), fmt.Sprintf("got %v, want %v", got, want))
}

// refused claims that an error is the registry's with that code.
func (t *teller) refused(what string, err error, code int) {
	var answer *rest.Error
	claim(t.name+": "+what, errors.As(err, &answer) && answer.Code == code, fmt.Sprintf("got %v, want %d", err, code))
}

// client has no cache of what another one did.
func (t *teller) client() schemaregistry.Client {
	return must(schemaregistry.NewClient(schemaregistry.NewConfig(t.url)))
}

func (t *teller) info(text string, references ...schemaregistry.Reference) schemaregistry.SchemaInfo {
	return schemaregistry.SchemaInfo{Schema: text, SchemaType: t.name, References: references}
}

// send is what the broker gave back of a value.
func (t *teller) send(ctx context.Context, how writing, message, value string) []byte {
	bytes := must(must(t.writer(t.client(), how)).Serialize(t.name, t.value(message, value)))
	if err := t.broker.ProduceSync(ctx, &kgo.Record{Topic: t.name, Value: bytes}).FirstErr(); err != nil {
		panic(ending{err})
	}
	for {
		fetched := t.broker.PollRecords(ctx, 1) // may come back without a record
		if err := fetched.Err(); err != nil {
			panic(ending{err})
		}
		if records := fetched.Records(); len(records) > 0 {
			return records[0].Value
		}
	}
}

// read gives a value as JSON has it.
func (t *teller) read(bytes []byte, message string, latest bool) (any, error) {
	reader := must(t.reader(t.client(), latest))
	into := t.value(message, "{}")
	if err := reader.DeserializeInto(t.name, bytes, into); err != nil {
		return nil, err
	}
	return decoded(must(t.text(into))), nil
}

func decoded(text []byte) (v any) {
	if err := json.Unmarshal(text, &v); err != nil {
		panic(ending{err})
	}
	return v
}

func idOf(record []byte) int {
	return int(record[1])<<24 | int(record[2])<<16 | int(record[3])<<8 | int(record[4])
}

// tell runs a part of the story.
func (t *teller) tell(name string, part func()) {
	defer func() {
		if r := recover(); r != nil {
			end, is := r.(ending)
			if !is {
				panic(r)
			}
			claim(t.name+": "+name+" works", false, end.err.Error())
		}
	}()
	part()
}

func walk(ctx context.Context, bootstrap string) error {
	host, port, err := net.SplitHostPort(bootstrap)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	url := "http://" + net.JoinHostPort(host, strconv.Itoa(n+1))
	for _, k := range kinds() {
		broker, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumeTopics(k.name), kgo.AllowAutoTopicCreation())
		if err != nil {
			return err
		}
		t := &teller{kind: k, url: url, subject: k.name + "-value", part: k.name + "-part", broker: broker}
		t.tell("a schema's life", func() { t.evolves(ctx) })
		t.tell("references", func() { t.refers(ctx) })
		t.tell("registering", func() { t.registers(ctx) })
		broker.Close()
	}
	return nil
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := walk(ctx, os.Getenv("BOOTSTRAP")); err != nil {
		claim("the walk ends", false, err.Error())
		os.Exit(1)
	}
}
