package console

import (
	"context"
	"net/http"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicConfig shows all keys, or those that were changed (?changed=yes).
func topicConfig(r *request) (answer, error) {
	h, _, err := headOf(r, "config")
	if err != nil {
		return nil, err
	}
	all, err := r.topicConfigs(h.Name)
	if err != nil {
		return nil, err
	}
	return topicAnswer(h, "Config", "topic-config", topicConfigPage{h, r.configTable("config", all)}), nil
}

func (r *request) topicConfigs(topic string) ([]config, error) {
	all, err := r.configs(kmsg.ConfigResourceTypeTopic, topic)
	for i := range all {
		all[i].Href = path("topics", topic, "config", all[i].Key)
	}
	return all, err
}

type topicConfigPage struct {
	Head   topicHead
	Config configTable
}

// configChange is the dot of the template "config-change".
type configChange struct {
	Topic  string
	Config config
	Value  string
	Wrong  string
}

func (c configChange) dialog(status int) dialog {
	return dialog{Title: c.Config.Key + " of " + c.Topic, Nav: "topics", Crumbs: []crumb{{"Topics", "/topics"}, {c.Topic, path("topics", c.Topic)}, {"Config", path("topics", c.Topic, "config")}, {c.Config.Key, ""}}, Name: "config-change", Data: c, Status: status}
}

func configForm(r *request) (answer, error) {
	change, err := configOf(r)
	if err != nil {
		return nil, err
	}
	return change.dialog(0), nil
}

func configOf(r *request) (configChange, error) {
	topic, err := r.named("topic")
	if err != nil {
		return configChange{}, err
	}
	key, err := r.named("key")
	if err != nil {
		return configChange{}, err
	}
	all, err := r.topicConfigs(topic)
	if err != nil {
		return configChange{}, err
	}
	i := slices.IndexFunc(all, func(c config) bool { return c.Key == key })
	if i < 0 {
		return configChange{}, notFound("Topics have no key %s", clip(key, 200))
	}
	change := configChange{Topic: topic, Config: all[i]}
	if !change.Config.Sensitive {
		change.Value = change.Config.Value
	}
	return change, nil
}

// setConfig changes one key, or takes the topic's own value away (reset).
func setConfig(r *request) (answer, error) {
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	change, err := configOf(r)
	if err != nil {
		return nil, err
	}
	change.Value = f.text("value")
	alter := kadm.AlterConfig{Op: kadm.SetConfig, Name: change.Config.Key, Value: &change.Value}
	said := change.Config.Key + " of " + change.Topic + " is now " + clip(change.Value, 100)
	if f.checked("reset") {
		alter = kadm.AlterConfig{Op: kadm.DeleteConfig, Name: change.Config.Key}
		said = change.Config.Key + " of " + change.Topic + " has its default again"
	}
	if err := r.c.kafka.alterTopic(r.Context(), change.Topic, alter); err != nil {
		p := asProblem(err)
		change.Wrong = p.Message + ". " + p.Hint
		return change.dialog(http.StatusUnprocessableEntity), nil
	}
	return done{To: path("topics", change.Topic, "config"), Toast: said, Undo: path("topics", change.Topic, "config", change.Config.Key)}, nil
}

func (k *kafka) alterTopic(ctx context.Context, topic string, changes ...kadm.AlterConfig) error {
	responses, err := k.admin.AlterTopicConfigs(ctx, changes, topic)
	if err != nil {
		return err
	}
	for _, resp := range responses {
		if resp.Err != nil {
			return withWords(resp.Err, resp.ErrMessage)
		}
	}
	return nil
}
