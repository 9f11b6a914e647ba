package ordered

import (
	"slices"
	"strings"
)

// Kind is what a node is.
type Kind uint8

const (
	Null Kind = iota
	False
	True
	Number
	String
	Array
	Object
)

// Node is a JSON value. It is not changed once it is read, unless by the one that read it for that.
type Node struct {
	Kind    Kind
	Text    string // of a string: its value; of a number: as it was written
	Items   []*Node
	Members []Member
}

// Member is one member of an object.
type Member struct {
	Key   string
	Value *Node
}

// Get is the member's value, or nil; also of what is no object.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return n.Members[i].Value
		}
	}
	return nil
}

// Is says whether the node is there and of the kind.
func (n *Node) Is(k Kind) bool { return n != nil && n.Kind == k }

// IsBool says whether the node is true or false.
func (n *Node) IsBool() bool { return n.Is(True) || n.Is(False) }

// Str is the value of a string, empty for anything else.
func (n *Node) Str() string {
	if n.Is(String) {
		return n.Text
	}
	return ""
}

// NewString is a string.
func NewString(s string) *Node { return &Node{Kind: String, Text: s} }

// Sorted is the value with the members of all its objects in order of their keys.
func (n *Node) Sorted() *Node {
	switch n.Kind {
	case Array:
		items := make([]*Node, len(n.Items))
		for i, item := range n.Items {
			items[i] = item.Sorted()
		}
		return &Node{Kind: Array, Items: items}
	case Object:
		members := make([]Member, len(n.Members))
		for i, m := range n.Members {
			members[i] = Member{m.Key, m.Value.Sorted()}
		}
		SortMembers(members)
		return &Node{Kind: Object, Members: members}
	}
	return n
}

// SortMembers sorts by key.
func SortMembers(members []Member) {
	slices.SortStableFunc(members, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
}

// Equal says whether both are the same value: the order of members does not matter, the spelling of numbers does.
func (n *Node) Equal(o *Node) bool {
	if n == nil || o == nil {
		return n == o
	}
	if n.Kind != o.Kind || n.Text != o.Text || len(n.Members) != len(o.Members) {
		return false
	}
	if !slices.EqualFunc(n.Items, o.Items, (*Node).Equal) {
		return false
	}
	if len(n.Members) == 0 {
		return true
	}
	return equalMembers(n.Members, o.Members)
}

func equalMembers(a, b []Member) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	SortMembers(a)
	SortMembers(b)
	return slices.EqualFunc(a, b, func(x, y Member) bool { return x.Key == y.Key && x.Value.Equal(y.Value) })
}

// Strings are the texts of the strings of an array; of anything else none.
func (n *Node) Strings() (texts []string) {
	if !n.Is(Array) {
		return nil
	}
	for _, item := range n.Items {
		if item.Kind == String {
			texts = append(texts, item.Text)
		}
	}
	return texts
}

// SetStrings makes the member an array of the texts, where it stands or at the end; without texts it goes. It is for a node that
// nobody else looks at.
func (n *Node) SetStrings(key string, texts []string) {
	at := slices.IndexFunc(n.Members, func(m Member) bool { return m.Key == key })
	if len(texts) == 0 {
		n.Members = slices.DeleteFunc(n.Members, func(m Member) bool { return m.Key == key })
		return
	}
	value := &Node{Kind: Array}
	for _, text := range texts {
		value.Items = append(value.Items, NewString(text))
	}
	if at < 0 {
		n.Members = append(n.Members, Member{key, value})
	} else {
		n.Members[at].Value = value
	}
}
