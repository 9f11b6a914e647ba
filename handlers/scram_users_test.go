package handlers

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/disk"
	"doze/journal"
	"doze/projections"
	"doze/sasl"
)

func (c *testConn) setPassword(user, password string) (code int16, err error) {
	salted, err := sasl.SHA256.Salted(password, []byte("salt"), sasl.IterationsMin)
	if err != nil {
		return 0, err
	}
	u := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
	u.Name, u.Mechanism, u.Iterations, u.Salt, u.SaltedPassword = user, int8(sasl.SHA256), sasl.IterationsMin, []byte("salt"), salted
	req := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	req.Upsertions = append(req.Upsertions, u)
	c.send(req)
	return c.receive(req).(*kmsg.AlterUserSCRAMCredentialsResponse).Results[0].ErrorCode, nil
}

func (c *testConn) deleteUser(user string) int16 {
	d := kmsg.NewAlterUserSCRAMCredentialsRequestDeletion()
	d.Name, d.Mechanism = user, int8(sasl.SHA256)
	req := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	req.Deletions = append(req.Deletions, d)
	c.send(req)
	return c.receive(req).(*kmsg.AlterUserSCRAMCredentialsResponse).Results[0].ErrorCode
}

// opens tells whether a password is the user's.
func (b *testBroker) opens(user, password string) bool {
	c, _ := b.broker.SCRAMUser(sasl.SHA256, user)
	if c == nil {
		return false
	}
	want, err := sasl.SHA256.OfPassword(password, c.Verifier.Salt, c.Verifier.Iterations)
	return err == nil && string(want.StoredKey) == string(c.Verifier.StoredKey)
}

// TestUsersSurviveACrashAnywhere stops the disk at every operation of setting a password, changing it and deleting a user,
// crashes, and starts again. What was acknowledged holds; what was not holds as a whole or not at all; every credential that
// the journal names is there; and after the sweep nothing else is.
func TestUsersSurviveACrashAnywhere(t *testing.T) {
	crashAnywhere(t, 10, crashUsersAt)
}

func crashUsersAt(t *testing.T, n int, where string, how disk.Loss) (fired bool) {
	b := &testBroker{t: t, fs: disk.NewMem(), clock: &manualClock{}, boot: "boot"}
	b.clock.now.Store(day)
	b.start()
	c := b.connect()
	stop := &disk.Fault{After: n, Err: disk.EIO, Persistent: true}
	b.fs.Inject(stop)
	var set [3]bool // what was acknowledged: first password, second password, deletion
	for i, password := range []string{"first", "second"} {
		code, err := c.setPassword("alice", password)
		if err != nil {
			t.Fatal(err)
		}
		set[i] = code == none
	}
	set[2] = c.deleteUser("alice") == none
	fired = b.fs.Fired(stop) > 0
	again := b.crashed(how)
	again.start()
	defer again.abandon()
	state, _ := again.store.View()
	missing, err := SweepCredentials(state, again.broker.credentials)
	if err != nil || len(missing) > 0 {
		t.Fatalf("%s: missing %v, %v", where, missing, err)
	}
	if entries, err := again.fs.ReadDir("credentials"); err == nil && len(entries) != state.ScramUsers.Len() {
		t.Errorf("%s: %d files for %d credentials", where, len(entries), state.ScramUsers.Len())
	}
	first, second, there := again.opens("alice", "first"), again.opens("alice", "second"), state.ScramUsers.Len() == 1
	switch {
	case there != (first || second):
		t.Errorf("%s: the journal knows alice: %v; first password opens: %v, second: %v", where, there, first, second)
	case set[2] && there:
		t.Errorf("%s: deleted, and there", where)
	case set[1] && there && !second:
		t.Errorf("%s: the second password was acknowledged and does not open", where)
	case set[0] && !set[1] && !set[2] && !there && how == disk.KillProcess():
		t.Errorf("%s: the first password was acknowledged and is gone", where)
	}
	return fired
}

// A journal without the files knows users and lets nobody in.
func TestJournalWithoutCredentials(t *testing.T) {
	b := startTestBroker(t, nil)
	if code, err := b.connect().setPassword("alice", "pencil"); code != none || err != nil {
		t.Fatal(code, err)
	}
	if !b.opens("alice", "pencil") {
		t.Fatal("the password does not open")
	}
	b.stop()
	if err := b.fs.RemoveAll("credentials"); err != nil {
		t.Fatal(err)
	}
	b.start()
	state, _ := b.store.View()
	if b.opens("alice", "pencil") || state.ScramUsers.Len() != 1 {
		t.Errorf("%d users; the password opens: %v", state.ScramUsers.Len(), b.opens("alice", "pencil"))
	}
}

