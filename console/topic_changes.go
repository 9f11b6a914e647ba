package console

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

// topicChange is the dot of the dialogs that change a topic: what it has, what was typed, what is wrong.
type topicChange struct {
	Name       string
	Records    int64 // offsets from first to end
	Partitions int
	Policy     string
	Typed      string
	Wrong      string
	MustType   bool // a topic with data is destroyed by its typed name only
}

func changeOf(r *request) (topicChange, error) {
	name, err := r.named("topic")
	if err != nil {
		return topicChange{}, err
	}
	detail, err := r.c.kafka.topic(r.Context(), name)
	if err != nil {
		return topicChange{}, err
	}
	c := topicChange{Name: name, Partitions: len(detail.Partitions), Policy: r.c.kafka.topicPolicies(r.Context(), []string{name})[name]}
	spans, err := r.c.kafka.topicSpans(r.Context(), kadm.TopicDetails{name: detail})
	if err != nil {
		return topicChange{}, err
	}
	c.Records = spans[name]
	c.MustType = c.Records > 0
	return c, nil
}

func (c topicChange) dialog(title, template string, status int) dialog {
	return dialog{Title: title, Nav: "topics", Crumbs: []crumb{{"Topics", "/topics"}, {c.Name, path("topics", c.Name)}, {title, ""}}, Name: template, Data: c, Status: status}
}

// confirmed reads a dialog's form and says what is wrong with the typed name.
func confirmed(r *request) (topicChange, form, error) {
	f, err := r.form()
	if err != nil {
		return topicChange{}, f, err
	}
	c, err := changeOf(r)
	if err != nil {
		return c, f, err
	}
	if c.Typed = f.text("typed"); c.MustType && c.Typed != c.Name {
		c.Wrong = "The topic has data: type its name, " + c.Name
	}
	return c, f, nil
}

func deleteTopicForm(r *request) (answer, error) {
	c, err := changeOf(r)
	if err != nil {
		return nil, err
	}
	return c.dialog("Delete "+c.Name, "topic-delete", 0), nil
}

// deleteTopic deletes it. The way back makes one of the same name, partitions and configs; its records stay gone.
func deleteTopic(r *request) (answer, error) {
	c, _, err := confirmed(r)
	if err != nil {
		return nil, err
	}
	if c.Wrong != "" {
		return c.dialog("Delete "+c.Name, "topic-delete", http.StatusUnprocessableEntity), nil
	}
	again, err := r.c.kafka.likeTopic(r.Context(), c.Name)
	if err != nil {
		return nil, err
	}
	resp, err := r.c.kafka.admin.DeleteTopic(r.Context(), c.Name)
	if err = errOf(err, resp.Err, resp.ErrMessage); err != nil {
		return nil, err
	}
	undo := withQuery("/topics-new", "name", c.Name, "partitions", again.Partitions, "replicas", again.Replicas, "configs", again.Configs)
	return done{To: "/topics", Toast: "Topic " + c.Name + " was deleted. Undo makes it anew, without its records", Undo: undo}, nil
}

// errOf is the first of a request's error and a response's own.
func errOf(err, own error, words string) error {
	if err != nil {
		return err
	}
	if own != nil {
		return withWords(own, words)
	}
	return nil
}

func purgeForm(r *request) (answer, error) {
	c, err := changeOf(r)
	if err != nil {
		return nil, err
	}
	return c.dialog("Purge "+c.Name, "topic-purge", 0), nil
}

// purge deletes every record up to the ends as they are now.
func purge(r *request) (answer, error) {
	c, _, err := confirmed(r)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(c.Policy, "delete") && c.Policy != "" {
		c.Wrong = "Kafka deletes no records of a topic whose cleanup.policy is " + c.Policy
	}
	if c.Wrong != "" {
		return c.dialog("Purge "+c.Name, "topic-purge", http.StatusUnprocessableEntity), nil
	}
	ends, err := r.c.kafka.admin.ListEndOffsets(r.Context(), c.Name)
	if err != nil {
		return nil, err
	}
	results, err := r.c.kafka.admin.DeleteRecords(r.Context(), ends.Offsets())
	if err == nil {
		err = results.Error()
	}
	if err != nil {
		return nil, err
	}
	return done{To: path("topics", c.Name), Toast: plural(c.Records, "offset") + " of " + c.Name + " were purged"}, nil
}

func addPartitionsForm(r *request) (answer, error) {
	c, err := changeOf(r)
	if err != nil {
		return nil, err
	}
	c.Typed = strconv.Itoa(c.Partitions + 1)
	return c.dialog("Partitions of "+c.Name, "topic-partitions-add", 0), nil
}

// addPartitions sets the number of partitions to a larger one.
func addPartitions(r *request) (answer, error) {
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	c, err := changeOf(r)
	if err != nil {
		return nil, err
	}
	c.Typed = f.trimmed("count")
	n, err := f.whole("count", "Partitions", 1, 1<<20)
	if err == nil {
		var all kadm.CreatePartitionsResponses
		all, err = r.c.kafka.admin.UpdatePartitions(r.Context(), int(n), c.Name)
		err = errOf(err, all[c.Name].Err, all[c.Name].ErrMessage)
	}
	if err != nil {
		p := asProblem(err)
		c.Wrong = p.Message + ". " + p.Hint
		return c.dialog("Partitions of "+c.Name, "topic-partitions-add", http.StatusUnprocessableEntity), nil
	}
	return done{To: path("topics", c.Name, "partitions"), Toast: c.Name + " has " + plural(n, "partition")}, nil
}

// likeTopic is the form of a topic with the same partitions, replicas and configs.
func (k *kafka) likeTopic(ctx context.Context, name string) (topicForm, error) {
	detail, err := k.topic(ctx, name)
	if err != nil {
		return topicForm{}, err
	}
	f := topicForm{Partitions: strconv.Itoa(len(detail.Partitions)), Replicas: "-1", Like: name}
	if p, ok := detail.Partitions[0]; ok {
		f.Replicas = strconv.Itoa(len(p.Replicas))
	}
	configs, err := k.admin.DescribeTopicConfigs(ctx, name)
	if err != nil {
		return f, err
	}
	for _, resource := range configs {
		for _, c := range resource.Configs {
			if c.Value != nil && c.Source.String() == "DYNAMIC_TOPIC_CONFIG" {
				f.Configs += c.Key + "=" + *c.Value + "\n"
			}
		}
	}
	return f, nil
}
