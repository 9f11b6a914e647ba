package doze

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"doze/configs"
	"doze/sasl"
)

const mechanismOAuth = "OAUTHBEARER"

// The classes by whose names Kafka, and doze, is told to take tokens that nobody has signed, or those that somebody has.
const (
	unsecuredHandler = "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
	signedHandler    = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
	oldSignedHandler = "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerValidatorCallbackHandler" // before Kafka 4
)

const jwksProperty = "sasl.oauthbearer.jwks.endpoint.url"

// errNoTokenCheck: Kafka would take unsecured tokens, doze does so when it is told to.
var errNoTokenCheck = errors.New("mechanism OAUTHBEARER has nothing to check tokens by; name a set of keys (--oauth-jwks FILE|URL), or for development take tokens that nobody has signed (--oauth-unsecured)")

// oauthSigned says whether the listener's tokens are signed; an error when nothing says how they are checked.
func (o Options) oauthSigned(l Listener) (bool, error) {
	handler, keys := o.ofMechanism(l, mechanismOAuth, "sasl.server.callback.handler.class"), o.ofMechanism(l, mechanismOAuth, jwksProperty)
	switch handler {
	case unsecuredHandler:
		return false, nil
	case "", signedHandler, oldSignedHandler:
	default:
		return false, fmt.Errorf("listener %s: property oauthbearer.sasl.server.callback.handler.class names %s, which doze does not have; name %s, or leave it out", l.Name, handler, signedHandler)
	}
	switch {
	case o.OAuthUnsecured && keys != "":
		return false, fmt.Errorf("listener %s: tokens cannot be signed by %s and by nobody; give --oauth-jwks or --oauth-unsecured, not both", l.Name, keys)
	case o.OAuthUnsecured, keys != "":
		return keys != "", nil
	}
	return false, fmt.Errorf("listener %s: %w", l.Name, errNoTokenCheck)
}

// takesUnsigned says whether anybody may log in to the listener as whom he likes.
func (o Options) takesUnsigned(l Listener) bool {
	if !o.asksForLogin(l) || !slices.Contains(o.mechanismsOf(l), mechanismOAuth) {
		return false
	}
	signed, err := o.oauthSigned(l)
	return err == nil && !signed
}

// oauth makes the mechanism of a listener. The registry takes its tokens too.
func (b *Broker) oauth(l Listener) (sasl.Mechanism, error) {
	validator, err := b.tokenValidator(l)
	if err != nil {
		return nil, err
	}
	m := &sasl.OAuthBearer{Validator: validator}
	b.bearers = append(b.bearers, m)
	return m, nil
}

func (b *Broker) tokenValidator(l Listener) (sasl.TokenValidator, error) {
	signed, err := b.opt.oauthSigned(l)
	if err != nil {
		return nil, err
	}
	if !signed {
		b.opt.Logger.Warn("tokens that nobody has signed let anybody in as whom they like: for development only", "listener", l.Name)
		return b.opt.unsecuredTokens(l)
	}
	keys, err := b.tokenKeys(l)
	if err != nil {
		return nil, fmt.Errorf("listener %s: keys of tokens: %w", l.Name, err)
	}
	of := func(name string) string { return b.opt.ofMechanism(l, mechanismOAuth, "sasl.oauthbearer."+name) }
	skew, err := b.opt.oauthNumber(l, "clock.skew.seconds", 30)
	return &sasl.SignedTokens{
		Keys: keys, Audiences: configs.Entries(of("expected.audience")), Issuer: of("expected.issuer"),
		ScopeClaim: of("scope.claim.name"), SubClaim: of("sub.claim.name"), ClockSkew: time.Duration(skew) * time.Second,
	}, err
}

func (o Options) oauthNumber(l Listener, name string, otherwise int64) (int64, error) {
	text := strings.TrimSpace(o.ofMechanism(l, mechanismOAuth, "sasl.oauthbearer."+name))
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > int64(1<<62/time.Second) {
		return 0, fmt.Errorf("listener %s: property sasl.oauthbearer.%s is %q; give it a number", l.Name, name, text)
	}
	return n, nil
}

// tokenKeys opens the set of keys that the operator named: a file, or a URL that is fetched now and again.
func (b *Broker) tokenKeys(l Listener) (sasl.KeySource, error) {
	text := b.opt.ofMechanism(l, mechanismOAuth, jwksProperty)
	report := func(err error) { b.opt.Logger.Error("keys of tokens", "listener", l.Name, "error", err) }
	if !strings.Contains(text, "://") {
		return sasl.OpenKeyFile(text, report)
	}
	at, err := url.Parse(text)
	switch {
	case err != nil: // it is not repeated, for it may have a password
		return nil, fmt.Errorf("property %s is no URL; name a file, or an http or https URL", jwksProperty)
	case at.Scheme == "file":
		return sasl.OpenKeyFile(filepath.FromSlash(at.Path), report)
	case at.Scheme != "http" && at.Scheme != "https":
		return nil, fmt.Errorf("%s:// is neither a file nor an http or https URL; name one of these", at.Scheme)
	case at.User != nil:
		return nil, errors.New("the URL has a user, whom Kafka passes over and DescribeConfigs would show; name one without, which public keys do not need")
	}
	var of [3]time.Duration
	for i, n := range []struct {
		name      string
		otherwise int64
	}{{"refresh.ms", 3_600_000}, {"retry.backoff.ms", 100}, {"retry.backoff.max.ms", 10_000}} {
		ms, err := b.opt.oauthNumber(l, "jwks.endpoint."+n.name, n.otherwise)
		if err != nil {
			return nil, err
		}
		of[i] = time.Duration(max(ms, 1)) * time.Millisecond
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.onClose(func() error { cancel(); return nil })
	return sasl.OpenKeyURL(ctx, text, of[0], of[1], of[2], report)
}

// unsecuredTokens reads the options of Kafka's validator from the listener's JAAS text.
func (o Options) unsecuredTokens(l Listener) (*sasl.UnsecuredTokens, error) {
	options, err := sasl.ParseJAAS(o.ofMechanism(l, mechanismOAuth, "sasl.jaas.config"))
	if err != nil {
		return nil, fmt.Errorf("listener %s: property oauthbearer.sasl.jaas.config: %w", l.Name, err)
	}
	t := &sasl.UnsecuredTokens{
		PrincipalClaim: options["unsecuredValidatorPrincipalClaimName"], ScopeClaim: options["unsecuredValidatorScopeClaimName"],
		RequiredScope: strings.Fields(options["unsecuredValidatorRequiredScope"]),
	}
	if skew := strings.TrimSpace(options["unsecuredValidatorAllowableClockSkewMs"]); skew != "" {
		ms, err := strconv.ParseInt(skew, 10, 32)
		if err != nil || ms < 0 {
			return nil, fmt.Errorf("listener %s: unsecuredValidatorAllowableClockSkewMs is %q; give it a number of milliseconds", l.Name, skew)
		}
		t.ClockSkew = time.Duration(ms) * time.Millisecond
	}
	return t, nil
}
