package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/alecthomas/kong"

	"doze"
	"doze/names"
)

// envCmd takes those flags of serve that decide where clients connect.
type envCmd struct {
	Listen             []string `help:"As doze serve --listen." placeholder:"ADDR" sep:"none"`
	Name               string   `help:"As doze serve --name." placeholder:"NAME"`
	ZoneRoot           string   `hidden:"" help:"As doze serve --zone-root." placeholder:"DIR"`
	Advertise          []string `help:"As doze serve --advertise." placeholder:"HOST:PORT" sep:"none"`
	Set                []string `help:"As doze serve --set." placeholder:"NAME=VALUE" sep:"none"`
	Properties         []string `help:"As doze serve --properties." placeholder:"FILE" sep:"none"`
	Config             string   `help:"As doze serve --config." placeholder:"FILE"`
	SchemaRegistry     bool     `help:"As doze serve --schema-registry." negatable:""`
	SchemaRegistryAddr string   `help:"As doze serve --schema-registry-addr." placeholder:"HOST:PORT"`
	JSON               bool     `help:"Print a JSON object instead of lines for a shell." name:"json"`
}

// Help is shown below the flags.
func (*envCmd) Help() string {
	return `It reads flags, file and environment as doze serve does, and asks no broker.

Examples:
  eval "$(doze env)"
  doze env --listen 127.0.0.1:9192 --json`
}

// Run prints the variables.
func (c *envCmd) Run(kctx *kong.Context, p *process) error {
	// What an earlier eval of this command's own output set is not a setting of the broker.
	g, err := gather(kctx, p, c.Config)
	if err != nil {
		return usageError{err}
	}
	o, err := g.options(io.Discard)
	if err != nil {
		return usageError{nameDataDir(err, " with --data-dir")}
	}
	if found, err := zoneAt(c.ZoneRoot).Look(); err == nil && !g.saysWhere(o) && found.Covers(o.Name) {
		return printVariables(p.stdout, c.JSON, zoneVariables(o))
	}
	servers, err := bootstrapServers(o.Listeners)
	if err != nil {
		return err
	}
	return printVariables(p.stdout, c.JSON, clientVariables(servers, registryURL(o)))
}

type variable struct{ name, value string }

// clientVariables are what clients read: KAFKA_BOOTSTRAP_SERVERS is also Quarkus' own name, the SPRING_ ones are those of Spring
// Boot, the last one is that of Quarkus' connector. registry empty: there is none.
func clientVariables(servers, registry string) []variable {
	all := []variable{
		{"KAFKA_BOOTSTRAP_SERVERS", servers},
		{"SPRING_KAFKA_BOOTSTRAP_SERVERS", servers},
	}
	if registry == "" {
		return all
	}
	return append(all,
		variable{"SCHEMA_REGISTRY_URL", registry},
		variable{"SPRING_KAFKA_PROPERTIES_SCHEMA_REGISTRY_URL", registry},
		variable{"MP_MESSAGING_CONNECTOR_SMALLRYE_KAFKA_SCHEMA_REGISTRY_URL", registry})
}

// zoneVariables are those of a broker that has its name's address.
func zoneVariables(o doze.Options) []variable {
	host := o.Name + names.Suffix
	if o.SchemaRegistry == doze.DefaultSchemaRegistry {
		o.SchemaRegistry = fmt.Sprintf("%s:%d", host, names.RegistryPort)
	}
	registry := registryURL(o)
	return clientVariables(fmt.Sprintf("%s:%d", host, names.KafkaPort), registry)
}

// registryURL is where clients of this machine reach the registry; empty when there is none, or it is not known before it runs.
func registryURL(o doze.Options) string {
	address, secure := o.RegistryAddress()
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "0" {
		return ""
	}
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(localHost(host), port)
}

func printVariables(w io.Writer, asJSON bool, variables []variable) error {
	if !asJSON {
		for _, v := range variables {
			fmt.Fprintf(w, "export %s=%s\n", v.name, v.value)
		}
		return nil
	}
	object := map[string]string{}
	for _, v := range variables {
		object[v.name] = v.value
	}
	return json.NewEncoder(w).Encode(object)
}

var errNoTCP = errors.New("no listener has a TCP address; add --listen 127.0.0.1:9092")

// bootstrapServers is where clients of this machine reach the listeners.
func bootstrapServers(listeners []doze.Listener) (string, error) {
	var servers []string
	for _, l := range listeners {
		switch {
		case l.Advertise != "":
			servers = append(servers, l.Advertise)
		case strings.HasPrefix(l.Address, "unix:"):
		default:
			host, port, err := net.SplitHostPort(l.Address)
			if err != nil {
				return "", err
			}
			if port == "0" {
				return "", fmt.Errorf("listener %s takes a free port, which only the running broker knows; read it from its ready line", l.Address)
			}
			servers = append(servers, net.JoinHostPort(localHost(host), port))
		}
	}
	if len(servers) == 0 {
		return "", errNoTCP
	}
	return strings.Join(servers, ","), nil
}

// localHost is where a client of this machine reaches a listener of the host.
func localHost(host string) string {
	switch host {
	case "", "0.0.0.0":
		return "127.0.0.1"
	case "::":
		return "::1"
	}
	return host
}
