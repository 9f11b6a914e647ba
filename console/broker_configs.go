package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// brokerConfig is one key of a broker, with all that is known of it.
type brokerConfig struct {
	Key, Type, Doc    string
	Value, Default    string
	HasValue          bool
	HasDefault        bool
	Sensitive, Locked bool // Locked: it cannot be changed while the broker runs
	Source            kmsg.ConfigSource
	Acts              string // "yes", "no", "" when nobody says
	Own               bool   // it is set, wherever
	Layers            []configLayer
}

// configLayer is one place that a value comes from, the strongest first.
type configLayer struct{ Source, Key, Value string }

// configSources are what the sources of values are called.
var configSources = map[kmsg.ConfigSource]string{
	kmsg.ConfigSourceDynamicTopicConfig:         "topic",
	kmsg.ConfigSourceDynamicBrokerConfig:        "this broker, while it runs",
	kmsg.ConfigSourceDynamicDefaultBrokerConfig: "all brokers, while they run",
	kmsg.ConfigSourceStaticBrokerConfig:         "start of the broker",
	kmsg.ConfigSourceDefaultConfig:              "default",
	kmsg.ConfigSourceDynamicBrokerLoggerConfig:  "logger",
	kmsg.ConfigSourceClientMetricsConfig:        "client metrics",
	kmsg.ConfigSourceGroupConfig:                "group",
}

// brokerConfigsPage is the dot of the configs.
type brokerConfigsPage struct {
	brokerHead
	Table   table
	Changed bool
	Toggle  string
}

func showBrokerConfigs(r *request) (answer, error) {
	head, err := r.brokerHead("Configs")
	if err != nil {
		return nil, err
	}
	all, err := r.brokerConfigs(head.Broker)
	if err != nil {
		return nil, err
	}
	view := brokerConfigsPage{brokerHead: head, Changed: r.query("changed") != ""}
	view.Toggle = r.changed("changed", map[bool]string{true: "", false: "1"}[view.Changed], "page", "")
	var rows []brokerConfig
	for _, c := range all {
		if c.Own || !view.Changed {
			rows = append(rows, c)
		}
	}
	view.Table = brokerConfigSheet(head.Broker).show(r, rows)
	return brokerPage("broker-configs", view), nil
}

// brokerConfigs asks a broker for its keys with documentation and layers.
func (r *request) brokerConfigs(broker int32) ([]brokerConfig, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeDocumentation, req.IncludeSynonyms = true, true
	res := kmsg.NewDescribeConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(broker))
	req.Resources = append(req.Resources, res)
	answered, err := r.c.kafka.client.Broker(int(broker)).Request(r.Context(), req)
	if err != nil {
		return nil, err
	}
	var out []brokerConfig
	for _, res := range answered.(*kmsg.DescribeConfigsResponse).Resources {
		if err := kerr.ErrorForCode(res.ErrorCode); err != nil {
			return nil, fmt.Errorf("describe configs of broker %d: %w", broker, err)
		}
		for _, c := range res.Configs {
			out = append(out, r.brokerConfig(c))
		}
	}
	return out, nil
}

func (r *request) brokerConfig(c kmsg.DescribeConfigsResponseResourceConfig) brokerConfig {
	out := brokerConfig{
		Key: c.Name, Type: c.ConfigType.String(), Doc: deref(c.Documentation), Value: deref(c.Value), HasValue: c.Value != nil,
		Sensitive: c.IsSensitive, Locked: c.ReadOnly, Source: c.Source, Own: c.Source != kmsg.ConfigSourceDefaultConfig,
	}
	for _, s := range c.ConfigSynonyms {
		value := deref(s.Value)
		if c.IsSensitive {
			value = "(hidden)"
		}
		out.Layers = append(out.Layers, configLayer{configSources[s.Source], s.Name, value})
		if s.Source == kmsg.ConfigSourceDefaultConfig {
			out.Default, out.HasDefault = deref(s.Value), s.Value != nil
		}
	}
	if !out.Own {
		out.Default, out.HasDefault = out.Value, out.HasValue
	}
	if b := r.c.opt.Broker; b != nil {
		out.Acts = map[bool]string{true: "yes", false: "no"}[b.Acts("broker", c.Name)]
	}
	return out
}

func brokerConfigSheet(broker int32) sheet[brokerConfig] {
	return sheet[brokerConfig]{
		ID: "t", Noun: "key", Sort: "key", Size: 500, Empty: "Nothing is set: every key has its default.", Command: "doze serve --set log.retention.ms=60000",
		Find: func(c brokerConfig) string { return c.Key + " " + c.Value + " " + c.Doc },
		Href: func(c brokerConfig) string { return configHref(c.Key, broker) },
		Columns: []column[brokerConfig]{
			{Key: "key", Title: "Key", Order: by(func(c brokerConfig) string { return c.Key }), Cell: func(c brokerConfig) cell {
				return linkCell(c.Key, configHref(c.Key, broker))
			}},
			{Title: "Value", Cell: configValueCell},
			{Key: "source", Title: "Set by", Order: by(func(c brokerConfig) string { return configSources[c.Source] }), Cell: func(c brokerConfig) cell { return textCell(configSources[c.Source]) }},
			{Title: "Default", Cell: func(c brokerConfig) cell { return valueCell(c.Default, c.HasDefault) }},
			{Key: "acts", Title: "Acts here", Hint: "Whether it changes what this broker does", Order: by(func(c brokerConfig) string { return c.Acts }), Cell: actsCell},
			{Title: "What it is", Cell: func(c brokerConfig) cell { return textCell(clip(c.Doc, 160)).hover(c.Doc) }},
		},
	}
}

