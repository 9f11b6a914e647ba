package console

import (
	"context"
	"net/http"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// configRow is one config key of a resource.
type configRow struct {
	Key, Value, Source, Default, Doc string
	Changed, Sensitive, Known, Acts  bool
	ReadOnly                         bool
	Href                             string
}

// topicConfig shows all keys, or those that were changed (?changed=yes).
func topicConfig(r *request) (answer, error) {
	h, _, err := headOf(r, "config")
	if err != nil {
		return nil, err
	}
	rows, err := r.c.kafka.configRows(r.Context(), kmsg.ConfigResourceTypeTopic, h.Name)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].Href = path("topics", h.Name, "config", rows[i].Key)
		rows[i].Known, rows[i].Acts = r.acts("topic", rows[i].Key)
	}
	return topicAnswer(h, "Config", "topic-config", topicConfigPage{h, configView(r, rows)}), nil
}

type topicConfigPage struct {
	Head   topicHead
	Config configTable
}

// configTable is the dot of the template "config": it serves topics, brokers and groups.
type configTable struct {
	Table       table
	OnlyChanged toggle
}

// configView is the table of keys, with the switch that hides what was not changed.
func configView(r *request, rows []configRow) configTable {
	v := configTable{OnlyChanged: toggle{false, "Show changed only", r.changed("changed", "yes", "page", "")}}
	if r.query("changed") == "yes" {
		rows = slices.DeleteFunc(rows, func(c configRow) bool { return !c.Changed })
		v.OnlyChanged = toggle{true, "Show all", r.changed("changed", "")}
	}
	v.Table = configSheet(r.readOnly()).show(r, rows)
	return v
}

// acts says whether a key changes what the broker does, and whether that is known.
func (r *request) acts(resource, key string) (known, acts bool) {
	if r.c.opt.Broker == nil {
		return false, false
	}
	return true, r.c.opt.Broker.Acts(resource, key)
}

func configSheet(readOnly bool) sheet[configRow] {
	s := sheet[configRow]{
		ID: "config", Noun: "key", Sort: "key", Size: 500,
		Find: func(c configRow) string { return c.Key + " " + c.Value + " " + c.Doc }, Empty: "Nothing was changed: every key has its default.",
		Columns: []column[configRow]{
			{Key: "key", Title: "Key", Cell: configKey, Order: by(func(c configRow) string { return c.Key })},
			{Title: "Value", Cell: func(c configRow) cell { return codeCell(c.Value) }},
			{Key: "source", Title: "Source", Cell: func(c configRow) cell { return textCell(c.Source) }, Order: by(func(c configRow) string { return c.Source })},
			{Title: "Default", Cell: func(c configRow) cell { return codeCell(c.Default) }},
			{Key: "acts", Title: "Acts here", Hint: "Whether the key changes what this broker does; others are kept and answered", Cell: configActs, Order: by(func(c configRow) string { return configActs(c).Marks[0].Text })},
			{Title: "What it is for", Cell: func(c configRow) cell { return textCell(c.Doc) }},
		},
	}
	if !readOnly {
		s.Columns = append(s.Columns, column[configRow]{Title: "", Cell: func(c configRow) cell {
			if c.ReadOnly || c.Href == "" {
				return textCell("")
			}
			return actCell(act{"Change", c.Href, ""})
		}})
	}
	return s
}

func configKey(c configRow) cell {
	made := codeCell(c.Key)
	if c.Changed {
		made = made.with(badge{"changed", "info", ""})
	}
	return made
}

func configActs(c configRow) cell {
	switch {
	case !c.Known:
		return badgeCell(badge{"not known", "", "Only a doze broker says so"})
	case c.Acts:
		return badgeCell(badge{"acts", "good", "It changes what this broker does"})
	}
	return badgeCell(badge{"kept", "", "It is kept and answered, and changes nothing here"})
}

