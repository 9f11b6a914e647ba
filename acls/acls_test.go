package acls

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func topicACL(kind PatternType, name, principal string, o Operation, p Permission) Binding {
	return Binding{Pattern{Topic, name, kind}, Entry{principal, "*", o, p}}
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	good := topicACL(Literal, "a", "User:alice", Read, Allow)
	if why := good.Refusal(); why != "" {
		t.Fatalf("a good ACL is refused: %s", why)
	}
	for _, c := range []struct {
		change func(*Binding)
		want   string
	}{
		{func(b *Binding) { b.Type, b.Name = Cluster, "other" }, "The only valid name for the CLUSTER resource is kafka-cluster"},
		{func(b *Binding) { b.Name = "" }, "Invalid empty resource name"},
		{func(b *Binding) { b.Type = AnyResource }, "Invalid resourceType ANY"},
		{func(b *Binding) { b.Kind = Match }, "Invalid patternType MATCH"},
		{func(b *Binding) { b.Kind = 77 }, "Invalid patternType UNKNOWN"},
		{func(b *Binding) { b.Operation = AnyOperation }, "Invalid operation ANY"},
		{func(b *Binding) { b.Permission = AnyPermission }, "Invalid permissionType ANY"},
		{func(b *Binding) { b.Principal = "alice" }, "Could not parse principal from `alice`"},
	} {
		b := good
		c.change(&b)
		if why := b.Refusal(); !strings.HasPrefix(why, c.want) {
			t.Errorf("%v: %q, want %q", b, why, c.want)
		}
	}
}

func TestFilterOfNumbersThatKafkaDoesNotKnow(t *testing.T) {
	good := Filter{Type: AnyResource, Kind: Match, Operation: AnyOperation, Permission: AnyPermission}
	if good.Refusal() != "" {
		t.Error("a filter of anything is called unknown")
	}
	for _, f := range []Filter{{Type: 8, Kind: Match, Operation: 1, Permission: 1}, {Type: 1, Kind: 5, Operation: 1, Permission: 1},
		{Type: 1, Kind: 1, Operation: 16, Permission: 1}, {Type: 1, Kind: 1, Operation: 1, Permission: -1}} {
		if f.Refusal() == "" {
			t.Errorf("%v is not called unknown", f)
		}
	}
}

func TestNames(t *testing.T) {
	if got := fmt.Sprint(TransactionalID, Prefixed, TwoPhaseCommit, Allow, Operation(99)); got != "TRANSACTIONAL_ID PREFIXED TWO_PHASE_COMMIT ALLOW UNKNOWN" {
		t.Error(got)
	}
}

// thousand is 1,000 ACLs as a busy cluster has them: many users, literal and prefixed topics, some denies.
func thousand() []Binding {
	var list []Binding
	for i := range 1_000 {
		kind, permission := Literal, Allow
		if i%3 == 0 {
			kind = Prefixed
		}
		if i%10 == 9 {
			permission = Deny
		}
		list = append(list, topicACL(kind, fmt.Sprintf("team-%d.orders-%d", i%40, i), fmt.Sprintf("User:u%d", i%50), Write, permission))
	}
	return append(list, topicACL(Prefixed, "team-7.", "User:u7", Write, Allow), topicACL(Literal, "*", "User:u7", Read, Allow))
}

func TestAuthorizeAllocatesNothing(t *testing.T) {
	set, rules, who := NewSet(thousand()), &Rules{AllowIfNone: true}, Caller{"User:u7", "127.0.0.1"}
	if n := testing.AllocsPerRun(100, func() { set.Authorize(rules, who, Write, Topic, "team-7.orders-7") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAuthorize1000(b *testing.B) {
	set := NewSet(thousand())
	for name, who := range map[string]Caller{"allowed": {"User:u7", "127.0.0.1"}, "stranger": {"User:nobody", "127.0.0.1"}} {
		b.Run(name, func(b *testing.B) {
			rules := &Rules{AllowIfNone: true, SuperUsers: map[string]bool{"User:admin": true}}
			for b.Loop() {
				set.Authorize(rules, who, Write, Topic, "team-7.orders-7")
			}
		})
	}
	b.Run("one user has all", func(b *testing.B) {
		list := thousand()
		for i := range list {
			list[i].Principal = "User:u7"
		}
		set, rules := NewSet(list), &Rules{}
		for b.Loop() {
			set.Authorize(rules, Caller{"User:u7", "127.0.0.1"}, Write, Topic, "team-7.orders-7")
		}
	})
}

func BenchmarkNewSet1000(b *testing.B) {
	list := thousand()
	for b.Loop() {
		NewSet(list)
	}
}

// BenchmarkOneMore is what a change of one ACL among many costs those who ask next; the ACLs are of 500 principals, and of one.
func BenchmarkOneMore(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for _, principals := range []int{500, 1} {
			list := make([]Binding, n)
			for i := range list {
				list[i] = topicACL(PatternType(3+i%2), fmt.Sprintf("team-%d-orders-%d", i%40, i), fmt.Sprint("User:u", i%principals), Read, Allow)
			}
			slices.SortFunc(list, Binding.Compare)
			less := append(slices.Clone(list[:n/2]), list[n/2+1:]...)
			b.Run(fmt.Sprintf("%d ACLs of %d", n, principals), func(b *testing.B) {
				set := NewSet(list)
				for i := 0; b.Loop(); i++ {
					set = set.Next(slices.Values([][]Binding{less, list}[i%2]))
				}
			})
		}
	}
}
