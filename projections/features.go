package projections

import (
	"fmt"

	"doze/journal"
)

// Feature is a feature of KIP-584 whose level was set (UpdateFeatures).
type Feature struct {
	Name   string
	Level  int16
	Update int64 // the how manieth update it was
}

// Features are those whose level was set; the others run at the level of the release that doze answers as.
type Features struct {
	tree    tree[Feature]
	updates int64
}

func newFeatures() Features {
	return Features{tree: newTree(func(a, b Feature) bool { return a.Name < b.Name })}
}

func (f *Features) clone() Features { return Features{f.tree.clone(), f.updates} }

// Level is the level that was set; false when none was.
func (f Features) Level(name string) (int16, bool) {
	found, set := f.tree.Get(Feature{Name: name})
	return found.Level, set
}

// Updates counts how often a level was set.
func (f Features) Updates() int64 { return f.updates }

func (s *State) applyFeatureUpdated(e *journal.FeatureUpdated) {
	s.Features.updates++
	s.Features.tree.ReplaceOrInsert(Feature{e.Name, e.Level, s.Features.updates})
}

func (f Feature) encode(w *rowWriter) {
	w.string(f.Name)
	w.int(int64(f.Level))
	w.int(f.Update)
}

// Fields shows the feature.
func (f Feature) Fields() []Field {
	return []Field{{"feature", f.Name}, {"level", int64(f.Level)}, {"update", f.Update}}
}

func eachFeature(s *State, yield func(row) bool) {
	s.Features.tree.Ascend(func(f Feature) bool { return yield(f) })
}

func loadFeature(s *State, r *rowReader) {
	f := Feature{Name: r.string(), Level: r.int16(), Update: r.int()}
	s.Features.updates = max(s.Features.updates, f.Update)
	s.Features.tree.ReplaceOrInsert(f)
}

func (s *State) checkFeatures() (err error) {
	last := int64(0)
	s.Features.tree.Ascend(func(f Feature) bool {
		if f.Level < 0 || f.Update <= 0 {
			err = fmt.Errorf("feature %q: level %d, update %d", f.Name, f.Level, f.Update)
		}
		last = max(last, f.Update)
		return err == nil
	})
	if err == nil && last != s.Features.updates {
		err = fmt.Errorf("features: the last update is %d, counted %d", last, s.Features.updates)
	}
	return err
}