func configHref(key string, broker int32) string {
	return withQuery(path("broker", "config", key), "broker", strconv.Itoa(int(broker)))
}

func configValueCell(c brokerConfig) cell {
	if c.Sensitive {
		return textCell("(hidden)").hover("A secret: the broker tells it to nobody")
	}
	shown := valueCell(c.Value, c.HasValue)
	if c.Own {
		return shown.with(badge{"changed", "info", "It is not the default"})
	}
	return shown
}

func valueCell(value string, there bool) cell {
	switch {
	case !there:
		return unknownCell("no value")
	case value == "":
		return textCell("").with(badge{"empty", "", "An empty text"})
	}
	return codeCell(clip(value, 200)).hover(value)
}

func actsCell(c brokerConfig) cell {
	switch c.Acts {
	case "yes":
		return badgeCell(badge{"acts", "good", "doze does as it says"})
	case "no":
		return badgeCell(badge{"kept", "", "It is kept and described; nothing in doze depends on it"})
	}
	return unknownCell("Only doze says which of its keys act")
}

// brokerConfigView is the dot of one key.
type brokerConfigView struct {
	brokerConfig
	Broker  int32
	Action  string
	Set     string // who set it
	WhyNot  string
	Removal bool // it can be set back
}

func askBrokerConfig(r *request) (answer, error) {
	head, c, err := r.pathConfig()
	if err != nil {
		return nil, err
	}
	view := brokerConfigView{brokerConfig: c, Broker: head.Broker, Action: configHref(c.Key, head.Broker), Set: configSources[c.Source]}
	if c.Locked {
		view.WhyNot = "It cannot be changed while the broker runs. Start it with --set " + c.Key + "=VALUE."
	}
	view.Removal = c.Source == kmsg.ConfigSourceDynamicBrokerConfig || c.Source == kmsg.ConfigSourceDynamicDefaultBrokerConfig
	return dialog{Title: c.Key, Nav: "broker", Crumbs: []crumb{{Text: "Broker", Href: "/broker"}, {Text: c.Key}}, Name: "broker-config", Data: view}, nil
}

// pathConfig is the key that the path names.
func (r *request) pathConfig() (brokerHead, brokerConfig, error) {
	key, err := r.named("key")
	if err != nil {
		return brokerHead{}, brokerConfig{}, err
	}
	head, err := r.brokerHead("Configs")
	if err != nil {
		return head, brokerConfig{}, err
	}
	all, err := r.brokerConfigs(head.Broker)
	if err != nil {
		return head, brokerConfig{}, err
	}
	for _, c := range all {
		if c.Key == key {
			return head, c, nil
		}
	}
	return head, brokerConfig{}, notFound("The broker has no key %s", clip(key, 200))
}

// setBrokerConfig sets a key, or sets it back, for one broker or for all.
func setBrokerConfig(r *request) (answer, error) {
	head, c, err := r.pathConfig()
	if err != nil {
		return nil, err
	}
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	brokers := []int32{head.Broker}
	if f.text("scope") == "all" {
		brokers = nil
	}
	value := f.text("value")
	change, did := kadm.AlterConfig{Op: kadm.SetConfig, Name: c.Key, Value: &value}, "is set"
	if f.text("do") == "reset" {
		change, did = kadm.AlterConfig{Op: kadm.DeleteConfig, Name: c.Key}, "is set back"
	}
	if err := r.alterBroker(r.Context(), change, brokers); err != nil {
		return nil, err
	}
	return done{To: withQuery("/broker", "broker", r.query("broker"), "q", c.Key), Toast: c.Key + " " + did}, nil
}

func (r *request) alterBroker(ctx context.Context, change kadm.AlterConfig, brokers []int32) error {
	answered, err := r.c.kafka.admin.AlterBrokerConfigs(ctx, []kadm.AlterConfig{change}, brokers...)
	if err != nil {
		return err
	}
	for _, a := range answered {
		if a.Err != nil {
			return saidBy(a.Err, a.ErrMessage)
		}
	}
	return nil
}

// saidBy is an error of Kafka with the words that the broker gave to it.
func saidBy(err error, words string) error {
	if err == nil {
		return nil
	}
	p := problem{Status: http.StatusUnprocessableEntity, Message: cmp.Or(words, err.Error())}
	var ke *kerr.Error
	if errors.As(err, &ke) {
		p.Status, p.Hint = statusOf(ke), fmt.Sprintf("Kafka answered %s (code %d).", ke.Message, ke.Code)
	}
	return p
}
