package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rooms says which rooms a room may import, and so which way data flows:
//
//	asm  permute  numa                     kernels, designs, the host
//	  huffman                              blocks
//	    memory  parallel  plot             limits, goroutines, pictures
//	      storage                          files
//	        corpus                         documents -> text -> features -> fingerprints
//	          index                        fingerprints -> tables -> segments -> index
//	            result                     rows of answers
//	              near  copies  engine     a corpus against itself; copies; the facade: queries, inserts
//	                mapreduce              the same, in steps
//	                  cmd/ndd  bench         programs; the rooms of cmd/ndd: cli -> commands by job -> main
//
// A name stands for its folder and all below it, unless a longer name does. An entry with a longer
// path than its room allows that package only. engine/oracle, which is brute force and faults, is
// imported by tests, from anywhere.
var rooms = map[string][]string{
	"asm":               nil,
	"permute":           nil,
	"numa":              nil,
	"huffman":           {"asm"},
	"engine/memory":     nil,
	"engine/parallel":   nil,
	"engine/plot":       nil,
	"engine/storage":    {"engine/memory"},
	"engine/corpus":     {"asm", "engine/memory", "engine/parallel", "engine/storage", "engine/index/idlist"},
	"engine/index":      {"asm", "permute", "numa", "huffman", "engine/memory", "engine/parallel", "engine/storage", "engine/corpus"},
	"engine/result":     {"engine/storage", "engine/corpus"},
	"engine/near":       {"asm", "permute", "engine/memory", "engine/parallel", "engine/plot", "engine/storage", "engine/corpus", "engine/index", "engine/result"},
	"engine/copies":     {"asm", "engine/memory", "engine/parallel", "engine/storage", "engine/corpus", "engine/index", "engine/result", "engine/near"},
	"engine":            {"permute", "engine/memory", "engine/parallel", "engine/storage", "engine/corpus", "engine/index"},
	"engine/mapreduce":  {"permute", "engine/memory", "engine/parallel", "engine/storage", "engine/corpus", "engine/index", "engine/result", "engine/near", "engine/copies", "engine"},
	"engine/oracle":     {"asm", "engine/memory", "engine/storage"},
	"cmd/ndd/client":    {"cmd/ndd/server", "engine/corpus"}, // its tests, against a server
	"cmd/ndd/server":    libraries,
	"cmd/ndd/cli":       libraries,
	"cmd/ndd/corpus":    with("cmd/ndd/cli"),
	"cmd/ndd/design":    with("cmd/ndd/cli"),
	"cmd/ndd/dedup":     with("cmd/ndd/cli"),
	"cmd/ndd/mapreduce": with("cmd/ndd/cli"),
	"cmd/ndd/index":     with("cmd/ndd/cli", "cmd/ndd/design"),
	"cmd/ndd/query":     with("cmd/ndd/cli", "cmd/ndd/index"),
	"cmd/ndd/inspect":   with("cmd/ndd/cli", "cmd/ndd/index"),
	"cmd/ndd/serve":     with("cmd/ndd/cli", "cmd/ndd/design", "cmd/ndd/index", "cmd/ndd/server"),
	"cmd/ndd/copies":    with("cmd/ndd/cli", "cmd/ndd/corpus", "cmd/ndd/index", "cmd/ndd/inspect"),
	"cmd/ndd": with("cmd/ndd/cli", "cmd/ndd/corpus", "cmd/ndd/design", "cmd/ndd/dedup", "cmd/ndd/mapreduce", "cmd/ndd/index", "cmd/ndd/query",
		"cmd/ndd/inspect", "cmd/ndd/serve", "cmd/ndd/copies"),
	"bench": with("huffman", "engine/oracle", "cmd/ndd/client"),
}

// libraries are the rooms that programs are made of.
var libraries = []string{"asm", "permute", "numa", "engine/memory", "engine/parallel", "engine/plot", "engine/storage", "engine/corpus", "engine/index",
	"engine/result", "engine/near", "engine/copies", "engine", "engine/mapreduce"}

// with returns the libraries and others.
func with(others ...string) []string { return slices.Concat(libraries, others) }

// room returns the room of a package of this module: the longest name that its path begins with.
func room(path string) (found string) {
	path = strings.TrimPrefix(path, "ndd/")
	for name := range rooms {
		if (path == name || strings.HasPrefix(path, name+"/")) && len(name) > len(found) {
			found = name
		}
	}
	return found
}

