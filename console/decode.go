package console

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
	"github.com/twmb/franz-go/pkg/kgo"

	"doze/registry/serde"
)

// decoded is a key or a value as a person reads it. Numbers are the digits that were sent, never floats.
type decoded struct {
	As      string // what it was taken for
	Text    string // what is shown
	JSON    bool   // Text is JSON
	Why     string // why it was not decoded as it says, or was asked, to be
	Schema  string // how the registry names its schema; empty: none
	Null    bool
	Empty   bool
	Size    int
	Clipped bool // Text is not all of it
}

// Line is Text for a row of a table: JSON without the white space between its tokens, which would fill the row.
func (d decoded) Line() string {
	var line bytes.Buffer
	if !d.JSON || json.Compact(&line, []byte(d.Text)) != nil {
		return d.Text
	}
	return line.String()
}

// decodings are the ways that a person can choose, in the order of the menu.
var decodings = []string{"auto", "registry", "json", "text", "msgpack", "cbor", "number", "base64", "hex"}

// maxShown bounds how much of a key or a value is put into a page; downloads have all of it.
const maxShown = 128 << 10

// decoder decodes the keys and values of a page.
type decoder struct {
	schemas    *schemas // nil: no registry
	key, value string
	whole      bool // nothing is clipped: it is for a filter or a file
}

// keyOf decodes a record's key.
func (d decoder) keyOf(ctx context.Context, r *kgo.Record) decoded {
	if d.key == "" || d.key == "auto" {
		if made, is := internal(r, false); is {
			return made
		}
	}
	return d.decode(ctx, r.Key, d.key, header(r, serde.KeyHeader))
}

// valueOf decodes a record's value.
func (d decoder) valueOf(ctx context.Context, r *kgo.Record) decoded {
	if r.Attrs.IsControl() {
		return markerOf(r)
	}
	if d.value == "" || d.value == "auto" {
		if made, is := internal(r, true); is {
			return made
		}
	}
	return d.decode(ctx, r.Value, d.value, header(r, serde.ValueHeader))
}

func header(r *kgo.Record, name string) []byte {
	for _, h := range r.Headers {
		if h.Key == name {
			return h.Value
		}
	}
	return nil
}

// markerOf says what a control record marks.
func markerOf(r *kgo.Record) decoded {
	text := "control record"
	if len(r.Key) >= 4 {
		switch binary.BigEndian.Uint16(r.Key[2:]) {
		case 0:
			text = "abort of a transaction"
		case 1:
			text = "commit of a transaction"
		}
	}
	return decoded{As: "marker", Text: text, Size: len(r.Value)}
}

// decode takes bytes as a person has asked, or for what they look like.
//
//fuzz:parser class=payload FuzzDecodings
func (d decoder) decode(ctx context.Context, b []byte, how string, inHeader []byte) decoded {
	made := decoded{Size: len(b)}
	switch {
	case b == nil:
		made.Null, made.As = true, "null"
		return made
	case len(b) == 0:
		made.Empty, made.As = true, "empty"
		return made
	}
	if how == "" || how == "auto" {
		d.guess(ctx, &made, b, inHeader)
	} else if err := d.as(ctx, &made, b, how, inHeader); err != nil {
		made.Why = err.Error()
		plain(&made, b)
	}
	if len(made.Text) > maxShown && !d.whole {
		made.Text, made.Clipped, made.JSON = clip(made.Text, maxShown), true, false
	}
	return made
}

// guess takes bytes for what they look like most.
func (d decoder) guess(ctx context.Context, made *decoded, b, inHeader []byte) {
	if inHeader != nil || looksPrefixed(b) {
		err := d.as(ctx, made, b, "registry", inHeader)
		if err == nil {
			return
		}
		if inHeader != nil || !printable(b) {
			made.Why = err.Error()
		}
	}
	if utf8.Valid(b) && json.Valid(b) {
		_ = d.as(ctx, made, b, "json", nil) // it is valid
		return
	}
	if !printable(b) && (b[0]&0xf0 == 0x80 || b[0]&0xf0 == 0x90 || b[0] >= 0xdc && b[0] <= 0xdf) {
		if d.as(ctx, made, b, "msgpack", nil) == nil {
			return
		}
	}
	if !printable(b) && len(b) > 1 && (b[0]>>5 == 5 || b[0]>>5 == 4) {
		if d.as(ctx, made, b, "cbor", nil) == nil {
			return
		}
	}
	if !printable(b) && (len(b) == 4 || len(b) == 8) {
		_ = d.as(ctx, made, b, "number", nil) // it has the right length
		return
	}
	plain(made, b)
}

