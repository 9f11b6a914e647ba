package avro

// Unbounded says whether an array or map may have values that take no bytes: a few bytes then say that there are billions.
func (p *Parsed) Unbounded() bool {
	found := false
	_ = walk(p.Root, func(s *Schema) error {
		found = found || s.Type == Array && empty(s.Items, map[*Schema]bool{})
		return nil
	})
	return found
}

// empty says whether a value of the schema can take no bytes.
func empty(s *Schema, within map[*Schema]bool) bool {
	switch s.Type {
	case Null:
		return true
	case Fixed:
		return s.Size == 0
	case Record:
		if within[s] {
			return true // a record in itself has no value at all
		}
		within[s] = true
		defer delete(within, s)
		for _, f := range s.Fields {
			if !empty(f.Schema, within) {
				return false
			}
		}
		return true
	}
	return false // a map's entry has a key, a union's value an index
}
