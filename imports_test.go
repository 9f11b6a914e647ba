package doze_test

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is the import table of ARCHITECTURE.md: what a package of the product may import of this module, and which
// modules of others. Tests may import more; sub-packages count as their package unless they are listed.
var mayImport = map[string]struct{ own, others []string }{
	"disk":    {nil, []string{"golang.org/x/sys"}},
	"configs": {nil, nil},
	"fixtures": {
		[]string{"configs", "registry/serde"},
		[]string{"go.yaml.in/yaml/v3", "github.com/twmb/franz-go/pkg/kgo", "github.com/twmb/franz-go/pkg/kadm", "github.com/twmb/franz-go/pkg/kmsg", "github.com/twmb/franz-go/pkg/kerr"},
	},
	"names":          {[]string{"disk"}, []string{"golang.org/x/net/dns/dnsmessage"}},
	"assignors":      {nil, nil},
	"journal":        {[]string{"disk"}, []string{"github.com/vmihailenco/msgpack"}},
	"projections":    {[]string{"acls", "journal"}, []string{"github.com/google/btree"}},
	"segments":       {[]string{"disk"}, []string{"github.com/klauspost/compress", "github.com/pierrec/lz4"}},
	"wire":           {nil, []string{"github.com/twmb/franz-go/pkg/kmsg"}},
	"shares":         {nil, nil},
	"acls":           {nil, nil},
	"certs":          {nil, []string{"software.sslmate.com/src/go-pkcs12"}},
	"quotas":         {nil, nil},
	"console/inside": {nil, nil},
	"clientmetrics":  {[]string{"console/inside", "handlers"}, []string{"go.opentelemetry.io/proto/otlp"}},
	"timeline":       {[]string{"console/inside", "disk", "journal", "projections"}, []string{"github.com/twmb/franz-go/pkg/kmsg"}},
	"traffic":        {[]string{"console/inside", "wire"}, []string{"github.com/twmb/franz-go/pkg/kmsg"}},
	"handlers":       {[]string{"acls", "assignors", "configs", "credentials", "journal", "projections", "quotas", "sasl", "segments", "shares", "wire"}, []string{"github.com/twmb/franz-go/pkg/kmsg", "go.opentelemetry.io/proto/otlp", "google.golang.org/protobuf"}},
	"sasl":           {nil, []string{"github.com/golang-jwt/jwt/v5", "github.com/xdg-go/stringprep"}},
	"credentials":    {[]string{"disk"}, nil},
	"replay":         {[]string{"disk", "journal", "projections", "segments"}, []string{"github.com/twmb/franz-go/pkg/kmsg"}},
	"wire/httpguard": {nil, nil},
	"registry": {
		[]string{"journal", "projections", "wire/httpguard"}, []string{"github.com/bufbuild/protocompile", "google.golang.org/protobuf"},
	},
	"registry/serde": {
		[]string{"registry"}, []string{"github.com/twmb/avro", "google.golang.org/protobuf"},
	},
	"console": {
		[]string{"console/inside", "registry/serde", "wire/httpguard"},
		[]string{
			"cel.dev/cel-go", "github.com/fxamacker/cbor/v2", "github.com/twmb/franz-go/pkg/kadm", "github.com/twmb/franz-go/pkg/kerr",
			"github.com/twmb/franz-go/pkg/kgo", "github.com/twmb/franz-go/pkg/kmsg", "github.com/twmb/franz-go/pkg/kversion", "github.com/twmb/franz-go/pkg/sr",
		},
	},
	".": {[]string{"acls", "certs", "clientmetrics", "configs", "console", "console/inside", "credentials", "disk", "handlers", "journal", "projections", "quotas", "registry", "replay", "sasl", "segments", "timeline", "traffic", "wire", "wire/httpguard"}, []string{"github.com/twmb/franz-go/pkg/kmsg"}},
	"cmd/doze": {
		[]string{".", "acls", "certs", "configs", "console", "disk", "fixtures", "journal", "names", "projections", "replay", "sasl", "segments", "wire/httpguard"},
		[]string{
			"github.com/alecthomas/kong", "github.com/BurntSushi/toml", "github.com/vmihailenco/msgpack",
			"github.com/twmb/franz-go/pkg/kgo", "github.com/twmb/franz-go/pkg/kadm", "github.com/twmb/franz-go/pkg/kmsg", "github.com/twmb/franz-go/pkg/kerr",
			"github.com/twmb/franz-go/pkg/sasl", "golang.org/x/sys",
		},
	},
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	seen := map[string]bool{}
	sources(t, func(dir string, f *ast.File, test bool) {
		pkg := ownPackage(dir)
		if pkg == "" || test {
			return
		}
		seen[pkg] = true
		rule, known := mayImport[pkg]
		if !known {
			t.Errorf("package %s is not in the import table", dir)
			return
		}
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if !allowed(pkg, imported, rule.own, rule.others) {
				t.Errorf("%s imports %s, which the import table does not allow", dir, imported)
			}
		}
	})
	for pkg := range mayImport {
		if !seen[pkg] {
			t.Errorf("the import table has %s, which is not there", pkg)
		}
	}
}

// ownPackage is the table's row for a directory; "" for what the table does not rule.
func ownPackage(dir string) string {
	switch {
	case dir == "." || dir == "cmd/doze" || dir == "wire/httpguard" || dir == "registry/serde" || dir == "console/inside":
		return dir
	case strings.HasPrefix(dir, "conformance"):
		return ""
	}
	first, _, _ := strings.Cut(dir, "/")
	return first
}

func allowed(pkg, imported string, own, others []string) bool {
	if imported == "doze" {
		return slices.Contains(own, ".")
	}
	if rest, ours := strings.CutPrefix(imported, "doze/"); ours {
		name := ownPackage(rest)
		return name == pkg || slices.Contains(own, name)
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(others, func(module string) bool {
		return imported == module || strings.HasPrefix(imported, module+"/") || path.Dir(imported) == module
	})
}
