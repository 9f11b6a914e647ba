package handlers

import (
	"testing"

	"doze/disk"
)

// TestTransactionsSurviveAFailedSyncAnywhere fails each sync of three transactions in turn, once: whatever succeeds afterwards,
// what was told holds, after a kill and after a power failure.
func TestTransactionsSurviveAFailedSyncAnywhere(t *testing.T) {
	for name, v1 := range map[string]bool{"v1": true, "v2": false} {
		t.Run(name, func(t *testing.T) {
			for n := 0; ; n++ {
				fired := false
				for _, loss := range []disk.Loss{disk.KillProcess(), disk.PowerLoss(), disk.TornPowerLoss(uint64(n))} {
					fired = failSyncAt(t, v1, n, loss) || fired
				}
				if !fired {
					if n < 4 {
						t.Errorf("only %d syncs", n)
					}
					t.Logf("%d syncs", n)
					return
				}
			}
		})
	}
}

// failSyncAt says whether the sync was reached.
func failSyncAt(t *testing.T, v1 bool, n int, how disk.Loss) bool {
	b, c := newTxnBroker(t)
	p := c.txnProducer(v1)
	fail := &disk.Fault{After: n, Err: disk.EIO, Only: []disk.Op{disk.OpSync, disk.OpSyncDir}}
	b.fs.Inject(fail)
	told := runTransactions(p)
	fired := b.fs.Fired(fail) > 0
	aborted := fired && p.end(false) == none // the disk is well again
	again := b.crashed(how)
	again.start()
	c = again.connect()
	if err := told.hold(c); err != nil {
		t.Errorf("sync %d failed, loss %v: %v; told %+v", n, how, err, told)
	}
	if seen, err := committedIn(c, 0); err != nil || aborted && !told.first && seen[1] {
		t.Errorf("sync %d failed, loss %v: the first transaction was aborted and is seen; %v", n, how, err)
	}
	again.abandon()
	return fired
}
