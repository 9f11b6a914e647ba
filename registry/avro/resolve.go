//lint:file-ignore ST1005 clients see these texts, as another registry writes them

package avro

import "fmt"

// resolve puts definitions in the place of names that were used before them.
func (p *parser) resolve(root *Schema) (*Schema, error) {
	seen := map[*Schema]bool{}
	var put func(s **Schema) error
	put = func(slot **Schema) error {
		if s := *slot; s.Type == unresolved {
			known := p.names[s.FullName()]
			if known == nil {
				return fmt.Errorf("Undefined schema: %s", s.FullName())
			}
			*slot = known
		}
		s := *slot
		if seen[s] {
			return nil
		}
		seen[s] = true
		for _, inner := range slots(s) {
			if err := put(inner); err != nil {
				return err
			}
		}
		if s.Type == Union {
			return checkUnion(s)
		}
		return nil
	}
	err := put(&root)
	return root, err
}

// slots are the places in a schema that hold another.
func slots(s *Schema) (all []**Schema) {
	for _, f := range s.Fields {
		all = append(all, &f.Schema)
	}
	for i := range s.Branches {
		all = append(all, &s.Branches[i])
	}
	if s.Items != nil {
		all = append(all, &s.Items)
	}
	return all
}

// walk visits every schema once.
func walk(root *Schema, visit func(*Schema) error) error {
	seen, todo := map[*Schema]bool{}, []*Schema{root}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		if err := visit(s); err != nil {
			return err
		}
		inner := slots(s)
		for i := len(inner) - 1; i >= 0; i-- {
			todo = append(todo, *inner[i])
		}
	}
	return nil
}
