// Command franz-go-sr walks github.com/twmb/franz-go/pkg/sr against the schema registry beside the broker, which is at the port
// after the broker's.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"
)

func claim(what string, holds bool, err error) {
	word := "PASS"
	if !holds || err != nil {
		word = "FAIL"
	}
	fmt.Println(word, "registry:", what)
	if err != nil {
		fmt.Println(err)
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := walk(ctx, os.Getenv("BOOTSTRAP")); err != nil {
		claim("the walk ends", false, err)
		os.Exit(1)
	}
}

const (
	first  = `{"type":"record","name":"O","fields":[{"name":"a","type":"int"}]}`
	second = `{"type":"record","name":"O","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":1}]}`
	wrong  = `{"type":"record","name":"O","fields":[{"name":"c","type":"int"}]}`
)

func walk(ctx context.Context, bootstrap string) error {
	host, port, err := net.SplitHostPort(bootstrap)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	c, err := sr.NewClient(sr.URLs("http://" + net.JoinHostPort(host, strconv.Itoa(n+1))))
	if err != nil {
		return err
	}
	made, err := c.CreateSchema(ctx, "orders-value", sr.Schema{Schema: first})
	claim("a schema is created", made.Version == 1 && made.ID > 0, err)
	next, err := c.CreateSchema(ctx, "orders-value", sr.Schema{Schema: second})
	claim("a schema evolves", next.Version == 2 && next.ID != made.ID, err)
	_, err = c.CreateSchema(ctx, "orders-value", sr.Schema{Schema: wrong})
	var refused *sr.ResponseError
	claim("an incompatible schema is refused with 409", errors.As(err, &refused) && refused.StatusCode == 409, nil)
	found, err := c.LookupSchema(ctx, "orders-value", sr.Schema{Schema: first})
	claim("a schema is looked up", found.ID == made.ID && found.Version == 1, err)
	fits, err := c.CheckCompatibility(sr.WithParams(ctx, sr.Verbose), "orders-value", 2, sr.Schema{Schema: wrong})
	claim("compatibility is checked with messages", !fits.Is && len(fits.Messages) > 0, err)
	subjects, err := c.Subjects(ctx)
	claim("subjects are listed", slices.Contains(subjects, "orders-value"), err)
	if err := values(ctx, c, bootstrap, made.ID); err != nil {
		return err
	}
	return administer(ctx, c)
}

// values go through the broker with the prefix of the registry.
func values(ctx context.Context, c *sr.Client, bootstrap string, id int) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumeTopics("orders"), kgo.AllowAutoTopicCreation())
	if err != nil {
		return err
	}
	defer client.Close()
	var header sr.ConfluentHeader
	value, err := header.AppendEncode(nil, id, nil)
	if err != nil {
		return err
	}
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: append(value, 14)}).FirstErr(); err != nil {
		return err
	}
	fetched := client.PollRecords(ctx, 1)
	if err := fetched.Err(); err != nil {
		return err
	}
	got, rest, err := header.DecodeID(fetched.Records()[0].Value)
	claim("a value comes back with its schema's id", got == id && len(rest) == 1, err)
	schema, err := c.SchemaByID(ctx, got)
	claim("the id leads to the schema", schema.Schema == first, err)
	return nil
}

func administer(ctx context.Context, c *sr.Client) error {
	for _, r := range c.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFull}, "orders-value") {
		claim("a level is set", r.Level == sr.CompatFull, r.Err)
	}
	for _, r := range c.Mode(ctx) {
		claim("the mode is read", r.Mode == sr.ModeReadWrite, r.Err)
	}
	made, err := c.CreateSchema(sr.InContext(ctx, ".lab"), "orders-value", sr.Schema{Schema: second})
	claim("a context counts its own ids", made.ID == 1 && made.Version == 1, err)
	deleted, err := c.DeleteSubject(ctx, "orders-value", sr.SoftDelete)
	claim("a subject is hidden", slices.Equal(deleted, []int{1, 2}), err)
	_, err = c.DeleteSubject(ctx, "orders-value", sr.HardDelete)
	claim("and deleted", true, err)
	_, err = c.SchemaByVersion(ctx, "unknown", -1)
	var missing *sr.ResponseError
	claim("an unknown subject is 40401", errors.As(err, &missing) && missing.ErrorCode == 40401, nil)
	return nil
}