// may says whether a package of a room may import another package of this module.
func may(from, path string) bool {
	to := room(path)
	return to == from || slices.Contains(rooms[from], to) || slices.Contains(rooms[from], strings.TrimPrefix(path, "ndd/"))
}

// TestRooms holds every package's imports against the table above. Tests may use the oracle and
// the kernels, designs and host from anywhere; tests from outside a package (package x_test) are
// clients, who may use the facade.
func TestRooms(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		seen++
		from := room(p.ImportPath)
		if from == "" {
			t.Errorf("%s lies in no room", p.ImportPath)
		}
		check := func(paths []string, clients ...string) {
			for _, path := range paths {
				if strings.HasPrefix(path, "ndd/") && !slices.Contains(clients, room(path)) && !may(from, path) {
					t.Errorf("%s imports %s: %s may import from %v only", p.ImportPath, path, from, rooms[from])
				}
			}
		}
		check(p.Imports)
		ground := []string{"asm", "permute", "numa", "huffman", "engine/oracle"}
		check(p.TestImports, ground...)
		check(p.XTestImports, append(ground, "engine")...)
	}
	if seen < 30 {
		t.Fatalf("only %d packages", seen)
	}
}

// TestOracleOnlyInTests holds brute force and faults out of every program but tests, and bench, which
// verifies what it measures.
func TestOracleOnlyInTests(t *testing.T) {
	programs := 0
	for _, p := range packages(t) {
		if p.Name != "main" || p.ImportPath == "ndd/bench" {
			continue
		}
		programs++
		for _, path := range p.Deps {
			if room(path) == "engine/oracle" && strings.HasPrefix(path, "ndd/") {
				t.Errorf("%s links %s", p.ImportPath, path)
			}
		}
	}
	if programs == 0 {
		t.Fatal("no program")
	}
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Name                         string
	Imports, TestImports, XTestImports, Deps []string
}

// packages lists those of this module.
func packages(t *testing.T) (all []listed) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Imports,TestImports,XTestImports,Deps", "ndd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// TestFacadeFitsOnTwoScreens: what go doc says of package engine is two screens of 24 lines, with 15 types and functions.
func TestFacadeFitsOnTwoScreens(t *testing.T) {
	out, err := exec.Command("go", "doc", "ndd/engine").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines, names := strings.Count(string(out), "\n"), len(regexp.MustCompile(`(?m)^ *(type|func) `).FindAll(out, -1))
	if lines > 48 || names > 15 || names < 10 {
		t.Errorf("%d lines, %d types and functions:\n%s", lines, names, out)
	}
}

// TestLibrariesNameNoFlag: errors of the libraries say what is wrong, and know nothing of the command line, which says
// what to do about it. What is for tests alone (engine/oracle) may.
func TestLibrariesNameNoFlag(t *testing.T) {
	named := regexp.MustCompile(`(^|[^-\w])--[a-z][a-z-]+|'ndd [a-z]+`)
	if !named.MatchString("give --temp") || !named.MatchString(": 'ndd build -o INDEX' makes one") || named.MatchString("a -- b") {
		t.Fatal("the pattern does not tell flags and commands")
	}
	files := 0
	for _, room := range []string{"asm", "permute", "numa", "huffman", "engine"} {
		err := filepath.WalkDir(filepath.Join("..", "..", room), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && filepath.Base(path) == "oracle" {
				return filepath.SkipDir
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && named.MatchString(l.Value) {
					t.Errorf("%s: %s", fset.Position(l.Pos()), l.Value)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Fatalf("only %d files", files)
	}
}

// TestTopLevel keeps the top level to what was agreed.
func TestTopLevel(t *testing.T) {
	want := []string{"README.md", "asm", "bench", "cmd", "engine", "go.mod", "go.sum", "huffman", "numa", "permute", "testdata"}
	entries, err := os.ReadDir(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".") && !slices.Contains(want, name) && name != "ndd" && name != "ndd-data" {
			t.Errorf("%s does not belong at the top", name)
		}
	}
	for _, name := range want {
		if _, err := os.Stat(filepath.Join("..", "..", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestLinks demands that every link of a page to a file leads to one.
func TestLinks(t *testing.T) {
	link, links := regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`), 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllSubmatch(page, -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), string(m[1]))); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 30 {
		t.Fatalf("only %d links", links)
	}
}