// configRows asks for every key of a resource, with what it falls back to and what it is for.
func (k *kafka) configRows(ctx context.Context, kind kmsg.ConfigResourceType, name string) ([]configRow, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms, req.IncludeDocumentation = true, true
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kind, name
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(ctx, k.client)
	if err != nil {
		return nil, err
	}
	var rows []configRow
	for _, r := range resp.Resources {
		if err := kafkaError(r.ErrorCode, r.ErrorMessage); err != nil {
			return nil, err
		}
		for _, c := range r.Configs {
			rows = append(rows, newConfigRow(c, kind))
		}
	}
	return rows, nil
}

func newConfigRow(c kmsg.DescribeConfigsResponseResourceConfig, kind kmsg.ConfigResourceType) configRow {
	row := configRow{Key: c.Name, Value: textOr(c.Value, "—"), Source: sourceText(c.Source), Sensitive: c.IsSensitive, ReadOnly: c.ReadOnly, Doc: textOr(c.Documentation, "")}
	if c.IsSensitive {
		row.Value = "(hidden)"
	}
	own := map[kmsg.ConfigResourceType]kmsg.ConfigSource{
		kmsg.ConfigResourceTypeTopic: kmsg.ConfigSourceDynamicTopicConfig, kmsg.ConfigResourceTypeBroker: kmsg.ConfigSourceDynamicBrokerConfig,
	}[kind]
	row.Changed = c.Source == own
	row.Default = row.Value
	if row.Changed {
		row.Default = "—"
	}
	for _, s := range c.ConfigSynonyms {
		if s.Source != own {
			row.Default = textOr(s.Value, "—")
			break
		}
	}
	return row
}

func textOr(s *string, other string) string {
	if s == nil {
		return other
	}
	return *s
}

// sourceText says where a value comes from.
func sourceText(s kmsg.ConfigSource) string {
	switch s {
	case kmsg.ConfigSourceDynamicTopicConfig:
		return "this topic"
	case kmsg.ConfigSourceDynamicBrokerConfig:
		return "this broker, changed while running"
	case kmsg.ConfigSourceDynamicDefaultBrokerConfig:
		return "all brokers, changed while running"
	case kmsg.ConfigSourceStaticBrokerConfig:
		return "the broker's start"
	case kmsg.ConfigSourceDefaultConfig:
		return "default"
	}
	return s.String()
}

// configChange is the dot of the template "config-change".
type configChange struct {
	Topic string
	Row   configRow
	Value string
	Wrong string
}

func (c configChange) dialog(status int) dialog {
	return dialog{Title: c.Row.Key + " of " + c.Topic, Nav: "topics", Crumbs: []crumb{{"Topics", "/topics"}, {c.Topic, path("topics", c.Topic)}, {"Config", path("topics", c.Topic, "config")}, {c.Row.Key, ""}}, Name: "config-change", Data: c, Status: status}
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
	rows, err := r.c.kafka.configRows(r.Context(), kmsg.ConfigResourceTypeTopic, topic)
	if err != nil {
		return configChange{}, err
	}
	i := slices.IndexFunc(rows, func(c configRow) bool { return c.Key == key })
	if i < 0 {
		return configChange{}, notFound("Topics have no key %s", key)
	}
	rows[i].Known, rows[i].Acts = r.acts("topic", key)
	return configChange{Topic: topic, Row: rows[i], Value: rows[i].Value}, nil
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
	alter := kadm.AlterConfig{Op: kadm.SetConfig, Name: change.Row.Key, Value: &change.Value}
	said := change.Row.Key + " of " + change.Topic + " is now " + clip(change.Value, 100)
	if f.checked("reset") {
		alter = kadm.AlterConfig{Op: kadm.DeleteConfig, Name: change.Row.Key}
		said = change.Row.Key + " of " + change.Topic + " has its default again"
	}
	if err := r.c.kafka.alterTopic(r.Context(), change.Topic, alter); err != nil {
		p := asProblem(err)
		change.Wrong = p.Message + ". " + p.Hint
		return change.dialog(http.StatusUnprocessableEntity), nil
	}
	return done{To: path("topics", change.Topic, "config"), Toast: said, Undo: path("topics", change.Topic, "config", change.Row.Key)}, nil
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
