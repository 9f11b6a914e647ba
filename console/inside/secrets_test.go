package inside

import (
	"testing"

	"doze/configs"
)

// Whatever Kafka never answers is not shown either, and a slip of the pen in its name does not show it.
func TestSensitiveConfigsAreSecret(t *testing.T) {
	sensitive := 0
	for _, table := range []*configs.Table{configs.BrokerKeys, configs.TopicKeys, configs.GroupKeys, configs.ClientMetricsKeys} {
		for _, d := range table.All() {
			if !d.Sensitive() {
				continue
			}
			if sensitive++; !SecretConfig(d.Name) || !SecretConfig("listener.name.sasl."+d.Name+"x") {
				t.Errorf("the value of %s would be shown", d.Name)
			}
		}
	}
	if sensitive < 10 {
		t.Errorf("only %d configs are sensitive", sensitive)
	}
	if SecretConfig("retention.ms") {
		t.Error("the value of retention.ms is hidden")
	}
}
