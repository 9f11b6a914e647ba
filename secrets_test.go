package doze

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"software.sslmate.com/src/go-pkcs12"

	"doze/replay"
)

// The secrets of TestSecretsOfEveryKindAreNowhere, by what they are.
const (
	userSecrets, jaasSecrets, madeSecrets, wrongSecrets = 8, 6, 6, 5

	firstJAAS  = userSecrets
	firstMade  = firstJAAS + jaasSecrets
	firstWrong = firstMade + madeSecrets
	keystore   = firstWrong + wrongSecrets
)

// The five that are one of a kind.
const (
	truststore = keystore + 1 + iota
	dynamicJAAS
	replacedJAAS
	registryPassword
	secretsInAll
)

// TestSecretsOfEveryKindAreNowhere plants thirty secrets of every kind that a broker is given, and looks for each, and for the key of
// TLS, in all that it writes or tells: the log at its most talkative, the data directory, DescribeConfigs, dumps, and the errors of starts
// that fail.
func TestSecretsOfEveryKindAreNowhere(t *testing.T) {
	if secretsInAll != 30 {
		t.Fatalf("%d secrets", secretsInAll)
	}
	ca := newAuthority(t)
	o := ca.options()
	o.Listeners = []Listener{{Address: "127.0.0.1:0", Protocol: protocolSASLSSL}}
	o.Users, o.Properties = map[string]string{"admin": planted(0)}, ca.secretProperties(planted(keystore), planted(truststore))
	o.TLS, o.SchemaRegistry = TLS{}, "127.0.0.1:0"
	for i := range userSecrets {
		o.Users[fmt.Sprint("start", i)] = planted(i)
	}
	jaas := "org.apache.kafka.common.security.plain.PlainLoginModule required"
	for i := range jaasSecrets {
		jaas += fmt.Sprintf(" user_jaas%d=%q", i, planted(firstJAAS+i))
	}
	o.Properties["listener.name.sasl_ssl.plain.sasl.jaas.config"] = jaas + ";"
	b, log := run(t, o)
	places := b.useSecrets(t, ca.client(""))
	state, _ := b.store.View()
	var dump bytes.Buffer
	if err := replay.Dump(&dump, state, nil, false); err != nil {
		t.Fatal(err)
	}
	places["dump"], places["ready"] = dump.String(), fmt.Sprintf("%+v %s", b.Ready(), b.Ready().Line())
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	places["log"] = log.String()
	var files []string
	addFiles(t, o.DataDir, places, &files, madeSecrets+1)
	places["a start that fails"] = ca.failedStarts(o)
	key, err := os.ReadFile(ca.file("server-key"))
	if err != nil {
		t.Fatal(err)
	}
	secrets := append(files, strings.Split(string(key), "\n")[1])
	for i := range secretsInAll {
		secrets = append(secrets, planted(i))
	}
	for place, text := range places {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds the secret %q", place, secret)
			}
		}
	}
	if !strings.Contains(places["log"], "SASLAuthenticate") || !strings.Contains(places["DescribeConfigs"], "ssl.keystore.password") {
		t.Error("neither the log nor DescribeConfigs shows what it is looked through for")
	}
}

