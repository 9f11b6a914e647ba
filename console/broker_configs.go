package console

import (
	"context"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// brokerConfigsPage is the dot of the configs.
type brokerConfigsPage struct {
	brokerHead
	Config configTable
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
	return brokerPage("broker-configs", brokerConfigsPage{head, r.configTable("t", all)}), nil
}

func (r *request) brokerConfigs(broker int32) ([]config, error) {
	all, err := r.configs(kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(broker)))
	for i := range all {
		all[i].Href = configHref(all[i].Key, broker)
	}
	return all, err
}

func configHref(key string, broker int32) string {
	return withQuery(path("broker", "config", key), "broker", strconv.Itoa(int(broker)))
}

// brokerConfigView is the dot of one key.
type brokerConfigView struct {
	config
	Broker  int32
	WhyNot  string
	Removal bool // it can be set back
}

func askBrokerConfig(r *request) (answer, error) {
	head, c, err := r.pathConfig()
	if err != nil {
		return nil, err
	}
	view := brokerConfigView{config: c, Broker: head.Broker}
	if c.Locked {
		view.WhyNot = "It cannot be changed while the broker runs. Start it with --set " + c.Key + "=VALUE."
	}
	view.Removal = c.Source == kmsg.ConfigSourceDynamicBrokerConfig || c.Source == kmsg.ConfigSourceDynamicDefaultBrokerConfig
	return dialog{Title: c.Key, Nav: "broker", Crumbs: []crumb{{Text: "Broker", Href: "/broker"}, {Text: c.Key}}, Name: "broker-config", Data: view}, nil
}

// pathConfig is the key that the path names.
func (r *request) pathConfig() (brokerHead, config, error) {
	key, err := r.named("key")
	if err != nil {
		return brokerHead{}, config{}, err
	}
	head, err := r.brokerHead("Configs")
	if err != nil {
		return head, config{}, err
	}
	all, err := r.brokerConfigs(head.Broker)
	if err != nil {
		return head, config{}, err
	}
	for _, c := range all {
		if c.Key == key {
			return head, c, nil
		}
	}
	return head, config{}, notFound("The broker has no key %s", clip(key, 200))
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
			return withWords(a.Err, a.ErrMessage)
		}
	}
	return nil
}