// looksPrefixed says whether bytes may begin with a registry's prefix.
func looksPrefixed(b []byte) bool { return len(b) >= 5 && b[0] == 0 || len(b) >= 17 && b[0] == 1 }

// plain shows text as text and anything else as hex.
func plain(made *decoded, b []byte) {
	if printable(b) {
		made.As, made.Text = "text", string(b)
		return
	}
	made.As, made.Text = "hex", hexDump(b)
}

// as decodes bytes in one way.
//
//fuzz:parser class=payload FuzzDecodings
func (d decoder) as(ctx context.Context, made *decoded, b []byte, how string, inHeader []byte) error {
	switch how {
	case "registry":
		return d.byRegistry(ctx, made, b, inHeader)
	case "json":
		if !json.Valid(b) {
			return errors.New("it is no JSON")
		}
		made.As, made.Text, made.JSON = "JSON", indented(b), true
	case "text":
		if !utf8.Valid(b) {
			return errors.New("it is no text in UTF-8")
		}
		made.As, made.Text = "text", string(b)
	case "msgpack":
		text, err := msgpackJSON(b)
		if err != nil {
			return err
		}
		made.As, made.Text, made.JSON = "MessagePack", indented(text), true
	case "cbor":
		return asCBOR(made, b)
	case "number":
		return asNumber(made, b)
	case "base64":
		made.As, made.Text = "base64", base64.StdEncoding.EncodeToString(b)
	case "hex":
		made.As, made.Text = "hex", hexDump(b)
	default:
		return fmt.Errorf("there is no decoding %q", clip(how, 20))
	}
	return nil
}

func indented(b []byte) string {
	var out bytes.Buffer
	if len(b) > maxShown || json.Indent(&out, bytes.TrimSpace(b), "", "  ") != nil {
		return string(b)
	}
	return out.String()
}

func (d decoder) byRegistry(ctx context.Context, made *decoded, b, inHeader []byte) error {
	if d.schemas == nil {
		return errors.New("there is no schema registry: start the console with one")
	}
	prefix := b
	if inHeader != nil {
		prefix = inHeader
	}
	ref, payload, err := serde.Parse(prefix)
	if err != nil {
		return err
	}
	if inHeader != nil {
		payload = b
	}
	found, err := d.schemas.get(ctx, ref)
	if err != nil {
		return err
	}
	text, err := found.codec.JSON(payload)
	if err != nil {
		return fmt.Errorf("%s: %w", found.name, err)
	}
	made.As, made.Schema, made.Text, made.JSON = found.kind, found.name, indented(text), true
	return nil
}

var cborText = sync.OnceValue(func() cbor.DiagMode {
	mode, err := cbor.DiagOptions{MaxNestedLevels: 64, MaxArrayElements: 1 << 17, MaxMapPairs: 1 << 17}.DiagMode()
	if err != nil {
		panic(err) // the options are ours
	}
	return mode
})

func asCBOR(made *decoded, b []byte) error {
	if len(b) > maxShown {
		return errors.New("it is too large to be shown as CBOR")
	}
	text, err := cborText().Diagnose(b)
	if err != nil {
		return fmt.Errorf("decode as CBOR: %w", err)
	}
	made.As, made.Text = "CBOR", text
	return nil
}

// asNumber shows big-endian numbers, as Java's serializers write them.
func asNumber(made *decoded, b []byte) error {
	switch len(b) {
	case 1:
		made.As, made.Text = "int8", strconv.Itoa(int(int8(b[0])))
	case 2:
		made.As, made.Text = "int16", strconv.Itoa(int(int16(binary.BigEndian.Uint16(b))))
	case 4:
		n := binary.BigEndian.Uint32(b)
		made.As, made.Text = "int32 (float32)", fmt.Sprintf("%d (%g)", int32(n), math.Float32frombits(n))
	case 8:
		n := binary.BigEndian.Uint64(b)
		made.As, made.Text = "int64 (float64)", fmt.Sprintf("%d (%g)", int64(n), math.Float64frombits(n))
	default:
		return fmt.Errorf("a number has 1, 2, 4 or 8 bytes, and this has %d", len(b))
	}
	return nil
}

// printable says whether bytes are text that a person can read.
func printable(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b[:min(len(b), 4096)]) {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f || r == unicode.ReplacementChar {
			return false
		}
	}
	return true
}

// hexDump shows bytes with their offsets and what of them is text.
func hexDump(b []byte) string {
	if len(b) > maxShown/5 {
		b = b[:maxShown/5]
	}
	return hex.Dump(b)
}
