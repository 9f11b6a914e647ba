package doze_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What a fold or a decision does must depend on nothing but the state and the events: a replay does it again, on another
// machine, years later. These tests read the sources of what folds (all of projections) and of what decides (in handlers)
// and refuse the clock, chance, the machine, other goroutines, floats, and the order of a map.

func TestProjectionsAreDeterministic(t *testing.T) {
	pkgs := load(t, "./projections")
	for _, finding := range pkgs["doze/projections"].wholly() {
		t.Error(finding)
	}
}

func TestDecisionsAreDeterministic(t *testing.T) {
	pkg := load(t, "./handlers")["doze/handlers"]
	roots := pkg.decisions()
	if len(roots) < 20 {
		t.Errorf("%d decisions found; do their names still begin with decide?", len(roots))
	}
	for _, finding := range pkg.reachable(roots) {
		t.Error(finding)
	}
}

// firstDecision is where imports and variables of the bad sample end: only a package that is looked at as a whole has them.
const firstDecision = 20

var wanted = regexp.MustCompile(`"([^"]*)"`)

// TestDeterminismIsSeenToBeBroken: a sample of every mistake is found where it is, and nothing else.
func TestDeterminismIsSeenToBeBroken(t *testing.T) {
	pkg := load(t, "./testdata/determinism/bad")["doze/testdata/determinism/bad"]
	want := map[string]bool{}
	for _, file := range pkg.files {
		for _, group := range file.Comments {
			for _, c := range group.List {
				if text, ok := strings.CutPrefix(c.Text, "// want "); ok {
					for _, m := range wanted.FindAllStringSubmatch(text, -1) {
						want[pkg.finding(c.Pos(), m[1])] = true
					}
				}
			}
		}
	}
	compare(t, "in the whole package", pkg.wholly(), want)
	inDecisions := map[string]bool{}
	for w := range want {
		if line, _ := strconv.Atoi(strings.Split(w, ":")[1]); line > firstDecision {
			inDecisions[w] = true
		}
	}
	compare(t, "in decisions", pkg.reachable(pkg.decisions()), inDecisions)
}

func compare(t *testing.T, where string, found []string, want map[string]bool) {
	t.Helper()
	for w := range want {
		if !slices.Contains(found, w) {
			t.Errorf("%s not found: %s", where, w)
		}
	}
	for _, f := range found {
		if !want[f] {
			t.Errorf("%s found, and not wanted: %s", where, f)
		}
	}
}

// checked is a package with its types.
type checked struct {
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
	pkg   *types.Package
	funcs map[types.Object]*ast.FuncDecl
}

// load type-checks packages of this module; what they import is read as the compiler left it.
func load(t *testing.T, patterns ...string) map[string]*checked {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, patterns...)
	cmd := exec.Command("go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		DepOnly                 bool
	}
	exports, fset, pkgs := map[string]string{}, token.NewFileSet(), map[string]*checked{}
	compiled := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var l listed
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		exports[l.ImportPath] = l.Export
		if l.DepOnly {
			continue
		}
		if pkgs[l.ImportPath], err = check(fset, compiled, l.ImportPath, l.Dir, l.GoFiles); err != nil {
			t.Fatal(err)
		}
	}
	return pkgs
}

func check(fset *token.FileSet, imports types.Importer, path, dir string, names []string) (*checked, error) {
	c := &checked{fset: fset, funcs: map[types.Object]*ast.FuncDecl{}, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}}
	for _, name := range names {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f)
	}
	conf := types.Config{Importer: imports}
	var err error
	if c.pkg, err = conf.Check(path, fset, c.files, c.info); err != nil {
		return nil, err
	}
	for _, f := range c.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				c.funcs[c.info.Defs[fn.Name]] = fn
			}
		}
	}
	return c, nil
}

func (c *checked) finding(pos token.Pos, what string) string {
	p := c.fset.Position(pos)
	return fmt.Sprintf("%s:%d: %s", filepath.Base(p.Filename), p.Line, what)
}

