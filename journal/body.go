package journal

import (
	"fmt"
)

// The body of a frame: [seq, at, [api, conn, correlation, client, principal, timer], [[kind, payload], ...]]

// MaxBody bounds an entry's encoding; it is checked before anything is allocated for one.
const MaxBody = 16 << 20

// appendBody appends the entry's encoding to b.
func appendBody(b []byte, e *Entry) ([]byte, error) {
	start := len(b)
	b = appendArray(b, 4)
	b = appendUint(b, e.Seq)
	b = appendInt(b, e.At)
	b = appendCause(b, &e.Cause)
	b = appendArray(b, len(e.Events))
	for _, event := range e.Events {
		var err error
		if b, err = appendEvent(b, event); err != nil {
			return b[:start], err
		}
		if len(b)-start > MaxBody {
			return b[:start], ErrTooLarge
		}
	}
	// Fewer bytes than the bound on values cannot hold too many of them.
	if len(b)-start > maxValues {
		if err := checkShape(b[start:]); err != nil {
			return b[:start], ErrTooLarge
		}
	}
	return b, nil
}

func appendEvent(b []byte, e Event) ([]byte, error) {
	d, err := lookup(e.Kind())
	if err != nil {
		return b, err
	}
	b = appendUint(appendArray(b, 2), uint64(e.Kind()))
	b, err = d.pack(b, e)
	if err != nil {
		return b, fmt.Errorf("encode %s: %w", d.name, err)
	}
	return b, nil
}

func appendCause(b []byte, c *Cause) []byte {
	b = appendArray(b, 6)
	b = appendInt(b, int64(c.API))
	b = appendUint(b, c.Conn)
	b = appendInt(b, int64(c.Correlation))
	b = appendString(b, c.ClientID)
	b = appendString(b, c.Principal)
	return appendString(b, c.Timer)
}

// decoder decodes one body after another and remembers the names it saw.
type decoder struct {
	u     unpacker
	sizes []int // of the last body's events
}

func newDecoder() *decoder {
	return &decoder{u: unpacker{names: names{}}}
}

// decode gives the entry of a body. What it accepts, appendBody gives back byte for byte.
//
//fuzz:parser class=event FuzzDecodeBody
func (d *decoder) decode(body []byte) (Entry, error) {
	if err := checkShape(body); err != nil {
		return Entry{}, fmt.Errorf("shape of body: %w", err)
	}
	u := &d.u
	u.b, u.err = body, nil
	u.fields(4)
	entry := Entry{Seq: u.uint(), At: u.int(), Cause: d.cause()}
	n := u.array()
	if u.err != nil {
		return Entry{}, fmt.Errorf("entry: %w", u.err)
	}
	if n == 0 {
		return Entry{}, fmt.Errorf("entry %d has no event", entry.Seq)
	}
	d.sizes = d.sizes[:0]
	entry.Events = make([]Event, 0, n) // n is within the body: the shape has been checked
	for range n {
		before := len(u.b)
		event, err := d.event()
		d.sizes = append(d.sizes, before-len(u.b))
		if err != nil {
			return Entry{}, fmt.Errorf("entry %d: %w", entry.Seq, err)
		}
		entry.Events = append(entry.Events, event)
	}
	return entry, nil
}

func (d *decoder) cause() Cause {
	u := &d.u
	u.fields(6)
	return Cause{
		API: u.int16(), Conn: u.uint(), Correlation: u.int32(),
		ClientID: u.name(), Principal: u.name(), Timer: u.name(),
	}
}

func (d *decoder) event() (Event, error) {
	u := &d.u
	u.fields(2)
	number := u.uint()
	if u.err != nil {
		return nil, u.err
	}
	k, err := lookup(Kind(min(number, 0xffff)))
	if err != nil {
		return nil, err
	}
	event, err := k.unpack(u)
	if err == nil {
		err = u.err
	}
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", k.name, err)
	}
	return event, nil
}
