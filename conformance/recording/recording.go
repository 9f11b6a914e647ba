package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Recording is one session with a broker.
type Recording struct {
	Name  string            `json:"name"`
	Claim string            `json:"claim"`         // what the session shows, in one sentence
	Kafka string            `json:"kafka"`         // the release that answered
	Part  int               `json:"part"`          // a label: when doze learned to give these answers
	Set   map[string]string `json:"set,omitempty"` // broker properties the session asked for
	Steps []Step            `json:"steps"`
}

// Step is one request with what came back, or something done to the broker. Steps stand in the order in which they
// began.
type Step struct {
	Name    string `json:"step"`
	Conn    string `json:"conn,omitempty"` // a connection, by name; the same name is the same connection while it is open
	API     string `json:"api,omitempty"`  // of a request: "CreateTopics v7"
	Raw     string `json:"raw,omitempty"`  // the frame after its length, in hex, where a request cannot say it
	Request Object `json:"request,omitempty"`
	Outcome string `json:"outcome,omitempty"` // when it is not an answer: "closed", "no answer", or what was done ("restart")
	Took    string `json:"took,omitempty"`    // where time matters: ">=500ms", or "less than 500ms"
	Wire    string `json:"wire,omitempty"`    // where the bytes of the answer are not what its fields encode to
	Answer  Object `json:"answer,omitempty"`
}

// Load reads dir/name.json.
func Load(dir, name string) (*Recording, error) {
	path := filepath.Join(dir, name+".json")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	r, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read recording %s: %w", path, err)
	}
	return r, nil
}

// Parse reads a recording.
//
//fuzz:parser class=journal FuzzParse
func Parse(data []byte) (*Recording, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	r := &Recording{}
	if err := dec.Decode(r); err != nil {
		return nil, fmt.Errorf("parse recording: %w", err)
	}
	return r, nil
}

// Save writes dir/name.json.
func (r *Recording) Save(dir string) error {
	data, err := r.Format()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, r.Name+".json")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}

// Format gives the recording as text. Small objects stand on one line, so that a batch or a partition is one line of a
// diff.
func (r *Recording) Format() ([]byte, error) {
	plain, err := marshalPlain(r)
	if err != nil {
		return nil, fmt.Errorf("format recording %s: %w", r.Name, err)
	}
	v, err := ParseValue(plain)
	if err != nil {
		return nil, fmt.Errorf("format recording %s: %w", r.Name, err)
	}
	var b bytes.Buffer
	if err := layOut(&b, v, ""); err != nil {
		return nil, fmt.Errorf("format recording %s: %w", r.Name, err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// lineWidth is how long an object may be and still stand on one line.
const lineWidth = 140

func layOut(b *bytes.Buffer, v Value, indent string) error {
	flat, err := marshalPlain(v)
	if err != nil {
		return err
	}
	list, isList := v.([]Value)
	obj, isObject := v.(Object)
	if len(flat)+len(indent) <= lineWidth || !isList && !isObject {
		b.Write(flat)
		return nil
	}
	if isList {
		return layOutList(b, list, indent)
	}
	return layOutObject(b, obj, indent)
}

func layOutList(b *bytes.Buffer, list []Value, indent string) error {
	b.WriteString("[")
	for i, v := range list {
		b.WriteString(separator(i) + indent + " ")
		if err := layOut(b, v, indent+" "); err != nil {
			return err
		}
	}
	b.WriteString("\n" + indent + "]")
	return nil
}

func layOutObject(b *bytes.Buffer, obj Object, indent string) error {
	b.WriteString("{")
	for i, f := range obj {
		name, err := marshalPlain(f.Name)
		if err != nil {
			return err
		}
		b.WriteString(separator(i) + indent + " ")
		b.Write(name)
		b.WriteString(": ")
		if err := layOut(b, f.Value, indent+" "); err != nil {
			return err
		}
	}
	b.WriteString("\n" + indent + "}")
	return nil
}

func separator(i int) string {
	if i == 0 {
		return "\n"
	}
	return ",\n"
}
