package sasl

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"
)

var decoy = Decoy{1, 2, 3}

// scramFor is a mechanism with one user, alice, and one token.
func scramFor(t *testing.T, h Hash, password string) *SCRAM {
	t.Helper()
	user, err := h.OfUser(password, []byte("some salt"), 4096, Identity{Principal: "User:al=ice,"})
	if err != nil {
		t.Fatal(err)
	}
	token, err := h.OfUser("token-secret", []byte("other salt"), 4096, Identity{Principal: "User:bob", ByToken: true})
	if err != nil {
		t.Fatal(err)
	}
	return &SCRAM{
		Hash: h, Decoy: decoy,
		Users:  func(name string) (Credential, bool) { return user, name == "al=ice," },
		Tokens: func(name string) (Credential, bool) { return token, name == "token-1" },
	}
}

// login plays the client: first message, change the final one, give what came of it.
func login(t *testing.T, s *SCRAM, bare, password string, change func(string) string) (*Identity, error) {
	t.Helper()
	x := s.Begin()
	server, who, err := x.Step(time.Time{}, []byte("n,,"+bare))
	if err != nil || who != nil {
		return who, err
	}
	final, err := s.Hash.ClientProof(password, bare, string(server))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		final = change(final)
	}
	answer, who, err := x.Step(time.Time{}, []byte(final))
	if err == nil && !strings.HasPrefix(string(answer), "v=") {
		t.Errorf("the last answer is %q", answer)
	}
	return who, err
}

func TestSCRAM(t *testing.T) {
	for _, h := range Hashes {
		t.Run(h.Mechanism(), func(t *testing.T) {
			s := scramFor(t, h, "pencil")
			who, err := login(t, s, "n=al=3Dice=2C,r=abc", "pencil", nil)
			if err != nil || who.Principal != "User:al=ice," || who.ByToken {
				t.Fatalf("the right password: %v, %v", who, err)
			}
			if who, err = login(t, s, "n=token-1,r=abc,tokenauth=true", "token-secret", nil); err != nil || !who.ByToken {
				t.Fatalf("the right token: %v, %v", who, err)
			}
			wrong := []struct {
				what, bare, password string
				change               func(string) string
			}{
				{"wrong password", "n=al=3Dice=2C,r=abc", "Pencil", nil},
				{"unknown user", "n=carol,r=abc", "pencil", nil},
				{"token as user", "n=token-1,r=abc", "token-secret", nil},
				{"user as token", "n=al=3Dice=2C,r=abc,tokenauth=true", "pencil", nil},
				{"other nonce", "n=al=3Dice=2C,r=abc", "pencil", func(s string) string { return strings.Replace(s, "r=abc", "r=abd", 1) }},
				{"other channel binding", "n=al=3Dice=2C,r=abc", "pencil", func(s string) string { return strings.Replace(s, "c=biws", "c=eSws", 1) }},
				{"short proof", "n=al=3Dice=2C,r=abc", "pencil", func(s string) string { return s[:strings.Index(s, ",p=")] + ",p=AAAA" }},
				{"no proof", "n=al=3Dice=2C,r=abc", "pencil", func(s string) string { return s[:strings.Index(s, ",p=")] }},
			}
			for _, c := range wrong {
				if who, err := login(t, s, c.bare, c.password, c.change); err == nil || who != nil {
					t.Errorf("%s: let in as %v", c.what, who)
				}
			}
		})
	}
}

// A client that prepares passwords and one that does not may both log in.
func TestSCRAMWithAPasswordThatIsPrepared(t *testing.T) {
	s := scramFor(t, SHA256, "pass\u00adword") // SASLprep takes the soft hyphen away
	for _, sent := range []string{"pass\u00adword", "password"} {
		if who, err := login(t, s, "n=al=3Dice=2C,r=abc", sent, nil); err != nil || who == nil {
			t.Errorf("password %q: %v", sent, err)
		}
	}
}

// Messages of one exchange do not fit another: nothing can be replayed, nothing swapped.
func TestSCRAMReplayedAndSwapped(t *testing.T) {
	s := scramFor(t, SHA256, "pencil")
	first := []byte("n,,n=al=3Dice=2C,r=abc")
	a, b := s.Begin(), s.Begin()
	serverA, _, _ := a.Step(time.Time{}, first)
	if _, _, err := b.Step(time.Time{}, first); err != nil {
		t.Fatal(err)
	}
	final, err := SHA256.ClientProof("pencil", string(first[3:]), string(serverA))
	if err != nil {
		t.Fatal(err)
	}
	if _, who, err := b.Step(time.Time{}, []byte(final)); err == nil {
		t.Errorf("a message of another exchange lets %v in", who)
	}
	if _, who, err := a.Step(time.Time{}, []byte(final)); err != nil || who == nil {
		t.Fatalf("its own exchange: %v", err)
	}
	if _, who, err := a.Step(time.Time{}, []byte(final)); err == nil {
		t.Errorf("the same message again lets %v in", who)
	}
	c := s.Begin()
	if _, who, err := c.Step(time.Time{}, []byte(final)); err == nil {
		t.Errorf("the last message first: %v", who)
	}
}

func TestSCRAMDecoyIsStable(t *testing.T) {
	s := scramFor(t, SHA256, "pencil")
	salt := func(name string) string {
		answer, _, err := s.Begin().Step(time.Time{}, []byte("n,,n="+name+",r=abc"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(answer), ",")[1]
	}
	if first := salt("carol"); first != salt("carol") || first == salt("dave") {
		t.Error("the salt of an unknown name changes, or is that of another")
	}
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(salt("carol"), "s="))
	if err != nil || len(b) != 26 {
		t.Errorf("salt %q, %v", b, err)
	}
}

func TestSCRAMFirstMessages(t *testing.T) {
	good := []string{
		"n,,n=a,r=b", "n,a=a,n=a,r=b", "n,,m=x,n=a,r=b", "n,,n=a,r=b,x=y=z,tokenauth=TRUE", "n,,n=a b\x7f,r=~!",
	}
	for _, m := range good {
		if _, err := parseClientFirst([]byte(m)); err != nil {
			t.Errorf("%q is refused", m)
		}
	}
	bad := []string{
		"", "n", "n,", "n,,", "y,,n=a,r=b", "p=x,,n=a,r=b", "n,n=a,r=b", "n,b=a,n=a,r=b", "n,a=,n=a,r=b", "n,,n=,r=b", "n,,n=a,r=",
		"n,,n=a=,r=b", "n,,n=a=2c,r=b", "n,,n=\u00e4,r=b", "n,,n=a,r=b c", "n,,n=a,r=b,", "n,,n=a,r=b,x", "n,,n=a,r=b,1=x", "n,,n=a,r=b,x=",
		"n,,r=b,n=a", "n,,n=a\x00,r=b", "n,,n=a,r=" + strings.Repeat("b", 4096),
	}
	for _, m := range bad {
		if _, err := parseClientFirst([]byte(m)); err == nil {
			t.Errorf("%q is taken", m)
		}
	}
}

func TestSCRAMOtherAuthorization(t *testing.T) {
	s := scramFor(t, SHA256, "pencil")
	for _, name := range []string{"al=3Dice=2C", "carol"} {
		_, _, err := s.Begin().Step(time.Time{}, []byte("n,a=dave,n="+name+",r=abc"))
		var told *Refusal
		if !errors.As(err, &told) {
			t.Errorf("%s asks to be dave: %v", name, err)
		}
	}
}