// wholly looks at all of the package.
func (c *checked) wholly() (found []string) {
	for _, f := range c.files {
		for _, spec := range f.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); forbidden(path) {
				found = append(found, c.finding(spec.Pos(), path))
			}
		}
		found = append(found, c.look(f)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// decisions are the functions named decide..., the methods of what decides, and every function that is given a
// transaction of the journal.
func (c *checked) decisions() (roots []ast.Node) {
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if strings.HasPrefix(n.Name.Name, "decide") || n.Recv != nil && c.decides(n.Recv) || c.decides(n.Type.Params) {
					roots = append(roots, n)
				}
			case *ast.FuncLit:
				if c.decides(n.Type.Params) {
					roots = append(roots, n)
				}
			}
			return true
		})
	}
	return roots
}

// decides says whether one of the parameters, or the receiver, is a decision under way.
func (c *checked) decides(fields *ast.FieldList) bool {
	for _, field := range fields.List {
		t := c.info.TypeOf(field.Type)
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		named, ok := types.Unalias(t).(*types.Named)
		if !ok {
			continue
		}
		name := named.Obj().Name()
		if name == "groupDecision" || name == "txnDecision" || name == "deletion" || name == "Tx" && named.Obj().Pkg().Path() == "doze/journal" {
			return true
		}
	}
	return false
}

// reachable looks at the roots and at every function of the package that they name.
func (c *checked) reachable(roots []ast.Node) (found []string) {
	seen := map[ast.Node]bool{}
	for len(roots) > 0 {
		n := roots[0]
		roots = roots[1:]
		if seen[n] {
			continue
		}
		seen[n] = true
		found = append(found, c.look(n)...)
		inspectDecision(n, func(n ast.Node) {
			if id, ok := n.(*ast.Ident); ok && c.info.Uses[id] != nil {
				if fn := c.funcs[origin(c.info.Uses[id])]; fn != nil {
					roots = append(roots, fn)
				}
			}
		})
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func origin(o types.Object) types.Object {
	if fn, ok := o.(*types.Func); ok {
		return fn.Origin()
	}
	return o
}

// inspectDecision visits all but the effects: what is given to a method Then runs after the decision.
func inspectDecision(root ast.Node, visit func(ast.Node)) {
	ast.Inspect(root, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if method, ok := call.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Then" {
				return false
			}
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

func (c *checked) look(root ast.Node) (found []string) {
	sorted := map[ast.Node]bool{} // calls whose order does not matter
	add := func(n ast.Node, what string) { found = append(found, c.finding(n.Pos(), what)) }
	inspectDecision(root, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return
		case *ast.GoStmt:
			add(n, "a go statement")
		case *ast.SelectStmt:
			add(n, "select")
		case *ast.SendStmt:
			add(n, "a channel")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				add(n, "a channel")
			}
		case *ast.RangeStmt:
			switch c.info.TypeOf(n.X).Underlying().(type) {
			case *types.Map:
				add(n, "range over a map")
			case *types.Chan:
				add(n, "a channel")
			}
		case *ast.CallExpr:
			if fn, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 && c.isFunc(fn.Sel, "slices", "Sorted", "SortedFunc") {
				sorted[n.Args[0]] = true
			}
			if fn, ok := n.Fun.(*ast.SelectorExpr); ok && !sorted[n] && c.isFunc(fn.Sel, "maps", "Keys", "Values", "All") {
				add(n, "maps."+fn.Sel.Name)
			}
		case *ast.Ident:
			if o := c.info.Uses[n]; o != nil && o.Pkg() != nil && forbidden(o.Pkg().Path()) {
				if _, isImport := o.(*types.PkgName); !isImport {
					add(n, o.Pkg().Path()+"."+o.Name())
				}
			}
		}
		if e, ok := n.(ast.Expr); ok && c.isFloat(e) {
			add(n, "a float")
		}
	})
	return found
}

func (c *checked) isFunc(id *ast.Ident, pkg string, names ...string) bool {
	o := c.info.Uses[id]
	return o != nil && o.Pkg() != nil && o.Pkg().Path() == pkg && slices.Contains(names, o.Name())
}

func (c *checked) isFloat(e ast.Expr) bool {
	t := c.info.TypeOf(e)
	if t == nil {
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsFloat|types.IsComplex) != 0
}

// forbidden are the packages that say something other on another machine or at another time.
func forbidden(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	switch path {
	case "time", "math/rand", "math/rand/v2", "crypto/rand", "hash/maphash", "syscall":
		return true
	}
	return first == "os" || first == "net"
}
