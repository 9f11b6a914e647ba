package journal

import (
	"errors"
	"io"
	"io/fs"
	"reflect"
	"testing"
)

// Reading can go on behind any entry, across files, and finds what follows and nothing else.
func TestResumeGoesOnBehindAnyEntry(t *testing.T) {
	fsys, files := written(t, 100, false)
	if len(files) < 3 {
		t.Fatalf("%d files", len(files))
	}
	all, positions, _, err := readAll(t, fsys, "journal")
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	for i := range all {
		r, err := OpenReader(fsys, "journal")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Resume(Place{Position: positions[i], Seq: all[i].Seq, At: all[i].At}); err != nil {
			t.Fatal(err)
		}
		for n := i + 1; n < len(all); n++ {
			e, err := r.Next()
			if err != nil || !reflect.DeepEqual(*e, all[n]) || r.Place().Position != positions[n] {
				t.Fatalf("behind entry %d comes %+v, %v", all[i].Seq, e, err)
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("behind the last entry: %v", err)
		}
		r.Close()
	}
}

func TestResumeInAFileThatIsGone(t *testing.T) {
	fsys, _ := written(t, 10, false)
	r, err := OpenReader(fsys, "journal")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Resume(Place{Position: Position{File: "journal/other"}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
