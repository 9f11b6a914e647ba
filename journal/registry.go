package journal

import (
	"fmt"
	"reflect"
)

// kind is what the journal knows of one type of event.
type kind struct {
	name       string
	durability Durability
	fresh      func() Event
	pack       func(b []byte, e Event) ([]byte, error)
	unpack     func(u *unpacker) (Event, error) // reads one payload and no byte more
}

// selfPacked is an event with a hand-written encoding.
type selfPacked interface {
	Event
	pack(b []byte) []byte
	// unpack reads what pack gives. The shape has been checked; lengths can be trusted, types and ranges cannot.
	unpack(u *unpacker)
}

// mapped is the kind of an event that is encoded by reflection.
func mapped[T any, E interface {
	*T
	Event
}](d Durability) kind {
	return kind{
		name:       reflect.TypeFor[T]().Name(),
		durability: d,
		fresh:      func() Event { return E(new(T)) },
		pack:       packMapped,
		unpack: func(u *unpacker) (Event, error) {
			e := E(new(T))
			return e, unpackMapped(u, e)
		},
	}
}

// packed is the kind of an event that encodes itself.
func packed[T any, E interface {
	*T
	selfPacked
}](d Durability) kind {
	return kind{
		name:       reflect.TypeFor[T]().Name(),
		durability: d,
		fresh:      func() Event { return E(new(T)) },
		pack:       func(b []byte, e Event) ([]byte, error) { return e.(E).pack(b), nil },
		unpack: func(u *unpacker) (Event, error) {
			e := E(new(T))
			e.unpack(u)
			return e, u.err
		},
	}
}

func lookup(k Kind) (*kind, error) {
	if int(k) >= len(kinds) || kinds[k].fresh == nil {
		return nil, &UnknownKindError{Kind: k}
	}
	return &kinds[k], nil
}

// Name is the event's type: "TopicCreated".
func (k Kind) Name() string {
	if d, err := lookup(k); err == nil {
		return d.name
	}
	return fmt.Sprintf("kind %d", uint16(k))
}

// Durability of the kind. Of an unknown kind: Durable.
func (k Kind) Durability() Durability {
	if d, err := lookup(k); err == nil {
		return d.durability
	}
	return Durable
}

// Kinds lists every kind that this version knows, in order of number.
func Kinds() []Kind {
	var all []Kind
	for n := range kinds {
		if kinds[n].fresh != nil {
			all = append(all, Kind(n))
		}
	}
	return all
}

// New returns an empty event of the kind.
func (k Kind) New() (Event, error) {
	d, err := lookup(k)
	if err != nil {
		return nil, err
	}
	return d.fresh(), nil
}

// UnknownKindError refuses a journal that holds an event this version does not know.
type UnknownKindError struct {
	Kind Kind
}

func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("event kind %d is not known to this version of doze: the journal was written by a newer one; use that version or a later one", uint16(e.Kind))
}
