package registry

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"doze/journal"
	"doze/projections"
)

// Types of schemas.
const (
	Avro     = "AVRO"
	JSON     = "JSON"
	Protobuf = "PROTOBUF"
)

type reference struct {
	Name    string `json:"name,omitempty"`
	Subject string `json:"subject,omitempty"`
	Version *int32 `json:"version,omitempty"`
}

// metadata of a schema. Sets are sorted when it is read.
type metadata struct {
	Tags       map[string][]string `json:"tags,omitempty"`
	Properties map[string]string   `json:"properties,omitempty"`
	Sensitive  []string            `json:"sensitive,omitempty"`
}

type ruleSet struct {
	MigrationRules []rule `json:"migrationRules,omitempty"`
	DomainRules    []rule `json:"domainRules,omitempty"`
	EncodingRules  []rule `json:"encodingRules,omitempty"`
	EnableAt       string `json:"enableAt,omitempty"`
}

type rule struct {
	Name      string            `json:"name,omitempty"`
	Doc       string            `json:"doc,omitempty"`
	Kind      string            `json:"kind,omitempty"`
	Mode      string            `json:"mode,omitempty"`
	Type      string            `json:"type,omitempty"`
	Tags      []string          `json:"tags,omitempty"`
	Params    map[string]string `json:"params,omitempty"`
	Expr      string            `json:"expr,omitempty"`
	OnSuccess string            `json:"onSuccess,omitempty"`
	OnFailure string            `json:"onFailure,omitempty"`
	Disabled  bool              `json:"disabled"`
}

// schemaRequest is the body of what registers, looks up or tests a schema. What is null or unknown is as if it were not there.
type schemaRequest struct {
	Version    *int32      `json:"version"`
	ID         *int32      `json:"id"`
	SchemaType *string     `json:"schemaType"`
	References []reference `json:"references"`
	Metadata   *metadata   `json:"metadata"`
	RuleSet    *ruleSet    `json:"ruleSet"`
	Schema     *string     `json:"schema"`

	TagsToAdd     []entityTags `json:"schemaTagsToAdd"`
	TagsToRemove  []entityTags `json:"schemaTagsToRemove"`
	PropagateTags bool         `json:"propagateSchemaTags"`
}

// entityTags are tags of a record or a field.
type entityTags struct {
	Entity entity   `json:"schemaEntity"`
	Tags   []string `json:"tags"`
}

type entity struct {
	Path string `json:"entityPath"`
	Type string `json:"entityType"` // sr_record, sr_field
}

// isDescriptor says whether the schema is a Protobuf descriptor in base64.
func (q *schemaRequest) isDescriptor() bool {
	if q.Schema == nil || q.SchemaType == nil || *q.SchemaType != Protobuf {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(strings.TrimSpace(*q.Schema))
	return err == nil
}

// schemaAnswer is a schema with its place.
type schemaAnswer struct {
	Subject    string      `json:"subject,omitempty"`
	Version    int32       `json:"version,omitempty"`
	ID         *int32      `json:"id,omitempty"`
	GUID       string      `json:"guid,omitempty"`
	SchemaType string      `json:"schemaType,omitempty"`
	References []reference `json:"references,omitempty"`
	Metadata   *metadata   `json:"metadata,omitempty"`
	RuleSet    *ruleSet    `json:"ruleSet,omitempty"`
	Schema     string      `json:"schema,omitempty"`
	MaxID      *int32      `json:"maxId,omitempty"`
	At         int64       `json:"ts,omitempty"`
	Deleted    *bool       `json:"deleted,omitempty"` // also false; registrations do not say it
	Aliases    []string    `json:"aliases,omitempty"`

	SchemaTags   []entityTags      `json:"schemaTags,omitempty"`
	Associations []associationView `json:"associations,omitempty"`
}

func sortSet(set []string) []string { return slices.Compact(slices.Sorted(slices.Values(set))) }

//fuzz:parser class=http FuzzRequests
func (m *metadata) UnmarshalJSON(b []byte) error {
	type plain metadata
	if err := json.Unmarshal(b, (*plain)(m)); err != nil {
		return err
	}
	for name, set := range m.Tags {
		m.Tags[name] = sortSet(set)
	}
	m.Sensitive = sortSet(m.Sensitive)
	return nil
}

//fuzz:parser class=http FuzzRequests
func (r *rule) UnmarshalJSON(b []byte) error {
	type plain rule
	if err := json.Unmarshal(b, (*plain)(r)); err != nil {
		return err
	}
	if r.Tags = sortSet(r.Tags); r.Kind == "" {
		r.Kind = "TRANSFORM"
	}
	if r.Mode == "" {
		r.Mode = "WRITEREAD"
	}
	return nil
}

// stored is the value as the journal has it: empty for nil, else JSON, which sorts the keys of maps.
func stored[T any](v *T) string {
	if v == nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings in maps and slices
	}
	return string(b)
}

