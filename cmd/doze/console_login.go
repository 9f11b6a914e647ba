package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"doze/console"
)

// consoleLoginDelay is how long a wrong password is held back, beside what the broker does about it.
const consoleLoginDelay = time.Second

// nobody stands for the user where each session has one of its own.
const nobody = "nobody"

// place is where the console goes. With a login of its users it has none itself.
func (c *consoleCmd) place(p *process) (endpoint, error) {
	flags := c.clientFlags
	if !c.ConsoleLogin {
		return flags.find(p)
	}
	if flags.Username != "" || flags.Password != "" || flags.PasswordFile != "" {
		return endpoint{}, usageError{errors.New("--console-login has everybody log in as himself; leave --username and the password out")}
	}
	flags.Username, flags.Password = nobody, nobody
	at, err := flags.find(p)
	if err != nil {
		return at, err
	}
	if _, err := loginBy(at.security.mechanism, scram.Auth{}); err != nil {
		return at, usageError{errors.New("--console-login takes names and passwords; add --sasl-mechanism PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512, as the broker has it")}
	}
	return at, nil
}

// consoleLogin lets in whom the broker lets in, and has the console be him there.
func (at endpoint) consoleLogin() *console.Login {
	return &console.Login{
		Fits:  at.letsIn,
		Delay: consoleLoginDelay,
		As: func(user, password string) ([]kgo.Opt, http.RoundTripper) {
			as := at.as(user, password)
			return as.security.loginOptions(), as.registry.roundTripper()
		},
	}
}

// as is the same place for a user. The registry gets his password only where the properties say that it takes the broker's
// (SASL_INHERIT): it may be anybody's.
func (at endpoint) as(user, password string) endpoint {
	at.security.login, _ = loginBy(at.security.mechanism, scram.Auth{User: user, Pass: password}) // place has tried the mechanism
	if at.registry.user == nobody {
		at.registry.user, at.registry.password = user, password
	}
	return at
}

// letsIn asks the broker; the error is that it did not say.
func (at endpoint) letsIn(ctx context.Context, user, password string) (bool, error) {
	client, err := at.as(user, password).client(ctx)
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return false, nil
	case err != nil:
		return false, err
	}
	client.Close()
	return true, nil
}
