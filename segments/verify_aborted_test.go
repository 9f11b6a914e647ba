package segments

import (
	"path"
	"strings"
	"testing"

	"doze/disk"
)

// wrongLists are the lists that Verify and Examine call wrong; the two must agree.
func wrongLists(t *testing.T, mem *disk.Mem) (details []string) {
	t.Helper()
	id := ID{topicA, 0}
	v, err := Verify(mem, path.Join("segments", id.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range v.Problems {
		if strings.HasSuffix(p.File, "."+abortedExt) && !p.Harmless {
			details = append(details, p.Detail)
		}
	}
	r, err := Examine(mem, "segments", id, "")
	if err != nil || len(r.Lists) != len(details) {
		t.Fatalf("%v; examined: %v, verified: %v", err, r.Lists, details)
	}
	return details
}

// TestWrongListsAreFound: a list that a start would believe and that is not what the log says.
func TestWrongListsAreFound(t *testing.T) {
	mem := disk.NewMem()
	d := openTest(t, mem)
	p := d.Partition(ID{topicA, 0}, Config{})
	m := newTxnModel()
	m.append(t, p, 1, true, 2, 0) // 0
	m.finish(t, p, 1, true, 1, 0) // 2
	m.append(t, p, 2, true, 1, 0) // 3
	m.append(t, p, 1, true, 1, 0) // 4
	m.append(t, p, 1, true, 2, 0) // 5
	m.finish(t, p, 1, false, 1, 0)
	m.finish(t, p, 2, false, 1, 0)
	m.finish(t, p, 3, false, 1, 0) // of nothing
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	mem = mem.Crash(disk.KillProcess())
	dir := path.Join("segments", ID{topicA, 0}.String())
	name := path.Join(dir, segmentName(0, abortedExt))
	raw, err := disk.ReadFile(mem, name, 1<<20)
	if err != nil || len(raw) != 3*abortedBytes {
		t.Fatal(len(raw), err)
	}
	mark, _ := parseAborted(raw[2*abortedBytes:])
	first, second := aborted{1, 4, 7, 3}, aborted{2, 3, 8, 9}
	for note, c := range map[string]struct {
		lines []aborted
		want  string
	}{
		"as it is":             {[]aborted{first, second}, ""},
		"without the first":    {[]aborted{second}, "lacks the transaction of producer 1"},
		"without the last":     {[]aborted{first}, "lacks the transaction of producer 2"},
		"empty":                {nil, "lacks the transaction of producer 1"},
		"one that was not":     {[]aborted{{1, 0, 2, 3}, first, second}, "no transaction was aborted at offset 2"},
		"one behind":           {[]aborted{first, second, {1, 9, 10, 10}}, "no transaction was aborted at offset 10"},
		"of nothing":           {[]aborted{first, second, {3, 9, 9, 10}}, ""},
		"of another producer":  {[]aborted{{2, 4, 7, 3}, second}, "a marker of producer 1, not of 2"},
		"begins later":         {[]aborted{{1, 5, 7, 3}, second}, "begins at offset 4, not at 5"},
		"begins before":        {[]aborted{{1, 2, 7, 3}, second}, "begins at offset 4, not at 2"},
		"begins where none is": {[]aborted{{1, 3, 7, 3}, second}, ""},
		"stable too early":     {[]aborted{{1, 4, 7, 8}, second}, "all is stable up to 3, not up to 8"},
		"stable later":         {[]aborted{{1, 4, 7, 2}, second}, ""},
	} {
		changed := mem.Crash(disk.KillProcess())
		var b []byte
		for i := range c.lines {
			b = appendAborted(b, &c.lines[i])
		}
		end := mark
		end.first = int64(len(c.lines))
		write := func(b []byte) []string {
			if err := disk.WriteFile(changed, dir, name, b); err != nil {
				t.Fatal(err)
			}
			return wrongLists(t, changed)
		}
		got := write(appendAborted(b, &end))
		if (len(got) == 0) != (c.want == "") || len(got) > 1 || len(got) == 1 && !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q, expected %q", note, got, c.want)
		}
		if got := write(b); len(got) > 0 {
			t.Errorf("%s, without the mark: %q", note, got)
		}
	}
}
