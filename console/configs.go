package console

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// config is one key of a topic or a broker, with all that is known of it.
type config struct {
	Key, Type, Doc    string
	Value, Default    string // Default: what holds without the resource's own value
	HasValue          bool
	HasDefault        bool
	Sensitive, Locked bool // Locked: it cannot be changed while the broker runs
	Source            kmsg.ConfigSource
	Acts              string // "yes", "no", "" when nobody says
	Own               bool   // the resource has a value of its own: of a broker, whatever is not the default
	Layers            []configLayer
	Href              string // where it is changed
}

// configLayer is one place that a value comes from, the strongest first.
type configLayer struct{ Source, Key, Value string }

// configSources are what the sources of values are called.
var configSources = map[kmsg.ConfigSource]string{
	kmsg.ConfigSourceDynamicTopicConfig:         "this topic",
	kmsg.ConfigSourceDynamicBrokerConfig:        "this broker, while it runs",
	kmsg.ConfigSourceDynamicDefaultBrokerConfig: "all brokers, while they run",
	kmsg.ConfigSourceStaticBrokerConfig:         "start of the broker",
	kmsg.ConfigSourceDefaultConfig:              "default",
	kmsg.ConfigSourceDynamicBrokerLoggerConfig:  "logger",
	kmsg.ConfigSourceClientMetricsConfig:        "client metrics",
	kmsg.ConfigSourceGroupConfig:                "group",
}

// SetBy says where the value comes from.
func (c config) SetBy() string { return configSources[c.Source] }

// ownConfig says whether a value is the resource's own.
func ownConfig(kind kmsg.ConfigResourceType, source kmsg.ConfigSource) bool {
	if kind == kmsg.ConfigResourceTypeTopic {
		return source == kmsg.ConfigSourceDynamicTopicConfig
	}
	return source != kmsg.ConfigSourceDefaultConfig
}

// configs asks for every key of a resource, with layers and what it is for.
func (r *request) configs(kind kmsg.ConfigResourceType, name string) ([]config, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms, req.IncludeDocumentation = true, true
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kind, name
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(r.Context(), r.c.kafka.client)
	if err != nil {
		return nil, err
	}
	var all []config
	for _, res := range resp.Resources {
		if err := kafkaError(res.ErrorCode, res.ErrorMessage); err != nil {
			return nil, err
		}
		for _, c := range res.Configs {
			all = append(all, r.config(kind, c))
		}
	}
	return all, nil
}

func (r *request) config(kind kmsg.ConfigResourceType, c kmsg.DescribeConfigsResponseResourceConfig) config {
	out := config{
		Key: c.Name, Type: c.ConfigType.String(), Doc: deref(c.Documentation), Value: deref(c.Value), HasValue: c.Value != nil,
		Sensitive: c.IsSensitive, Locked: c.ReadOnly, Source: c.Source, Own: ownConfig(kind, c.Source),
	}
	if !out.Own {
		out.Default, out.HasDefault = out.Value, out.HasValue
	}
	for _, s := range c.ConfigSynonyms {
		value := deref(s.Value)
		if c.IsSensitive {
			value = "(hidden)"
		}
		out.Layers = append(out.Layers, configLayer{configSources[s.Source], s.Name, value})
		if out.Own && !out.HasDefault && !ownConfig(kind, s.Source) {
			out.Default, out.HasDefault = deref(s.Value), s.Value != nil
		}
	}
	if b := r.c.opt.Broker; b != nil {
		resource := map[kmsg.ConfigResourceType]string{kmsg.ConfigResourceTypeTopic: "topic", kmsg.ConfigResourceTypeBroker: "broker"}[kind]
		out.Acts = map[bool]string{true: "yes", false: "no"}[b.Acts(resource, c.Name)]
	}
	return out
}

// configTable is the dot of the template "config": the keys of a topic or a broker.
type configTable struct {
	Table       table
	OnlyChanged toggle
}

// configTable is the table of keys, with the switch that hides what was not changed.
func (r *request) configTable(id string, all []config) configTable {
	v := configTable{OnlyChanged: toggle{false, "Only what is changed", r.changed("changed", "yes", "page", "")}}
	if r.query("changed") == "yes" {
		all = slices.DeleteFunc(all, func(c config) bool { return !c.Own })
		v.OnlyChanged = toggle{true, "Show all keys", r.changed("changed", "")}
	}
	v.Table = configSheet(id, r.readOnly()).show(r, all)
	return v
}

func configSheet(id string, readOnly bool) sheet[config] {
	s := sheet[config]{
		ID: id, Noun: "key", Sort: "key", Size: 100, Empty: "Nothing is set: every key has its default.",
		Find: func(c config) string { return c.Key + " " + c.Value + " " + c.Doc },
		Columns: []column[config]{
			{Key: "key", Title: "Key", Order: by(func(c config) string { return c.Key }), Cell: func(c config) cell {
				if readOnly {
					return codeCell(c.Key)
				}
				return linkCell(c.Key, c.Href)
			}},
			{Title: "Value", Cell: configValueCell},
			{Key: "source", Title: "Set by", Order: by(config.SetBy), Cell: func(c config) cell { return textCell(c.SetBy()) }},
			{Title: "Default", Cell: func(c config) cell { return valueCell(c.Default, c.HasDefault) }},
			{Key: "acts", Title: "Acts here", Hint: "Whether it changes what this broker does", Order: by(func(c config) string { return c.Acts }), Cell: actsCell},
			{Title: "What it is", Cell: docCell},
		},
	}
	if !readOnly {
		s.Href = func(c config) string { return c.Href }
	}
	return s
}

// docCell is what a key is for; what does not fit is on the key's page.
func docCell(c config) cell {
	shown := clip(c.Doc, 160)
	if shown == c.Doc {
		return textCell(shown)
	}
	return textCell(shown).hover(clip(c.Doc, 600))
}

func configValueCell(c config) cell {
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
	if len(value) <= 200 {
		return codeCell(value)
	}
	return codeCell(clip(value, 200)).hover(clip(value, 2000))
}

func actsCell(c config) cell {
	switch c.Acts {
	case "yes":
		return badgeCell(badge{"acts", "good", "doze does as it says"})
	case "no":
		return badgeCell(badge{"kept", "", "It is kept and described; nothing in doze depends on it"})
	}
	return unknownCell("Only doze says which of its keys act")
}
