package console

import "strings"

// exact is a command as it is run here: with the addresses of the broker and of its registry, the topic that the page is about, and the
// file of the login where the broker asks for one (the overview shows it, for Java).
func (r *request) exact(command string) string {
	at := endpointFor(r)
	topic := r.PathValue("topic")
	if topic == "" {
		topic = "orders"
	}
	registry := strings.TrimSuffix(r.c.opt.Registry, "/")
	if registry == "" {
		registry = "http://localhost:8081"
	}
	command = strings.NewReplacer("HOST:PORT", at.Address, "TOPIC", topic, "REGISTRY", registry).Replace(command)
	switch {
	case command == "" || at.Protocol == "PLAINTEXT" || strings.Contains(command, "client.properties") || strings.HasPrefix(command, "curl "):
		return command
	case strings.HasPrefix(command, "kafka-"):
		return command + " --command-config client.properties"
	}
	return command + " --client-config client.properties"
}