func TestScramUsersAreBounded(t *testing.T) {
	b := startTestBroker(t, nil)
	c := b.connect()
	if code, err := c.setPassword(strings.Repeat("a", maxName+1), "x"); code != unacceptableCredential || err != nil {
		t.Errorf("a long name: %d, %v", code, err)
	}
	u := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
	u.Name, u.Mechanism, u.Iterations, u.SaltedPassword = "alice", 1, sasl.IterationsMin, []byte("x")
	u.Salt = make([]byte, maxSalt+1)
	req := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	req.Upsertions = append(req.Upsertions, u)
	if code := request[*kmsg.AlterUserSCRAMCredentialsResponse](c, req, 0).Results[0].ErrorCode; code != unacceptableCredential {
		t.Errorf("a long salt: %d", code)
	}
	full := projections.New()
	for i := range maxScramUsers {
		e := &journal.ScramCredentialSet{User: strconv.Itoa(i), Mechanism: 1, Iterations: sasl.IterationsMin}
		if err := full.Apply(uint64(i), 0, e); err != nil {
			t.Fatal(err)
		}
	}
	u.Salt = nil
	req.Upsertions[0] = u
	a := newScramAlterations(req, full)
	a.check(full)
	if got := a.list[0].refused; got == nil || got.code != unacceptableCredential {
		t.Errorf("one more than %d: %v", maxScramUsers, got)
	}
}

// One request alters 10,000 users at most, as Kafka's does; the one too many leaves nothing behind, in the state or on the disk.
func TestScramUsersOfARequestAreBounded(t *testing.T) {
	b := startTestBroker(t, nil)
	req := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	for i := range maxScramAlterations + 1 {
		u := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
		u.Name, u.Mechanism, u.Iterations, u.Salt, u.SaltedPassword = fmt.Sprint(i), 1, sasl.IterationsMin, []byte("s"), []byte("x")
		req.Upsertions = append(req.Upsertions, u)
	}
	c := b.connect()
	results := request[*kmsg.AlterUserSCRAMCredentialsResponse](c, req, 0).Results
	if len(results) != maxScramAlterations+1 {
		t.Fatalf("%d results", len(results))
	}
	for _, r := range results {
		if r.ErrorCode != unknownServerError || r.ErrorMessage != nil {
			t.Fatalf("%s: %d %v", r.User, r.ErrorCode, r.ErrorMessage)
		}
	}
	state, _ := b.store.View()
	if files, err := b.fs.ReadDir("credentials"); err == nil && len(files) > 0 || state.ScramUsers.Len() > 0 {
		t.Errorf("%d files and %d users are left", len(files), state.ScramUsers.Len())
	}
}

// setSalted sets what stands for a password, without the work of salting it.
func (c *testConn) setSalted(password string, users ...string) (codes []int16) {
	req := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	for _, user := range users {
		u := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
		u.Name, u.Mechanism, u.Iterations, u.Salt, u.SaltedPassword = user, int8(sasl.SHA256), sasl.IterationsMin, []byte("salt"), []byte(password)
		req.Upsertions = append(req.Upsertions, u)
	}
	for _, r := range request[*kmsg.AlterUserSCRAMCredentialsResponse](c, req, 0).Results {
		codes = append(codes, r.ErrorCode)
	}
	return codes
}

func (b *testBroker) hasSalted(user, password string) bool {
	c, _ := b.broker.SCRAMUser(sasl.SHA256, user)
	return c != nil && string(c.Verifier.StoredKey) == string(sasl.SHA256.OfSalted([]byte(password), c.Verifier.Salt, c.Verifier.Iterations).StoredKey)
}

// TestUsersSetTogetherSurviveACrashAnywhere stops the disk at every operation of setting three users in one request, changing
// one of them and then two, and crashes: what was acknowledged holds, and every credential that the journal names is there.
func TestUsersSetTogetherSurviveACrashAnywhere(t *testing.T) {
	crashAnywhere(t, 10, crashTogetherAt)
}

func crashTogetherAt(t *testing.T, n int, where string, how disk.Loss) (fired bool) {
	b := &testBroker{t: t, fs: disk.NewMem(), clock: &manualClock{}, boot: "boot"}
	b.clock.now.Store(day)
	b.start()
	c := b.connect()
	stop := &disk.Fault{After: n, Err: disk.EIO, Persistent: true}
	b.fs.Inject(stop)
	acknowledged := map[string]string{}
	for _, step := range []struct {
		password string
		users    []string
	}{{"first", []string{"a", "b", "c"}}, {"second", []string{"b"}}, {"third", []string{"a", "b"}}} {
		for i, code := range c.setSalted(step.password, step.users...) {
			if code == none {
				acknowledged[step.users[i]] = step.password
			}
		}
	}
	fired = b.fs.Fired(stop) > 0
	again := b.crashed(how)
	again.start()
	defer again.abandon()
	state, _ := again.store.View()
	if missing, err := SweepCredentials(state, again.broker.credentials); err != nil || len(missing) > 0 {
		t.Fatalf("%s: missing %v, %v", where, missing, err)
	}
	for user, password := range acknowledged {
		later := password == "first" && (again.hasSalted(user, "second") || again.hasSalted(user, "third")) || again.hasSalted(user, "third")
		if !again.hasSalted(user, password) && !later {
			t.Errorf("%s: the %s password of %s was acknowledged and does not open", where, password, user)
		}
	}
	return fired
}
