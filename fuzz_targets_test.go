package doze_test

import (
	"bufio"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fuzzClasses are the kinds of outside bytes; each has at least one target.
var fuzzClasses = []string{
	"frame", "header", "body", "observer", "batch", "records", "inflate", "payload", "index", "segment", "journal",
	"event", "snapshot", "config", "schema", "http", "sasl", "certificate", "dns",
}

// networkFacing are the packages in which a function that reads outside bytes says so.
var networkFacing = []string{"certs", "cmd/doze", "configs", "console", "credentials", "fixtures", "handlers", "journal", "names", "projections", "registry", "sasl", "segments", "wire"}

var (
	markerForm = regexp.MustCompile(`^//fuzz:parser class=([a-z]+) (Fuzz\w+)$`)
	notForm    = regexp.MustCompile(`^//fuzz:not-a-parser \S.*$`)
	parserName = regexp.MustCompile(`^(?i:parse|decode|unmarshal|read|scan)`)
)

// target is one fuzz target: its package's directory and its name.
type target struct{ pkg, name string }

// listedTargets reads testdata/fuzz-targets.txt: package, target and class, a line each.
func listedTargets(t *testing.T) map[target]string {
	t.Helper()
	f, err := os.Open("testdata/fuzz-targets.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	listed := map[target]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 {
			t.Fatalf("line %q is not a package, a target and a class", lines.Text())
		}
		listed[target{fields[0], fields[1]}] = fields[2]
	}
	return listed
}

func TestEveryParserHasAFuzzTarget(t *testing.T) {
	targets, marked := map[target]bool{}, map[target]string{}
	sources(t, func(dir string, f *ast.File, test bool) {
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if test && strings.HasPrefix(fn.Name.Name, "Fuzz") {
				targets[target{dir, fn.Name.Name}] = true
			}
			if test {
				continue
			}
			for at, class := range markersOf(t, dir, fn) {
				marked[at] = class
			}
		}
	})
	listed := listedTargets(t)
	docs, err := os.ReadFile("docs/fuzzing.md")
	if err != nil {
		t.Fatal(err)
	}
	for at := range targets {
		if _, ok := listed[at]; !ok {
			t.Errorf("%s of %s is not in testdata/fuzz-targets.txt", at.name, at.pkg)
		}
		if !strings.Contains(string(docs), fmt.Sprintf("| `%s` | `%s` |", at.pkg, at.name)) {
			t.Errorf("%s of %s is not in the table of docs/fuzzing.md", at.name, at.pkg)
		}
	}
	for at, class := range marked {
		if !targets[at] {
			t.Errorf("a parser in %s names %s, which is not there", at.pkg, at.name)
		}
		if !slices.Contains(fuzzClasses, class) {
			t.Errorf("a parser in %s is of class %q, which is none of %v", at.pkg, class, fuzzClasses)
		}
	}
	for at := range listed {
		if !targets[at] {
			t.Errorf("testdata/fuzz-targets.txt lists %s of %s, which is not there", at.name, at.pkg)
		}
	}
	of := slices.Collect(maps.Values(listed))
	for _, class := range fuzzClasses {
		if !slices.Contains(of, class) {
			t.Errorf("no target is of class %s", class)
		}
	}
}

// markersOf are the targets that a function's doc comment names, and complains about one that should name any.
func markersOf(t *testing.T, dir string, fn *ast.FuncDecl) map[target]string {
	found, excused := map[target]string{}, false
	if fn.Doc != nil {
		for _, line := range fn.Doc.List {
			if m := markerForm.FindStringSubmatch(line.Text); m != nil {
				found[target{dir, m[2]}] = m[1]
			} else if notForm.MatchString(line.Text) {
				excused = true
			} else if strings.HasPrefix(line.Text, "//fuzz:") {
				t.Errorf("%s of %s: %q is no marker", fn.Name.Name, dir, line.Text)
			}
		}
	}
	if len(found) == 0 && !excused && slices.Contains(networkFacing, dir) && parserName.MatchString(fn.Name.Name) && takesBytes(fn) {
		t.Errorf("%s of %s reads outside bytes by its name and parameters: mark it //fuzz:parser or //fuzz:not-a-parser", fn.Name.Name, dir)
	}
	return found
}

// takesBytes tells whether a parameter is bytes, a string, a reader or a request.
func takesBytes(fn *ast.FuncDecl) bool {
	for _, p := range fn.Type.Params.List {
		switch typ := p.Type.(type) {
		case *ast.ArrayType:
			if elem, ok := typ.Elt.(*ast.Ident); ok && elem.Name == "byte" && typ.Len == nil {
				return true
			}
		case *ast.Ident:
			if typ.Name == "string" {
				return true
			}
		case *ast.SelectorExpr:
			if typ.Sel.Name == "Reader" || typ.Sel.Name == "Request" {
				return true
			}
		case *ast.StarExpr:
			if sel, ok := typ.X.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Reader" || sel.Sel.Name == "Request") {
				return true
			}
		}
	}
	return false
}
