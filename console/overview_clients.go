package console

import (
	"fmt"
	"strings"
)

// families are the kinds of clients with their settings for this broker, and the one that the address asks for.
func families(r *request) ([]tab, family) {
	at := endpointFor(r)
	all := []family{
		{Key: "java", Text: "Java", Note: "A properties file of any Java client and of Kafka's own tools (--command-config).", Settings: javaSettings(at, "", "=")},
		{Key: "librdkafka", Text: "librdkafka", Note: "Configuration of librdkafka and what is built on it: Python, .NET, Go (confluent-kafka-go), Rust, kcat (-F).", Settings: librdkafkaSettings(at)},
		{Key: "kafkajs", Text: "kafkajs", Note: "The client object in JavaScript.", Settings: kafkajsSettings(at)},
		{Key: "spring", Text: "Spring", Note: "application.properties of Spring Boot.", Settings: springSettings(at)},
		{Key: "go", Text: "Go", Note: "franz-go. Names of packages: kgo, sasl/plain, sasl/scram.", Settings: goSettings(at)},
		{Key: "env", Text: "Shell", Note: "Variables that many programs read.", Settings: shellSettings(at, r.c.opt.Registry)},
	}
	chosen := all[0]
	for _, f := range all {
		if f.Key == r.query("client") {
			chosen = f
		}
	}
	var tabs []tab
	for _, f := range all {
		tabs = append(tabs, tab{Text: f.Text, Href: r.changed("client", f.Key), Lit: f.Key == chosen.Key})
	}
	return tabs, chosen
}

// family is how one family of clients is told where the broker is.
type family struct {
	Key, Text, Note string
	Settings        string
}

// endpointFor is the listener that clients are told of: the first with a TCP address.
func endpointFor(r *request) Endpoint {
	if b := r.c.opt.Broker; b != nil {
		for _, e := range b.About().Endpoints {
			if !strings.HasPrefix(e.Address, unixPrefix) {
				return e
			}
		}
	}
	if e := r.c.opt.Endpoint; e.Address != "" {
		return e
	}
	return Endpoint{Address: strings.Join(r.c.opt.Bootstrap, ","), Protocol: "PLAINTEXT"}
}

func (e Endpoint) login() bool { return strings.HasPrefix(e.Protocol, "SASL") }
func (e Endpoint) tls() bool   { return strings.HasSuffix(e.Protocol, "SSL") }

// mechanism is the strongest that clients of every family have.
func (e Endpoint) mechanism() string {
	for _, m := range []string{"SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN", "OAUTHBEARER"} {
		for _, offered := range e.Mechanisms {
			if m == offered {
				return m
			}
		}
	}
	return "PLAIN"
}

// javaSettings are properties of Java clients, each name after a prefix.
func javaSettings(e Endpoint, prefix, equals string) string {
	var b strings.Builder
	put := func(name, value string) { fmt.Fprintf(&b, "%s%s%s%s\n", prefix, name, equals, value) }
	put("bootstrap.servers", e.Address)
	if e.Protocol != "PLAINTEXT" {
		put("security.protocol", e.Protocol)
	}
	if e.login() {
		put("sasl.mechanism", e.mechanism())
		put("sasl.jaas.config", javaLogin(e.mechanism()))
	}
	if e.tls() && e.CAFile != "" {
		put("ssl.truststore.type", "PEM")
		put("ssl.truststore.location", e.CAFile)
	}
	return b.String()
}

func javaLogin(mechanism string) string {
	module := "org.apache.kafka.common.security.plain.PlainLoginModule"
	if strings.HasPrefix(mechanism, "SCRAM") {
		module = "org.apache.kafka.common.security.scram.ScramLoginModule"
	}
	if mechanism == "OAUTHBEARER" {
		return "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"
	}
	return module + ` required username="USER" password="PASSWORD";`
}

func librdkafkaSettings(e Endpoint) string {
	var b strings.Builder
	fmt.Fprintf(&b, "bootstrap.servers=%s\n", e.Address)
	if e.Protocol != "PLAINTEXT" {
		fmt.Fprintf(&b, "security.protocol=%s\n", strings.ToLower(e.Protocol))
	}
	if e.login() {
		fmt.Fprintf(&b, "sasl.mechanisms=%s\nsasl.username=USER\nsasl.password=PASSWORD\n", e.mechanism())
	}
	if e.tls() && e.CAFile != "" {
		fmt.Fprintf(&b, "ssl.ca.location=%s\n", e.CAFile)
	}
	return b.String()
}

func kafkajsSettings(e Endpoint) string {
	var b strings.Builder
	fmt.Fprintf(&b, "const kafka = new Kafka({\n  clientId: 'my-app',\n  brokers: [%s],\n", jsList(e.Address))
	switch {
	case e.tls() && e.CAFile != "":
		fmt.Fprintf(&b, "  ssl: { ca: [fs.readFileSync(%s, 'utf8')] },\n", jsText(e.CAFile))
	case e.tls():
		b.WriteString("  ssl: true,\n")
	}
	if e.login() {
		fmt.Fprintf(&b, "  sasl: { mechanism: '%s', username: 'USER', password: 'PASSWORD' },\n", strings.ToLower(e.mechanism()))
	}
	b.WriteString("})\n")
	return b.String()
}

func jsList(addresses string) string {
	var all []string
	for a := range strings.SplitSeq(addresses, ",") {
		all = append(all, jsText(a))
	}
	return strings.Join(all, ", ")
}

func jsText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

func springSettings(e Endpoint) string {
	s := javaSettings(e, "spring.kafka.properties.", "=")
	return strings.Replace(s, "spring.kafka.properties.bootstrap.servers", "spring.kafka.bootstrap-servers", 1)
}

func goSettings(e Endpoint) string {
	var b strings.Builder
	fmt.Fprintf(&b, "client, err := kgo.NewClient(\n\tkgo.SeedBrokers(%s),\n", goList(e.Address))
	if e.tls() {
		b.WriteString("\tkgo.DialTLSConfig(tlsConfig),")
		if e.CAFile != "" {
			fmt.Fprintf(&b, " // RootCAs from %s", e.CAFile)
		}
		b.WriteString("\n")
	}
	if e.login() {
		b.WriteString("\tkgo.SASL(" + goLogin(e.mechanism()) + "),\n")
	}
	b.WriteString(")\n")
	return b.String()
}

func goLogin(mechanism string) string {
	switch mechanism {
	case "SCRAM-SHA-512":
		return `scram.Auth{User: "USER", Pass: "PASSWORD"}.AsSha512Mechanism()`
	case "SCRAM-SHA-256":
		return `scram.Auth{User: "USER", Pass: "PASSWORD"}.AsSha256Mechanism()`
	case "OAUTHBEARER":
		return `oauth.Auth{Token: "TOKEN"}.AsMechanism()`
	}
	return `plain.Auth{User: "USER", Pass: "PASSWORD"}.AsMechanism()`
}

func goList(addresses string) string {
	var all []string
	for a := range strings.SplitSeq(addresses, ",") {
		all = append(all, fmt.Sprintf("%q", a))
	}
	return strings.Join(all, ", ")
}

func shellSettings(e Endpoint, registry string) string {
	s := fmt.Sprintf("export KAFKA_BOOTSTRAP_SERVERS=%s\nexport SPRING_KAFKA_BOOTSTRAP_SERVERS=%s\n", e.Address, e.Address)
	if registry != "" {
		s += "export SCHEMA_REGISTRY_URL=" + registry + "\n"
	}
	return s
}
