package kill

import "testing"

// A good history of transactions has no fault, and every way of spoiling it is found.
func TestTheJudgeOfTransactionsFindsEverySpoiledHistory(t *testing.T) {
	p, c := partition{plainTopic, 0}, partition{compactTopic, 1}
	good := func() (*txnHistory, map[partition][]stored) {
		h := newTxnHistory()
		add := func(worker, number int, how outcome, offset int64) {
			sent := h.begin(worker, number)
			h.acked(sent, h.value(sent, p, ""), offset)
			h.acked(sent, h.value(sent, p, ""), offset+1)
			h.acked(sent, h.value(sent, c, "k"), offset)
			h.ended(sent, how)
		}
		add(0, 0, committed, 0)
		add(0, 1, aborted, 10)
		add(0, 2, committed, 20)
		add(1, 0, unknown, 30)
		h.read(p, stored{0, "0/0/0"})
		h.read(c, stored{0, "0/0/2"})
		return h, map[partition][]stored{
			p: {{0, "0/0/0"}, {1, "0/0/1"}, {20, "0/2/0"}, {21, "0/2/1"}, {30, "1/0/0"}, {31, "1/0/1"}},
			c: {{20, "0/2/2"}, {30, "1/0/2"}},
		}
	}
	if h, log := good(); len(h.judge(log)) > 0 {
		t.Fatalf("a good history has faults: %q", h.faults)
	}
	spoil := map[string]func(h *txnHistory, log map[partition][]stored){
		"a lost commit":                 func(_ *txnHistory, log map[partition][]stored) { log[p] = log[p][2:] },
		"a commit in part":              func(_ *txnHistory, log map[partition][]stored) { log[p] = log[p][1:] },
		"an unknown end in part":        func(_ *txnHistory, log map[partition][]stored) { log[p] = log[p][:5] },
		"an unknown end, one topic":     func(_ *txnHistory, log map[partition][]stored) { log[p] = log[p][:4] },
		"an aborted record":             func(_ *txnHistory, log map[partition][]stored) { log[p][2] = stored{10, "0/1/0"} },
		"an aborted record with a key":  func(_ *txnHistory, log map[partition][]stored) { log[c] = append(log[c], stored{40, "0/1/2"}) },
		"the last of a key is lost":     func(_ *txnHistory, log map[partition][]stored) { log[c] = nil },
		"a record twice":                func(_ *txnHistory, log map[partition][]stored) { log[p] = append(log[p], stored{40, "0/0/0"}) },
		"another offset":                func(_ *txnHistory, log map[partition][]stored) { log[p][5].offset = 33 },
		"an offset twice":               func(_ *txnHistory, log map[partition][]stored) { log[p][1].offset = 0 },
		"a record that nobody sent":     func(_ *txnHistory, log map[partition][]stored) { log[p][5].value = "9/9/9" },
		"out of order":                  func(_ *txnHistory, log map[partition][]stored) { log[p][0].value, log[p][1].value = "0/0/1", "0/0/0" },
		"a reader saw an aborted one":   func(h *txnHistory, _ map[partition][]stored) { h.read(p, stored{10, "0/1/0"}) },
		"a reader saw what is not":      func(h *txnHistory, _ map[partition][]stored) { h.read(p, stored{5, "0/2/0"}) },
		"a reader saw two at one place": func(h *txnHistory, _ map[partition][]stored) { h.read(p, stored{0, "0/2/0"}) },
	}
	for name, corrupt := range spoil {
		h, log := good()
		corrupt(h, log)
		if len(h.judge(log)) == 0 {
			t.Errorf("%s was not found", name)
		}
	}
}
