package doze

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"doze/configs"
)

const (
	unixPrefix   = "unix:"
	unixPathMax  = 103 // what every system takes
	listenersMax = 64
)

// fillListeners settles the listeners from Listeners or the properties listeners and advertised.listeners, names them and
// checks their addresses.
func (o *Options) fillListeners() error {
	fromProperties, err := propertyListeners(o.Properties)
	switch {
	case err != nil:
		return err
	case len(o.Listeners) == 0:
		o.Listeners = fromProperties
	case o.Properties["listeners"] == "":
		if o.Listeners, err = withAdvertised(o.Listeners, o.Properties); err != nil {
			return err
		}
	case !slices.Equal(o.Listeners, fromProperties):
		return errors.New("the listeners are set twice, as options and by the property listeners; keep one")
	}
	if len(o.Listeners) == 0 {
		o.Listeners = []Listener{{Address: DefaultAddress}}
	}
	if len(o.Listeners) > listenersMax {
		return fmt.Errorf("%d listeners; at most %d can be opened", len(o.Listeners), listenersMax)
	}
	o.Listeners = slices.Clone(o.Listeners)
	return o.checkListeners()
}

// withAdvertised gives listeners the addresses of the property advertised.listeners: one that has a name that of its name, the
// others one each in order, with its name.
func withAdvertised(listeners []Listener, p map[string]string) ([]Listener, error) {
	all, err := parseListenerURLs("advertised.listeners", p["advertised.listeners"])
	if err != nil {
		return nil, err
	}
	controller := configs.Entries(p["controller.listener.names"])
	all = slices.DeleteFunc(all, func(l Listener) bool { return slices.Contains(controller, l.Name) })
	listeners = slices.Clone(listeners)
	for _, a := range all {
		i := slices.IndexFunc(listeners, func(l Listener) bool { return l.Name == a.Name })
		if i < 0 {
			i = slices.IndexFunc(listeners, func(l Listener) bool { return l.Name == "" })
		}
		if i < 0 {
			return nil, fmt.Errorf("property advertised.listeners has %s://%s, but no listener is left for it; name a listener for each, in the same order, or leave it out", a.Name, a.Address)
		}
		l := &listeners[i]
		if l.Advertise != "" && l.Advertise != a.Address {
			return nil, fmt.Errorf("listener %s is advertised twice, as %s and by property advertised.listeners as %s; keep one", l.Address, l.Advertise, a.Address)
		}
		l.Name, l.Advertise = a.Name, a.Address
		if err := checkProtocol(l.Name, p[protocolMap]); err != nil {
			return nil, err
		}
	}
	return listeners, nil
}

func (o *Options) checkListeners() error {
	var errs []error
	names, addresses := map[string]bool{}, map[string]bool{}
	for i := range o.Listeners {
		l := &o.Listeners[i]
		if l.Name == "" {
			l.Name = o.protocolOf(*l)
			if i > 0 {
				l.Name += "_" + strconv.Itoa(i+1)
			}
		}
		if names[l.Name] {
			errs = append(errs, fmt.Errorf("listener name %s is used twice; give each its own", l.Name))
		}
		if addresses[l.Address] && !strings.HasSuffix(l.Address, ":0") {
			errs = append(errs, fmt.Errorf("listener address %s is used twice; keep one", l.Address))
		}
		names[l.Name], addresses[l.Address] = true, true
		errs = append(errs, l.check(), o.checkMapped(*l))
	}
	return errors.Join(errs...)
}

// checkMapped refuses a protocol of the map of names that there is not: the listener would speak none, and ask for no login.
func (o *Options) checkMapped(l Listener) error {
	if p := o.protocolOf(l); l.Protocol == "" && !slices.Contains(protocols, p) {
		return fmt.Errorf("listener %s: property %s says %q of it, which is not one of %s; name one of these", l.Name, protocolMap, p, strings.Join(protocols, ", "))
	}
	return nil
}

func (l Listener) check() error {
	if l.Protocol != "" && !slices.Contains(protocols, l.Protocol) {
		return fmt.Errorf("listener %s: protocol %q is not one of %s; name one of these", l.Address, l.Protocol, strings.Join(protocols, ", "))
	}
	if path, ok := strings.CutPrefix(l.Address, unixPrefix); ok {
		if path == "" || len(path) > unixPathMax {
			return fmt.Errorf("listener address %q: a socket's path has 1 to %d bytes; choose a shorter one", l.Address, unixPathMax)
		}
	} else if err := checkHostPort("listener address", l.Address); err != nil {
		return err
	}
	if l.Advertise == "" {
		return nil
	}
	if err := checkHostPort("advertised address", l.Advertise); err != nil {
		return err
	}
	host, port, _ := net.SplitHostPort(l.Advertise)
	if host == "" || host == "0.0.0.0" || host == "::" || port == "0" {
		return fmt.Errorf("advertised address %q is nothing that a client can connect to; name a host and a port", l.Advertise)
	}
	return nil
}

// propertyListeners reads Kafka's listener properties: NAME://HOST:PORT,... A controller's listener is left out, for doze has
// no controller apart.
func propertyListeners(p map[string]string) ([]Listener, error) {
	listening, err := parseListenerURLs("listeners", p["listeners"])
	if err != nil {
		return nil, err
	}
	advertised, err := parseListenerURLs("advertised.listeners", p["advertised.listeners"])
	if err != nil {
		return nil, err
	}
	if len(listening) == 0 && len(advertised) > 0 {
		// Kafka listens on the port of its default, on all interfaces, when only the advertised address is given.
		listening = []Listener{{Name: advertised[0].Name, Address: ":9092"}}
	}
	controller := configs.Entries(p["controller.listener.names"])
	listening = slices.DeleteFunc(listening, func(l Listener) bool { return slices.Contains(controller, l.Name) })
	for i := range listening {
		if err := checkProtocol(listening[i].Name, p[protocolMap]); err != nil {
			return nil, err
		}
		for _, a := range advertised {
			if a.Name == listening[i].Name {
				listening[i].Advertise = a.Address
			}
		}
	}
	return listening, nil
}

func parseListenerURLs(property, value string) ([]Listener, error) {
	var all []Listener
	for _, entry := range configs.Entries(value) {
		name, address, ok := strings.Cut(entry, "://")
		if !ok || name == "" {
			return nil, fmt.Errorf("property %s: %q is not NAME://HOST:PORT; write it as PLAINTEXT://localhost:9092", property, entry)
		}
		if err := checkHostPort("property "+property+": address", address); err != nil {
			return nil, err
		}
		all = append(all, Listener{Name: strings.ToUpper(name), Address: address})
	}
	return all, nil
}

// checkProtocol refuses a listener of which nothing says what it speaks: neither its own name nor the map of names.
func checkProtocol(name, pairs string) error {
	protocol, said := mappedProtocol(pairs, name)
	if !said {
		protocol = name
	}
	if slices.Contains(protocols, protocol) {
		return nil
	}
	return fmt.Errorf("listener %s has no protocol; add %s:PLAINTEXT to listener.security.protocol.map, or SSL, SASL_PLAINTEXT or SASL_SSL in its place", name, name)
}
