package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rooms says which rooms a room may import from: the data flow of the README.
// "engine/..." is the rooms below engine, "engine" the room itself.
var rooms = map[string][]string{
	"asm":        nil,
	"permute":    nil,
	"numa":       nil,
	"huffman":    {"asm"},
	"engine/...": {"asm", "permute", "numa", "huffman", "engine/..."},
	"engine":     {"asm", "permute", "numa", "huffman", "engine/..."},
	"cmd/ndd":    {"asm", "permute", "numa", "huffman", "engine/...", "engine", "cmd/ndd"},
	"bench":      {"asm", "permute", "numa", "huffman", "engine/...", "engine", "bench"},
}

// room is the one that an import path of this module lies in.
func room(path string) string {
	path = strings.TrimPrefix(path, "ndd/")
	for name := range rooms {
		if below, ok := strings.CutSuffix(name, "/..."); ok && strings.HasPrefix(path, below+"/") {
			return name
		}
	}
	for name := range rooms {
		if path == name || strings.HasPrefix(path, name+"/") {
			return name
		}
	}
	return ""
}

// TestRooms holds every package's imports against the table above. Tests may
// use the oracle and its sets from anywhere, and tests from outside a package
// (package x_test) are clients, who may use the whole engine.
func TestRooms(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "ndd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; seen++ {
		var p struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		from := room(p.ImportPath)
		if from == "" {
			t.Errorf("%s lies in no room", p.ImportPath)
		}
		check := func(path string) {
			to := room(path)
			if !strings.HasPrefix(path, "ndd/") || to == from && from != "engine" ||
				slices.Contains(rooms[from], to) {
				return
			}
			t.Errorf("%s imports %s: %s may import from %v only", p.ImportPath, path, from, rooms[from])
		}
		for _, path := range p.Imports {
			check(path)
		}
		for _, path := range p.TestImports {
			if !strings.HasPrefix(path, "ndd/engine/oracle") {
				check(path)
			}
		}
		for _, path := range p.XTestImports {
			if path != "ndd/engine" && !strings.HasPrefix(path, "ndd/engine/oracle") {
				check(path)
			}
		}
	}
	if seen < 10 {
		t.Fatalf("only %d packages", seen)
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
