package protobuf

import (
	"slices"

	"doze/registry/tagged"
)

// Options of Confluent that hold tags.
const (
	messageMeta = "confluent.message_meta"
	fieldMeta   = "confluent.field_meta"
	metaFile    = "confluent/meta.proto"
	tagsName    = "tags"
)

// Entities are the messages and their fields, those of oneofs before the others. A path is made of the names, without the package.
func (p *Parsed) Entities() (found []tagged.Entity) {
	for _, m := range p.File.Messages {
		found = p.entities(m, "", found)
	}
	return found
}

func (p *Parsed) entities(m *Message, scope string, found []tagged.Entity) []tagged.Entity {
	path := scope + m.Name
	found = append(found, p.entity(path, false, messageMeta, &m.Options))
	for _, o := range m.OneOfs {
		for _, f := range o.Fields {
			found = append(found, p.entity(path+"."+f.Name, true, fieldMeta, &f.Options))
		}
	}
	for _, f := range m.Fields {
		found = append(found, p.entity(path+"."+f.Name, true, fieldMeta, &f.Options))
	}
	for _, nested := range m.Messages {
		found = p.entities(nested, path+".", found)
	}
	return found
}

func (p *Parsed) entity(path string, field bool, meta string, options *[]Option) tagged.Entity {
	return tagged.Entity{Path: path, Field: field, Tags: tagsOf(*options, meta), Set: func(tags []string) {
		*options = withTags(*options, meta, tags)
		if len(tags) > 0 && !slices.Contains(p.File.Imports, metaFile) && !slices.Contains(p.File.Public, metaFile) {
			p.File.Imports = append(p.File.Imports, metaFile)
		}
	}}
}

func isMeta(o Option, name string) bool {
	return o.Extension && (o.Name == name || o.Name == "."+name)
}

// entriesOf are the entries of an option that is a map, or the one that a nested option is.
func entriesOf(o Option) []Option {
	if o.Kind == OptionMap || o.Kind == OptionNested {
		return o.Items
	}
	return nil
}

func tagsOf(options []Option, meta string) (tags []string) {
	for _, o := range options {
		if !isMeta(o, meta) {
			continue
		}
		for _, entry := range entriesOf(o) {
			if entry.Name == tagsName {
				tags = append(tags, textsOf(entry)...)
			}
		}
	}
	return tags
}

func textsOf(o Option) (texts []string) {
	switch o.Kind {
	case OptionString:
		return []string{o.Text}
	case OptionList:
		for _, item := range o.Items {
			texts = append(texts, item.Text)
		}
	}
	return texts
}

// withTags makes one option of all that the meta option says, with these tags.
func withTags(options []Option, meta string, tags []string) (changed []Option) {
	whole, at := Option{Name: meta, Extension: true, Kind: OptionMap}, -1
	for _, o := range options {
		if !isMeta(o, meta) {
			changed = append(changed, o)
			continue
		}
		if at < 0 {
			at = len(changed)
			changed = append(changed, o)
		}
		whole.Items = append(whole.Items, entriesOf(o)...)
	}
	whole.Items = withList(whole.Items, tags)
	switch {
	case len(whole.Items) == 0 && at >= 0:
		return slices.Delete(changed, at, at+1)
	case len(whole.Items) == 0:
		return changed
	case at < 0:
		return append(changed, whole)
	}
	changed[at] = whole
	return changed
}

// withList puts the tags where the first of them stand, else at the end.
func withList(entries []Option, tags []string) []Option {
	at := slices.IndexFunc(entries, func(o Option) bool { return o.Name == tagsName })
	if at < 0 {
		at = len(entries)
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(o Option) bool { return o.Name == tagsName })
	if len(tags) == 0 {
		return entries
	}
	list := Option{Name: tagsName, Kind: OptionList}
	for _, tag := range tags {
		list.Items = append(list.Items, Option{Kind: OptionString, Text: tag})
	}
	return slices.Insert(entries, at, list)
}