// secretProperties are those of TLS from stores in PKCS12, each with a password of its own.
func (a *authority) secretProperties(keyPassword, trustPassword string) map[string]string {
	a.t.Helper()
	pair, err := tls.LoadX509KeyPair(a.file("server"), a.file("server-key"))
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		a.t.Fatal(err)
	}
	keys, err := pkcs12.Modern.Encode(pair.PrivateKey, leaf, nil, keyPassword)
	if err != nil {
		a.t.Fatal(err)
	}
	trusted, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{a.Certificate}, trustPassword)
	if err != nil {
		a.t.Fatal(err)
	}
	properties := map[string]string{
		"ssl.keystore.type": "PKCS12", "ssl.keystore.location": filepath.Join(a.dir, "keys.p12"), "ssl.keystore.password": keyPassword,
		"ssl.truststore.type": "PKCS12", "ssl.truststore.location": filepath.Join(a.dir, "trusted.p12"), "ssl.truststore.password": trustPassword,
		"ssl.client.auth": "requested", "sasl.enabled.mechanisms": allMechanisms, "connection.failed.authentication.delay.ms": "1",
	}
	for file, content := range map[string][]byte{"ssl.keystore.location": keys, "ssl.truststore.location": trusted} {
		if err := os.WriteFile(properties[file], content, 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return properties
}

// useSecrets logs in with right and wrong ones, makes users, and tries to change a broker's texts of JAAS. It returns what it was told.
func (b *Broker) useSecrets(t *testing.T, trust *tls.Config) map[string]string {
	t.Helper()
	ctx, told := context.Background(), map[string]string{}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.DialTLSConfig(trust), kgo.SASL(plain.Auth{User: "admin", Pass: planted(0)}.AsMechanism()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	for i := range madeSecrets {
		user := kadm.UpsertSCRAM{User: fmt.Sprint("made", i), Mechanism: kadm.ScramMechanism(1 + i%2), Iterations: 4096, Password: planted(firstMade + i)}
		if made, err := admin.AlterUserSCRAMs(ctx, nil, []kadm.UpsertSCRAM{user}); err != nil || !made.Ok() {
			t.Fatal(err, made)
		}
	}
	for i := range wrongSecrets {
		for _, m := range mechanismsOf("admin", planted(firstWrong+i)) {
			wrong, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.DialTLSConfig(trust), kgo.SASL(m), kgo.RequestRetries(0))
			if err != nil {
				t.Fatal(err)
			}
			told["login"] += fmt.Sprint(wrong.Ping(ctx))
			wrong.Close()
		}
	}
	told["changes"] = b.changeJAAS(t, client)
	described, err := admin.DescribeBrokerConfigs(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range described[0].Configs {
		told["DescribeConfigs"] += c.Key + "=" + c.MaybeValue() + fmt.Sprintln(c.Synonyms)
	}
	told["registry"] = b.askRegistry(t, trust)
	return told
}

// changeJAAS gives the broker texts of JAAS with passwords, in both ways that there are, and returns what it said.
func (b *Broker) changeJAAS(t *testing.T, client *kgo.Client) string {
	t.Helper()
	const key = "listener.name.sasl_ssl.plain.sasl.jaas.config"
	text := func(i int) *string {
		return kmsg.StringPtr(fmt.Sprintf("org.apache.kafka.common.security.plain.PlainLoginModule required user_new=%q;", planted(i)))
	}
	incremental := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeBroker, "1"
	r.Configs = []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: key, Value: text(dynamicJAAS)}}
	incremental.Resources = append(incremental.Resources, r)
	replaced := kmsg.NewPtrAlterConfigsRequest()
	all := kmsg.NewAlterConfigsRequestResource()
	all.ResourceType, all.ResourceName = kmsg.ConfigResourceTypeBroker, "1"
	all.Configs = []kmsg.AlterConfigsRequestResourceConfig{{Name: key, Value: text(replacedJAAS)}}
	replaced.Resources = append(replaced.Resources, all)
	one, err := incremental.RequestWith(context.Background(), client)
	if err != nil {
		t.Fatal(err)
	}
	two, err := replaced.RequestWith(context.Background(), client)
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, m := range []*string{one.Resources[0].ErrorMessage, two.Resources[0].ErrorMessage} {
		if m != nil {
			said += *m
		}
	}
	return said
}

// askRegistry asks with a password that is right and one that is wrong, and returns both answers.
func (b *Broker) askRegistry(t *testing.T, trust *tls.Config) (said string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust}}
	defer client.CloseIdleConnections()
	for password, want := range map[string]int{planted(0): http.StatusOK, planted(registryPassword): http.StatusUnauthorized} {
		req, err := http.NewRequest(http.MethodGet, b.Ready().Registry+"/subjects", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("admin", password)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		_, _ = body.ReadFrom(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("the registry answered %d, not %d", resp.StatusCode, want)
		}
		said += fmt.Sprint(resp.Header) + body.String()
	}
	return said
}

// failedStarts are the errors of starts with a password that does not open its store, and with a text of JAAS that is none.
func (a *authority) failedStarts(good Options) (errs string) {
	for _, wrong := range []map[string]string{
		{"ssl.keystore.password": planted(truststore)}, {"ssl.truststore.password": planted(keystore)},
		{"listener.name.sasl_ssl.plain.sasl.jaas.config": "PlainLoginModule required user_x=\"" + planted(firstJAAS)},
	} {
		o := good
		o.DataDir, o.Properties = a.t.TempDir(), map[string]string{}
		for name, value := range good.Properties {
			o.Properties[name] = value
		}
		for name, value := range wrong {
			o.Properties[name] = value
		}
		b, err := New(o)
		if err == nil {
			err = b.Run(context.Background())
		}
		if err == nil {
			a.t.Errorf("started with %v", wrong)
		}
		errs += fmt.Sprintln(err)
	}
	return errs
}
