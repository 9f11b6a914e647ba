package conformance

import (
	"maps"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func oauthScenarios() []Scenario {
	of := func(name, claim string, signed bool, run func(c *C), more map[string]string) Scenario {
		s := Scenario{Name: "oauth-" + name, Claim: claim, Part: 4, Logins: true, SignedTokens: signed, Run: run}
		s.Set = map[string]string{}
		if !signed {
			s.Set = oauthUnsecured()
		}
		maps.Copy(s.Set, more)
		return s
	}
	scoped := map[string]string{oauthPrefix + "sasl.jaas.config": `org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required ` +
		`unsecuredLoginStringClaim_sub="x" unsecuredValidatorRequiredScope="read write" unsecuredValidatorScopeClaimName="scp" unsecuredValidatorPrincipalClaimName="who" unsecuredValidatorAllowableClockSkewMs="600000";`}
	strict := map[string]string{
		"sasl.oauthbearer.expected.audience": "broker,other", "sasl.oauthbearer.expected.issuer": "https://issuer",
		"sasl.oauthbearer.scope.claim.name": "scp", "sasl.oauthbearer.sub.claim.name": "who",
	}
	return []Scenario{
		of("messages", "What a first message of OAUTHBEARER may look like; a message after the error's JSON is refused.", false, runOAuthMessages, nil),
		of("unsecured", "Of an unsecured token the shape, the algorithm none, a principal and its times are checked.", false, runUnsecured, nil),
		of("unsecured-scope", "An unsecured token that lacks a required scope is refused with insufficient_scope.", false, runUnsecuredScope, scoped),
		of("signed", "Of a signed token the signature by a known key, times and subject are checked; the algorithm none is refused.", true, runSigned, nil),
		of("signed-strict", "Expected audience and issuer are compared; claims of other names are principal and scope.", true, runSignedStrict, strict),
		of("reauth", "A session ends with its token, and is renewed by another token of the same principal.", false, runOAuthReauth, nil),
	}
}

// tryBearer logs in with a message, sends the client's \x01 after an error's JSON, and a request after success.
func tryBearer(c *C, name, message string) {
	conn := c.LoginConn(name)
	conn.Do("handshake "+name, 1, handshake("OAUTHBEARER"))
	resp, _ := conn.Send(name, 2, token(message)).Await().(*kmsg.SASLAuthenticateResponse)
	switch {
	case resp == nil || resp.ErrorCode != 0:
	case len(resp.SASLAuthBytes) > 0:
		conn.Send("answer to the error "+name, 2, token("\x01")).Await()
	default:
		conn.Do("metadata "+name, 12, metadataFor("oauth-none"))
	}
	conn.Close()
}

func inSeconds(d time.Duration) int64 { return time.Now().Add(d).Unix() }

func plainToken() string {
	return unsigned(object{"alg": "none"}, object{"sub": "alice", "exp": inSeconds(time.Hour)})
}

func runOAuthMessages(c *C) {
	t := plainToken()
	for _, m := range []struct{ name, text string }{
		{"right", bearer(t)},
		{"authorization id", "n,a=alice,\x01auth=Bearer " + t + "\x01\x01"},
		{"other authorization id", "n,a=bob,\x01auth=Bearer " + t + "\x01\x01"},
		{"escaped authorization id", "n,a=b=2Cb,\x01auth=Bearer " + t + "\x01\x01"},
		{"bad escape", "n,a=b=3d,\x01auth=Bearer " + t + "\x01\x01"},
		{"empty authorization id", "n,a=,\x01auth=Bearer " + t + "\x01\x01"},
		{"extensions", "n,,\x01auth=Bearer " + t + "\x01key=value\x01other=a b=c\x01\x01"},
		{"extensions first", "n,,\x01key=value\x01auth=Bearer " + t + "\x01\x01"},
		{"extension twice", "n,,\x01auth=Bearer " + t + "\x01key=a\x01key=b\x01\x01"},
		{"bad extension name", "n,,\x01auth=Bearer " + t + "\x01k1=v\x01\x01"},
		{"empty extension", "n,,\x01auth=Bearer " + t + "\x01key=\x01\x01"},
		{"extension of Latin-1", "n,,\x01auth=Bearer " + t + "\x01key=\u00e4\x01\x01"},
		{"auth twice", "n,,\x01auth=Bearer x\x01auth=Bearer " + t + "\x01\x01"},
		{"no auth", "n,,\x01key=value\x01\x01"},
		{"nothing in it", "n,,\x01\x01"},
		{"lower case", "n,,\x01auth=bearer " + t + "\x01\x01"},
		{"many spaces", "n,,\x01auth=Bearer    " + t + "\x01\x01"},
		{"trailing space", "n,,\x01auth=Bearer " + t + " \x01\x01"},
		{"other scheme", "n,,\x01auth=Basic " + t + "\x01\x01"},
		{"no token", "n,,\x01auth=Bearer \x01\x01"},
		{"no scheme", "n,,\x01auth=" + t + "\x01\x01"},
		{"one end", "n,,\x01auth=Bearer " + t + "\x01"},
		{"more behind", bearer(t) + "x"},
		{"channel binding", "p=x,,\x01auth=Bearer " + t + "\x01\x01"},
		{"y", "y,,\x01auth=Bearer " + t + "\x01\x01"},
		{"only x01", "\x01"},
		{"empty", ""},
		{"padded token", bearer("abc==")},
		{"no dots", bearer("abc")},
	} {
		tryBearer(c, m.name, m.text)
	}
	conn := c.LoginConn("right after wrong")
	conn.Do("handshake again", 1, handshake("OAUTHBEARER"))
	conn.Do("wrong token", 2, token(bearer("abc")))
	conn.Do("right token", 2, token(bearer(t)))
	conn.Do("metadata", 12, metadataFor("oauth-none"))
	conn = c.LoginConn("wrong after wrong")
	conn.Do("handshake twice", 1, handshake("OAUTHBEARER"))
	conn.Do("wrong", 2, token(bearer("abc")))
	conn.Do("wrong again", 2, token(bearer("abc")))
	conn.Do("x01", 2, token("\x01"))
	raw := c.LoginConn("raw")
	raw.Do("handshake v0", 0, handshake("OAUTHBEARER"))
	raw.Do("headed message", 2, token(bearer(t)))
}

func runUnsecured(c *C) {
	none, exp := object{"alg": "none"}, inSeconds(time.Hour)
	right := object{"sub": "alice", "exp": exp}
	long := unsigned(none, object{"sub": "alice", "exp": exp, "x": strings.Repeat("x", 20000)})
	for _, m := range []struct{ name, token string }{
		{"right", unsigned(none, right)},
		{"with iat", unsigned(none, object{"sub": "alice", "exp": exp, "iat": inSeconds(-time.Minute)})},
		{"iat to come", unsigned(none, object{"sub": "alice", "exp": exp, "iat": inSeconds(time.Minute)})},
		{"exp before iat", unsigned(none, object{"sub": "alice", "exp": inSeconds(-2 * time.Minute), "iat": inSeconds(-time.Minute)})},
		{"expired", unsigned(none, object{"sub": "alice", "exp": inSeconds(-time.Second)})},
		{"exp of text", unsigned(none, object{"sub": "alice", "exp": "x"})},
		{"exp a fraction", unsigned(none, object{"sub": "alice", "exp": float64(exp) + 0.5})},
		{"iat of text", unsigned(none, object{"sub": "alice", "exp": exp, "iat": "x"})},
		{"no exp", unsigned(none, object{"sub": "alice"})},
		{"exp null", unsigned(none, object{"sub": "alice", "exp": nil})},
		{"no sub", unsigned(none, object{"exp": exp})},
		{"blank sub", unsigned(none, object{"sub": " ", "exp": exp})},
		{"sub a number", unsigned(none, object{"sub": 1, "exp": exp})},
		{"sub a list", unsigned(none, object{"sub": []string{"alice"}, "exp": exp})},
		{"sub true", unsigned(none, object{"sub": true, "exp": exp})},
		{"sub null", unsigned(none, object{"sub": nil, "exp": exp})},
		{"scope a number", unsigned(none, object{"sub": "alice", "exp": exp, "scope": 1})},
		{"nbf to come", unsigned(none, object{"sub": "alice", "exp": exp, "nbf": inSeconds(time.Hour)})},
		{"RS256", unsigned(object{"alg": "RS256"}, right)},
		{"None", unsigned(object{"alg": "None"}, right)},
		{"no alg", unsigned(object{}, right)},
		{"alg null", unsigned(object{"alg": nil}, right)},
		{"signature", unsigned(none, right) + "abc"},
		{"two dots", part(none) + ".." + part(right)},
		{"four parts", unsigned(none, right) + ".x"},
		{"two parts", part(none) + "." + part(right)},
		{"bad base64", part(none) + "." + part(right) + "~."},
		{"padding", part(none) + "." + part(right) + "==."},
		{"claims no JSON", unsigned(none, "x")},
		{"claims empty", unsigned(none, "")},
		{"claims a list", unsigned(none, "[]")},
		{"claims cut", unsigned(none, `{"sub":"alice"`)},
		{"more behind claims", unsigned(none, part(right)+`{"sub":"alice","exp":9999999999} x`)},
		{"claim twice", unsigned(none, `{"sub":"bob","sub":"alice","exp":9999999999}`)},
		{"long", long},
	} {
		tryBearer(c, m.name, bearer(m.token))
	}
}

func runUnsecuredScope(c *C) {
	none, exp := object{"alg": "none"}, inSeconds(time.Hour)
	for _, m := range []struct {
		name   string
		claims object
	}{
		{"list", object{"who": "alice", "exp": exp, "scp": []string{"write", "read", "more"}}},
		{"text", object{"who": "alice", "exp": exp, "scp": "read write"}},
		{"missing", object{"who": "alice", "exp": exp, "scp": []string{"read"}}},
		{"none", object{"who": "alice", "exp": exp}},
		{"sub only", object{"sub": "alice", "exp": exp, "scp": []string{"write", "read"}}},
		{"expired within the skew", object{"who": "alice", "exp": inSeconds(-time.Minute), "scp": []string{"write", "read"}}},
		{"expired beyond the skew", object{"who": "alice", "exp": inSeconds(-20 * time.Minute), "scp": []string{"write", "read"}}},
	} {
		tryBearer(c, m.name, bearer(unsigned(none, m.claims)))
	}
}

func runSigned(c *C) {
	k, err := keysOnce()
	if err != nil {
		c.Fatalf("make keys: %w", err)
	}
	rs, exp, iat := object{"alg": "RS256", "kid": "rsa"}, inSeconds(time.Hour), inSeconds(-time.Minute)
	right := object{"sub": "alice", "exp": exp, "iat": iat}
	good := k.signed(rs, right)
	for _, m := range []struct{ name, token string }{
		{"expired within the skew", k.signed(rs, object{"sub": "alice", "exp": inSeconds(-5 * time.Second), "iat": iat})},
		{"RS256", good},
		{"ES256", k.signed(object{"alg": "ES256", "kid": "ec"}, right)},
		{"no kid", k.signed(object{"alg": "RS256"}, right)},
		{"other kid", k.signed(object{"alg": "RS256", "kid": "x"}, right)},
		{"kid of the other key", k.signed(object{"alg": "RS256", "kid": "ec"}, right)},
		{"none", unsigned(object{"alg": "none"}, right)},
		{"none with a signature", unsigned(object{"alg": "none"}, right) + "abc"},
		{"HS256", k.signed(object{"alg": "HS256", "kid": "rsa"}, right)},
		{"no alg", k.signed(object{"kid": "rsa"}, right)},
		{"crit", k.signed(object{"alg": "RS256", "kid": "rsa", "crit": []string{"x"}, "x": 1}, right)},
		{"signature cut", good[:len(good)-8]},
		{"signature of another", good[:strings.LastIndex(good, ".")] + k.signed(rs, object{})[strings.LastIndex(k.signed(rs, object{}), "."):]},
		{"no signature", good[:strings.LastIndex(good, ".")+1]},
		{"two parts", good[:strings.LastIndex(good, ".")]},
		{"claims no JSON", k.signed(rs, "x")},
		{"expired", k.signed(rs, object{"sub": "alice", "exp": inSeconds(-40 * time.Second), "iat": iat})},
		{"nbf to come", k.signed(rs, object{"sub": "alice", "exp": exp, "iat": iat, "nbf": inSeconds(time.Hour)})},
		{"iat to come", k.signed(rs, object{"sub": "alice", "exp": exp, "iat": inSeconds(30 * time.Minute)})},
		{"no exp", k.signed(rs, object{"sub": "alice", "iat": iat})},
		{"no iat", k.signed(rs, object{"sub": "alice", "exp": exp})},
		{"exp of text", k.signed(rs, object{"sub": "alice", "exp": "x", "iat": iat})},
		{"exp a fraction", k.signed(rs, object{"sub": "alice", "exp": float64(exp) + 0.5, "iat": iat})},
		{"no sub", k.signed(rs, object{"exp": exp, "iat": iat})},
		{"blank sub", k.signed(rs, object{"sub": " ", "exp": exp, "iat": iat})},
		{"sub with spaces", k.signed(rs, object{"sub": " alice ", "exp": exp, "iat": iat})},
		{"sub a number", k.signed(rs, object{"sub": 1, "exp": exp, "iat": iat})},
		{"scope a number", k.signed(rs, object{"sub": "alice", "exp": exp, "iat": iat, "scope": 1})},
		{"scope twice", k.signed(rs, object{"sub": "alice", "exp": exp, "iat": iat, "scope": []string{"a", "a"}})},
		{"scope blank", k.signed(rs, object{"sub": "alice", "exp": exp, "iat": iat, "scope": ""})},
		{"audience", k.signed(rs, object{"sub": "alice", "exp": exp, "iat": iat, "aud": "x"})},
		{"issuer", k.signed(rs, object{"sub": "alice", "exp": exp, "iat": iat, "iss": "x"})},
		{"claim twice", k.signed(rs, `{"sub":"bob","sub":"alice","exp":9999999999,"iat":1}`)},
	} {
		tryBearer(c, m.name, bearer(m.token))
	}
}

func runSignedStrict(c *C) {
	k, err := keysOnce()
	if err != nil {
		c.Fatalf("make keys: %w", err)
	}
	base := func(more object) string {
		claims := object{"who": "alice", "exp": inSeconds(time.Hour), "iat": inSeconds(-time.Minute), "aud": "broker", "iss": "https://issuer", "scp": "x"}
		maps.Copy(claims, more)
		return k.signed(object{"alg": "RS256", "kid": "rsa"}, claims)
	}
	for _, m := range []struct {
		name string
		more object
	}{
		{"right", nil},
		{"audiences", object{"aud": []string{"x", "other"}}},
		{"other audience", object{"aud": "x"}},
		{"no audience", object{"aud": nil}},
		{"other issuer", object{"iss": "https://other"}},
		{"no issuer", object{"iss": nil}},
		{"no principal", object{"who": nil, "sub": "alice"}},
		{"scope with a blank", object{"scp": []string{"a", " "}}},
	} {
		tryBearer(c, m.name, bearer(base(m.more)))
	}
}

func runOAuthReauth(c *C) {
	tokenOf := func(sub string, d time.Duration) string {
		return bearer(unsigned(object{"alg": "none"}, object{"sub": sub, "exp": float64(time.Now().Add(d).UnixMilli()) / 1000}))
	}
	login := func(name string, d time.Duration) *Conn {
		conn := c.LoginConn(name)
		conn.Do("handshake "+name, 1, handshake("OAUTHBEARER"))
		conn.Send("login "+name, 2, token(tokenOf("alice", d))).Only("ErrorCode", "ErrorMessage", "SASLAuthBytes").Await()
		return conn
	}
	a := login("short", 3*time.Second)
	a.Do("in time", 12, metadataFor("oauth-none"))
	time.Sleep(3300 * time.Millisecond)
	a.Do("too late", 12, metadataFor("oauth-none"))
	b := login("renewed", 3*time.Second)
	time.Sleep(3300 * time.Millisecond)
	b.Do("handshake again", 1, handshake("OAUTHBEARER"))
	b.Send("login again", 2, token(tokenOf("alice", time.Hour))).Await()
	b.Do("metadata", 12, metadataFor("oauth-none"))
	d := login("as another", time.Hour)
	d.Do("handshake of another", 1, handshake("OAUTHBEARER"))
	d.Do("login of another", 2, token(tokenOf("bob", time.Hour)))
	e := login("wrong", time.Hour)
	e.Do("handshake of wrong", 1, handshake("OAUTHBEARER"))
	e.Do("login of wrong", 2, token(tokenOf("alice", -time.Hour)))
	e.Do("x01", 2, token("\x01"))
}
