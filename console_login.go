package doze

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"doze/console"
	"doze/registry"
	"doze/sasl"
)

// maxTraceHeaderName bounds the name of a header that is looked for in every message.
const maxTraceHeaderName = 256

// checkConsoleOptions says what is wrong with what the console is to do, wherever it listens.
func (o Options) checkConsoleOptions() error {
	for _, name := range o.ConsoleTraceHeaders {
		if strings.TrimSpace(name) == "" || len(name) > maxTraceHeaderName {
			return fmt.Errorf("the console's trace header %.40q is no name of a header; give one of at most %d bytes", name, maxTraceHeaderName)
		}
	}
	if !o.ConsoleLogin || o.passwordsOpen() {
		return nil
	}
	if !o.logins() {
		return errors.New("the console is to ask for a login (--console-login), and no listener has users; " +
			"name some with --user or --user-file, or leave the console's login out")
	}
	return errors.New("the console is to ask for a login (--console-login), which takes a password, and nobody has one that opens a listener; " +
		"name users with --user or --user-file, or leave the console's login out")
}

// passwordsOpen says whether somebody may have a password: a user, or one that a client sets later (SCRAM).
func (o Options) passwordsOpen() bool {
	if !o.logins() {
		return false
	}
	if len(o.Users) > 0 {
		return true
	}
	return slices.ContainsFunc(o.Listeners, func(l Listener) bool {
		if !o.asksForLogin(l) {
			return false
		}
		mechanisms := o.mechanismsOf(l)
		users, err := o.plainUsers(l)
		return err == nil && len(users) > 0 && slices.Contains(mechanisms, "PLAIN") ||
			slices.ContainsFunc(sasl.Hashes, func(h sasl.Hash) bool { return slices.Contains(mechanisms, h.Mechanism()) })
	})
}

// consoleLogin lets users into the console; nil: it asks nobody who he is. Who logs in reaches the broker as himself, so that ACLs
// and quotas hold for him there as everywhere.
func (b *Broker) consoleLogin() (*console.Login, error) {
	if !b.opt.ConsoleLogin {
		return nil, nil
	}
	known, err := b.newPasswords()
	if err != nil {
		return nil, err
	}
	lifetime, err := b.opt.consoleLifetime()
	return &console.Login{
		Fits:     func(_ context.Context, user, password string) (bool, error) { return known.fit(user, password), nil },
		Delay:    time.Duration(b.static.Int("connection.failed.authentication.delay.ms")) * time.Millisecond,
		Lifetime: lifetime,
		Dial: func(user string, from net.Addr) func(context.Context, string, string) (net.Conn, error) {
			return b.consolePipe.dialAs(sasl.UserPrincipal(user), from)
		},
		Registry: func(user string) http.Handler { return b.registryFor(sasl.UserPrincipal(user)) },
	}, err
}

// consoleLifetime is the shortest session of a listener's logins; 0: they last for ever.
func (o Options) consoleLifetime() (time.Duration, error) {
	var shortest time.Duration
	for _, l := range o.Listeners {
		if !o.asksForLogin(l) {
			continue
		}
		for _, m := range o.mechanismsOf(l) {
			d, err := o.maxReauth(l, m)
			if err != nil {
				return 0, err
			}
			if d > 0 && (shortest == 0 || d < shortest) {
				shortest = d
			}
		}
	}
	return shortest, nil
}

// registryFor is the schema registry within the process, for a principal; nil: there is none. Empty: the console itself.
func (b *Broker) registryFor(principal string) http.Handler {
	if b.registryListener == nil {
		return nil
	}
	o := registry.Options{Store: b.store, Report: func(err error) { b.opt.Logger.Error("the schema registry, of the console", "error", err) }}
	if principal != "" {
		o.Authenticate = func(*http.Request) (string, bool) { return principal, true }
	}
	return registry.New(o)
}
