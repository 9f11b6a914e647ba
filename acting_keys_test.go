package doze_test

import (
	"go/ast"
	"strconv"
	"testing"

	"doze/configs"
)

// keptKeys are keys that the broker reads only to describe them.
var keptKeys = map[string]string{
	"process.roles": "what a node is, for who asks", "log.dirs": "where the data is, for who asks",
	"min.insync.replicas": "there is one replica",
}

// A property that the broker or its handlers read by name says that it acts; else the console, doze inspect and DescribeConfigs
// call it one on which nothing depends.
func TestKeysThatAreReadAct(t *testing.T) {
	sources(t, func(dir string, f *ast.File, test bool) {
		if test || dir != "." && dir != "handlers" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok {
				return true
			}
			name, err := strconv.Unquote(literal.Value)
			if d, known := configs.BrokerKeys.Lookup(name); err == nil && known && !d.Acts && keptKeys[name] == "" {
				t.Errorf("%s is read in %s, and configs/table_broker.go does not say that it acts", name, dir)
			}
			return true
		})
	})
}

func TestBrokerKeysThatAct(t *testing.T) {
	for name, want := range map[string]bool{
		"super.users": true, "allow.everyone.if.no.acl.found": true, "ssl.keystore.location": true, "num.io.threads": false, "my.own": false,
		"listener.name.a.ssl.keystore.location": true, "listener.name.a.plain.sasl.jaas.config": true, "listener.name.a.num.io.threads": false,
	} {
		if configs.BrokerKeyActs(name) != want {
			t.Errorf("%s acts: %t", name, !want)
		}
	}
}