// unstored reads what stored gave. The journal's word is trusted: what cannot be read is nothing.
func unstored[T any](s string) *T {
	if s == "" {
		return nil
	}
	v := new(T)
	if json.Unmarshal([]byte(s), v) != nil {
		return nil
	}
	return v
}

const versionProperty = "confluent:version"

func (m *metadata) version() string {
	if m == nil {
		return ""
	}
	return m.Properties[versionProperty]
}

func (m *metadata) withVersion(version string) *metadata {
	changed := &metadata{}
	if m != nil {
		*changed = *m
	}
	changed.Properties = maps.Clone(changed.Properties)
	if changed.Properties == nil {
		changed.Properties = map[string]string{}
	}
	if changed.Properties[versionProperty] = version; version == "" {
		delete(changed.Properties, versionProperty)
	}
	return changed
}

func (m *metadata) hash() (b []byte) {
	for _, name := range slices.Sorted(maps.Keys(m.Tags)) {
		b = append(b, name...)
		for _, tag := range m.Tags[name] {
			b = append(b, tag...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Properties)) {
		b = append(append(b, name...), m.Properties[name]...)
	}
	for _, name := range m.Sensitive {
		b = append(b, name...)
	}
	return b
}

func (s *ruleSet) hash() (b []byte) {
	for _, rules := range [][]rule{s.MigrationRules, s.DomainRules, s.EncodingRules} {
		for _, r := range rules {
			b = append(b, r.hash()...)
		}
	}
	return append(b, s.EnableAt...)
}

func (r *rule) hash() (b []byte) {
	for _, text := range slices.Concat([]string{r.Name, r.Doc, r.Kind, r.Mode, r.Type}, r.Tags) {
		b = append(b, text...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		b = append(append(b, name...), r.Params[name]...)
	}
	for _, text := range []string{r.Expr, r.OnSuccess, r.OnFailure} {
		b = append(b, text...)
	}
	if r.Disabled {
		b = append(b, 1)
	}
	return b
}

// content is a schema without its place. Its identity is the MD5 of all but the type.
type content struct {
	Type       string
	Text       string
	References []journal.SchemaReference
	Metadata   *metadata
	RuleSet    *ruleSet
}

func (c *content) guid() [16]byte {
	b := []byte(c.Text)
	for _, ref := range c.References {
		b = append(append(b, ref.Name...), ref.Subject...)
		b = binary.BigEndian.AppendUint32(b, uint32(ref.Version))
	}
	if c.Metadata != nil {
		b = append(append(b, 1), c.Metadata.hash()...)
	}
	if c.RuleSet != nil {
		b = append(append(b, 1), c.RuleSet.hash()...)
	}
	return md5.Sum(b)
}

func contentOf(s *projections.Schema) *content {
	return &content{
		Type: s.Type, Text: s.Text, References: s.References,
		Metadata: unstored[metadata](s.Metadata), RuleSet: unstored[ruleSet](s.RuleSet),
	}
}

// uuid is a guid as clients see it.
func uuid(g [16]byte) string {
	h := hex.EncodeToString(g[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// parseUUID reads a guid with or without dashes.
//
//fuzz:not-a-parser sixteen bytes of hexadecimal digits
func parseUUID(s string) (g projections.ID, ok bool) {
	digits := make([]byte, 0, 32)
	for i := range len(s) {
		if s[i] != '-' {
			digits = append(digits, s[i])
		}
	}
	if len(digits) != 32 {
		return g, false
	}
	_, err := hex.Decode(g[:], digits)
	return g, err == nil
}

func answerReferences(refs []journal.SchemaReference) (answer []reference) {
	for _, r := range refs {
		version := r.Version
		answer = append(answer, reference{r.Name, r.Subject, &version})
	}
	return answer
}

// answer is the schema as an answer without a place.
func (c *content) answer() *schemaAnswer {
	return &schemaAnswer{
		GUID: uuid(c.guid()), SchemaType: c.Type, References: answerReferences(c.References), Metadata: c.Metadata, RuleSet: c.RuleSet, Schema: c.Text,
	}
}

// answerOf is a version with its schema.
func answerOf(state *projections.State, v projections.SchemaVersion) *schemaAnswer {
	s := state.Registry.OfVersion(v)
	a := contentOf(s).answer()
	id := v.ID
	a.Subject, a.Version, a.ID, a.GUID, a.At, a.Deleted = v.Subject, v.Version, &id, uuid(s.GUID), v.At, &v.Deleted
	return a
}
