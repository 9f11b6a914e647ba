package shares

import (
	"math/rand/v2"
	"testing"
)

// FuzzEvents plays a sequence of what members, time and the log do, two bytes each, and holds every step to the model.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("\x00\x05\x02\x01\x06\x03\x09\x10\x0b\x01"))
	f.Add([]byte{0, 9, 2, 0, 10, 0, 2, 1, 6, 7, 11, 0, 2, 2, 9, 200, 2, 3, 6, 1})
	f.Fuzz(func(t *testing.T, steps []byte) {
		m := newModel(t, Limits{MaxDeliveries: 3, MaxInFlight: 30, LockMs: 10, Renew: true})
		held := map[string][]Range{}
		for len(steps) >= 2 && len(m.records) < 2000 {
			m.step(rand.New(rand.NewPCG(uint64(steps[0]), uint64(steps[1]))), held)
			steps = steps[2:]
		}
		m.drain()
	})
}

// FuzzAcks holds any acknowledgements, as the API lets them pass, to the model: taken whole or not at all.
func FuzzAcks(f *testing.F) {
	f.Add([]byte{0, 3, 1, 1, 4, 2, 2, 8, 3})
	f.Add([]byte{0, 0, 4, 0, 1, 2, 5, 9, 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := newModel(t, Limits{MaxDeliveries: 3, MaxInFlight: 100, LockMs: 10, Renew: true})
		for range 4 {
			m.append(3)
		}
		m.fetch("a", 6, 2, false)
		m.fetch("b", 3, 2, true)
		var all []Acks
		end := int64(0)
		for ; len(raw) >= 3; raw = raw[3:] {
			first := end + int64(raw[0]%8)
			a := Acks{First: first, Last: first + int64(raw[1]%8)}
			for i := range int64(1) + int64(raw[2]/128)*(a.Last-a.First) {
				a.Types = append(a.Types, Type((int64(raw[2])+i)%5))
			}
			end = a.Last
			all = append(all, a)
		}
		m.acknowledge("a", all)
		m.drain()
	})
}
