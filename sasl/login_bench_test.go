package sasl

import (
	"testing"
	"time"
)

// BenchmarkLogin shows the broker's work for known and unknown users side by side; each login has a wrong password.
func BenchmarkLogin(b *testing.B) {
	plain := NewPlain(map[string]string{"alice": "pencil"})
	for _, name := range []string{"alice", "carol"} {
		b.Run("PLAIN/"+name, func(b *testing.B) {
			for b.Loop() {
				_, _, _ = plain.Begin().Step(time.Time{}, []byte("\x00"+name+"\x00wrong"))
			}
		})
	}
	for _, h := range Hashes {
		user, err := h.OfUser("pencil", []byte("26 bytes of salt, as Kafka"), IterationsMin, Identity{Principal: "User:alice"})
		if err != nil {
			b.Fatal(err)
		}
		s := &SCRAM{Hash: h, Users: func(name string) (Credential, bool) { return user, name == "alice" }}
		for _, name := range []string{"alice", "carol"} {
			b.Run(h.Mechanism()+"/"+name, func(b *testing.B) { benchmarkSCRAM(b, s, "n="+name+",r=abc") })
		}
	}
}

func benchmarkSCRAM(b *testing.B, s *SCRAM, bare string) {
	for b.Loop() {
		x := s.Begin()
		server, _, err := x.Step(time.Time{}, []byte("n,,"+bare))
		if err != nil {
			b.Fatal(err)
		}
		nonce := server[:len("r=abc")+26]
		proof := "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="
		if s.Hash == SHA512 {
			proof = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQQ=="
		}
		if _, who, err := x.Step(time.Time{}, []byte("c=biws,"+string(nonce)+",p="+proof)); err == nil || who != nil {
			b.Fatal("let in")
		}
	}
}
