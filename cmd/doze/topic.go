package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"doze/fixtures"
)

// topicCmd has the commands that look at topics and change them.
type topicCmd struct {
	List       topicListCmd       `cmd:"" help:"List topics."`
	Create     topicCreateCmd     `cmd:"" help:"Create topics."`
	Describe   topicDescribeCmd   `cmd:"" help:"Show a topic: its partitions, offsets and changed configs."`
	Delete     topicDeleteCmd     `cmd:"" help:"Delete topics with their records."`
	Config     topicConfigCmd     `cmd:"" help:"Show, set or reset a topic's configs."`
	Partitions topicPartitionsCmd `cmd:"" help:"Give a topic more partitions."`
}

// commandLimit is how long an administrative command may take.
const commandLimit = 60 * time.Second

// admin runs f with a client for administration.
func (c clientFlags) admin(p *process, f func(ctx context.Context, admin *administrator) error) error {
	at, err := c.find(p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	client, err := at.client(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	return f(ctx, newAdministrator(client))
}

type topicListCmd struct {
	clientFlags
	Internal bool `help:"Show internal topics too."`
	JSON     bool `help:"Print a JSON array." name:"json"`
}

func (c *topicListCmd) Run(p *process) error {
	return c.admin(p, func(ctx context.Context, admin *administrator) error {
		list := admin.ListTopics
		if c.Internal {
			list = admin.ListTopicsWithInternal
		}
		topics, err := list(ctx)
		if err != nil {
			return fmt.Errorf("list topics: %w", err)
		}
		var rows [][]field
		for _, t := range topics.Sorted() {
			rows = append(rows, []field{{Name: "topic", Value: t.Topic}, {Name: "partitions", Value: int64(len(t.Partitions))}})
		}
		return printList(p, c.JSON, rows, "no topics; doze topic create NAME makes one")
	})
}

type topicCreateCmd struct {
	clientFlags
	Names       []string `arg:"" name:"topic" help:"Names of topics, or NAME:PARTITIONS."`
	Config      []string `help:"Config of the topics. May be repeated." placeholder:"NAME=VALUE" sep:"none"`
	IfNotExists bool     `help:"A topic that is there is no error."`
}

// Help is shown below the flags.
func (*topicCreateCmd) Help() string {
	return `Example: doze topic create orders:3 payments --config cleanup.policy=compact`
}

func (c *topicCreateCmd) Run(p *process) error {
	configs, err := pairs("--config", c.Config)
	if err != nil {
		return usageError{err}
	}
	var topics []fixtures.Topic
	for _, name := range c.Names {
		t, err := fixtures.ParseTopic(name)
		if err != nil {
			return usageError{err}
		}
		topics = append(topics, t)
	}
	return c.admin(p, func(ctx context.Context, admin *administrator) error {
		var errs []error
		for _, t := range topics {
			partitions := t.Partitions
			if partitions == 0 {
				partitions = -1
			}
			made, err := admin.CreateTopic(ctx, partitions, -1, configs, t.Name)
			if c.IfNotExists && errors.Is(err, kerr.TopicAlreadyExists) {
				continue
			}
			err = refused("create topic", t.Name, err, made.ErrMessage)
			if errors.Is(err, kerr.TopicAlreadyExists) {
				err = fmt.Errorf("%w; --if-not-exists leaves it as it is", err)
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}

// refused is a broker's error about a topic with what it said about it; nil for none.
func refused(what, topic string, err error, message string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return noTopic(topic, err)
	}
	return fmt.Errorf("%s %s: %w", what, topic, fixtures.BrokerError(err, message))
}

// pairs reads NAME=VALUE texts.
func pairs(flag string, texts []string) (map[string]*string, error) {
	all := map[string]*string{}
	for _, s := range texts {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s %s: write it as NAME=VALUE", flag, s)
		}
		all[name] = &value
	}
	return all, nil
}

type topicDeleteCmd struct {
	clientFlags
	Names []string `arg:"" name:"topic" help:"Names of topics."`
}

func (c *topicDeleteCmd) Run(p *process) error {
	return c.admin(p, func(ctx context.Context, admin *administrator) error {
		var errs []error
		for _, name := range c.Names {
			gone, err := admin.DeleteTopic(ctx, name)
			errs = append(errs, refused("delete topic", name, err, gone.ErrMessage))
		}
		return errors.Join(errs...)
	})
}

type topicPartitionsCmd struct {
	clientFlags
	Name string `arg:"" name:"topic" help:"Name of the topic."`
	N    int    `arg:"" name:"n" help:"How many it is to have."`
}

func (c *topicPartitionsCmd) Run(p *process) error {
	return c.admin(p, func(ctx context.Context, admin *administrator) error {
		made, err := admin.UpdatePartitions(ctx, c.N, c.Name)
		if err == nil {
			one := made[c.Name]
			return refused("add partitions to", c.Name, one.Err, one.ErrMessage)
		}
		return fmt.Errorf("add partitions to %s: %w", c.Name, err)
	})
}

type topicDescribeCmd struct {
	clientFlags
	Name string `arg:"" name:"topic" help:"Name of the topic."`
	JSON bool   `help:"Print a JSON object." name:"json"`
}

func (c *topicDescribeCmd) Run(p *process) error {
	return c.admin(p, func(ctx context.Context, admin *administrator) error {
		topics, err := admin.ListTopicsWithInternal(ctx, c.Name)
		if err != nil {
			return fmt.Errorf("describe topic %s: %w", c.Name, err)
		}
		t := topics[c.Name]
		if t.Err != nil {
			return noTopic(c.Name, t.Err)
		}
		rows, err := topicPartitionRows(ctx, admin, t)
		if err != nil {
			return err
		}
		configs, err := configRows(ctx, admin, c.Name, false)
		if err != nil {
			return err
		}
		return printReport(p.stdout, c.JSON, &report{
			about: []field{{Name: "topic", Value: t.Topic}, {Name: "id", Value: base64.RawURLEncoding.EncodeToString(t.ID[:])}, {Name: "internal", Value: t.IsInternal}},
			sections: []section{
				{name: "partitions", rows: rows},
				{name: "configs", rows: configs, none: "all at their defaults"},
			},
		})
	})
}

func noTopic(name string, err error) error {
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return fmt.Errorf("there is no topic %s; doze topic list shows those there are", name)
	}
	return fmt.Errorf("topic %s: %w", name, err)
}

func topicPartitionRows(ctx context.Context, admin *administrator, t kadm.TopicDetail) ([][]field, error) {
	starts, err := admin.ListStartOffsets(ctx, t.Topic)
	if err != nil {
		return nil, fmt.Errorf("list offsets of %s: %w", t.Topic, err)
	}
	ends, err := admin.ListEndOffsets(ctx, t.Topic)
	if err != nil {
		return nil, fmt.Errorf("list offsets of %s: %w", t.Topic, err)
	}
	var rows [][]field
	for _, p := range t.Partitions.Sorted() {
		start, _ := starts.Lookup(t.Topic, p.Partition)
		end, _ := ends.Lookup(t.Topic, p.Partition)
		rows = append(rows, []field{
			{Name: "partition", Value: int64(p.Partition)}, {Name: "leader", Value: int64(p.Leader)}, {Name: "epoch", Value: int64(p.LeaderEpoch)},
			{Name: "start", Value: start.Offset}, {Name: "end", Value: end.Offset},
		})
	}
	return rows, nil
}

type topicConfigCmd struct {
	clientFlags
	Name  string   `arg:"" name:"topic" help:"Name of the topic."`
	Set   []string `help:"Set a config. May be repeated." placeholder:"NAME=VALUE" sep:"none"`
	Reset []string `help:"Go back to the default of a config. May be repeated." placeholder:"NAME"`
	All   bool     `help:"Show configs that are at their defaults too."`
	JSON  bool     `help:"Print a JSON array." name:"json"`
}

// Help is shown below the flags.
func (*topicConfigCmd) Help() string {
	return `Without --set and --reset it shows what is set.

Example: doze topic config orders --set retention.ms=86400000 --reset cleanup.policy`
}

func (c *topicConfigCmd) Run(p *process) error {
	set, err := pairs("--set", c.Set)
	if err != nil {
		return usageError{err}
	}
	return c.admin(p, func(ctx context.Context, admin *administrator) error {
		if len(set)+len(c.Reset) > 0 {
			return c.change(ctx, admin, set)
		}
		rows, err := configRows(ctx, admin, c.Name, c.All)
		if err != nil {
			return err
		}
		return printList(p, c.JSON, rows, "no config is set; --all shows what holds")
	})
}

func (c *topicConfigCmd) change(ctx context.Context, admin *administrator, set map[string]*string) error {
	var changes []kadm.AlterConfig
	for name, value := range set {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: value})
	}
	for _, name := range c.Reset {
		changes = append(changes, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: name})
	}
	answers, err := admin.AlterTopicConfigs(ctx, changes, c.Name)
	if err != nil {
		return fmt.Errorf("set configs of %s: %w", c.Name, err)
	}
	one, err := answers.On(c.Name, nil)
	if err == nil {
		err = one.Err
	}
	return refused("set configs of", c.Name, err, one.ErrMessage)
}

// configRows are a topic's configs; those at their defaults only when all are wanted.
func configRows(ctx context.Context, admin *administrator, topic string, all bool) ([][]field, error) {
	answers, err := admin.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("describe configs of %s: %w", topic, err)
	}
	one, err := answers.On(topic, nil)
	if err == nil {
		err = one.Err
	}
	if err != nil {
		return nil, noTopic(topic, err)
	}
	slices.SortFunc(one.Configs, func(a, b kadm.Config) int { return strings.Compare(a.Key, b.Key) })
	var rows [][]field
	for _, c := range one.Configs {
		source := strings.ToLower(strings.ReplaceAll(c.Source.String(), "_", "-"))
		if all || source == "dynamic-topic-config" {
			rows = append(rows, []field{{Name: "config", Value: c.Key}, {Name: "value", Value: c.MaybeValue()}, {Name: "source", Value: source}})
		}
	}
	return rows, nil
}
