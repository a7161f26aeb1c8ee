package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// imports lists the packages that a package may import, in the order of the data flow:
//
//	asm  numa                              kernels, the host
//	  huffman  permute                     blocks, designs
//	    memory  parallel  plot             limits, goroutines, pictures
//	      storage                          files
//	        corpus                         documents -> text -> features -> fingerprints
//	          index                        fingerprints -> tables -> segments -> index
//	            result                     rows of answers
//	              rewrite                  copies of inputs, in engine/corpus
//	              near  copies  engine     near-duplicates of a corpus; copies; the facade: queries, inserts
//	                passages               repeated passages
//	                mapreduce              the same, in steps
//	                  cmd/ndd  bench       programs; in cmd/ndd: cli -> commands -> main
//
// A name means the folder and all folders in it, unless another entry names these. An entry that is longer than the
// name of its group allows that package alone. Tests of all packages and bench may import engine/oracle: brute force
// and faults.
var imports = map[string][]string{
	"asm":             nil,
	"permute":         {"asm"},
	"numa":            nil,
	"huffman":         {"asm"},
	"engine/memory":   nil,
	"engine/parallel": nil,
	"engine/plot":     nil,
	"engine/storage":  {"engine/memory", "engine/parallel"},
	"engine/corpus":   {"asm", "engine/memory", "engine/parallel", "engine/storage"},
	"engine/index": {"asm", "permute", "numa", "huffman", "engine/memory", "engine/parallel", "engine/plot",
		"engine/storage", "engine/corpus"},
	"engine/result":         {"engine/storage", "engine/corpus"},
	"engine/corpus/rewrite": {"engine/parallel", "engine/storage", "engine/corpus", "engine/result"},
	"engine/near": {"asm", "permute", "engine/memory", "engine/parallel", "engine/plot", "engine/storage",
		"engine/corpus", "engine/corpus/rewrite", "engine/index", "engine/result"},
	"engine/copies": {"asm", "engine/memory", "engine/parallel", "engine/storage", "engine/corpus",
		"engine/index", "engine/result", "engine/near"},
	"engine/passages": {"engine/memory", "engine/parallel", "engine/storage", "engine/corpus", "engine/corpus/rewrite",
		"engine/index", "engine/result", "engine/near", "engine/copies/ccdet"},
	"engine": {"permute", "engine/memory", "engine/parallel", "engine/storage", "engine/corpus",
		"engine/index"},
	"engine/mapreduce": {"permute", "engine/memory", "engine/parallel", "engine/storage", "engine/corpus",
		"engine/index", "engine/result", "engine/near", "engine/copies", "engine/passages", "engine"},
	"engine/oracle":     {"asm", "engine/memory", "engine/storage"},
	"cmd/ndd/server":    with("cmd/ndd/cli"),
	"cmd/ndd/cli":       libraries,
	"cmd/ndd/corpus":    with("cmd/ndd/cli"),
	"cmd/ndd/design":    with("cmd/ndd/cli"),
	"cmd/ndd/dedup":     with("cmd/ndd/cli"),
	"cmd/ndd/mapreduce": with("cmd/ndd/cli"),
	"cmd/ndd/passages":  with("cmd/ndd/cli"),
	"cmd/ndd/index":     with("cmd/ndd/cli", "cmd/ndd/design"),
	"cmd/ndd/query":     with("cmd/ndd/cli", "cmd/ndd/index"),
	"cmd/ndd/inspect":   with("cmd/ndd/cli", "cmd/ndd/index"),
	"cmd/ndd/serve":     with("cmd/ndd/cli", "cmd/ndd/design", "cmd/ndd/index", "cmd/ndd/server"),
	"cmd/ndd/copies":    with("cmd/ndd/cli", "cmd/ndd/corpus"),
	"cmd/ndd": with("cmd/ndd/cli", "cmd/ndd/corpus", "cmd/ndd/design", "cmd/ndd/dedup", "cmd/ndd/mapreduce",
		"cmd/ndd/index", "cmd/ndd/query",
		"cmd/ndd/inspect", "cmd/ndd/serve", "cmd/ndd/copies", "cmd/ndd/passages"),
	"bench": with("huffman", "engine/oracle"),
}

// liveImports lists the packages of engine/index/live that each of them may import:
//
//	rows       document numbers, expiry, deletions, IDs by row
//	memtable   the newest documents
//	version    what a reader sees: segments and memtables
//	search     answers from a view
//	live       the log, files, merges; wires the others
var liveImports = map[string][]string{
	"rows":     nil,
	"memtable": {"rows"},
	"version":  {"rows", "memtable"},
	"search":   {"rows", "memtable", "version"},
	"":         {"rows", "memtable", "version", "search"},
}

// corpusImports lists the packages of engine/corpus that the readers of documents may import:
//
//	magic   columns         first bytes of formats; Parquet
//	input   unpack   text   which files; decompression; bytes to text
//	format                  files to documents
var corpusImports = map[string][]string{
	"input":  nil,
	"unpack": nil,
	"text":   {"magic"},
	"format": {"magic", "columns", "input", "unpack", "text"},
}

// libraries are the packages that programs may import.
var libraries = []string{"asm", "permute", "numa", "engine/memory", "engine/parallel", "engine/plot",
	"engine/storage", "engine/corpus", "engine/corpus/rewrite", "engine/index",
	"engine/result", "engine/near", "engine/copies", "engine/passages", "engine", "engine/mapreduce"}

// with returns the libraries and others.
func with(others ...string) []string { return slices.Concat(libraries, others) }

// groupOf returns the longest name in imports that is the package or a folder that contains it.
func groupOf(path string) (found string) {
	path = strings.TrimPrefix(path, "example.org/ndd/")
	for name := range imports {
		if (path == name || strings.HasPrefix(path, name+"/")) && len(name) > len(found) {
			found = name
		}
	}
	return found
}

// mayImport reports whether a package of a group may import another package of this module.
func mayImport(from, path string) bool {
	to := groupOf(path)
	return to == from || slices.Contains(imports[from], to) || slices.Contains(imports[from], strings.TrimPrefix(path, "example.org/ndd/"))
}

// TestPackages checks the imports of every package against the tables above. Tests may import the oracle, kernels,
// designs and the host everywhere. Tests of package x_test may also import the facade.
func TestPackages(t *testing.T) {
	const live, corpus = "example.org/ndd/engine/index/live", "example.org/ndd/engine/corpus/"
	seen, seenLive := 0, 0
	for _, p := range packages(t) {
		seen++
		from := groupOf(p.ImportPath)
		if from == "" {
			t.Errorf("%s is in no group", p.ImportPath)
		}
		own, inLive := strings.CutPrefix(p.ImportPath, live)
		allowedLive, known := liveImports[strings.TrimPrefix(own, "/")]
		if inLive {
			seenLive++
		}
		if inLive && !known {
			t.Errorf("%s is not in the table", p.ImportPath)
		}
		allowedCorpus, inCorpus := corpusImports[strings.TrimPrefix(p.ImportPath, corpus)]
		check := func(paths []string, clients ...string) {
			for _, path := range paths {
				if to, ok := strings.CutPrefix(path, corpus); ok && inCorpus && !slices.Contains(allowedCorpus, to) {
					t.Errorf("%s imports %s", p.ImportPath, path)
				}
				if strings.HasPrefix(path, "example.org/ndd/") && !slices.Contains(clients, groupOf(path)) && !mayImport(from, path) {
					t.Errorf("%s imports %s: %s may import from %v only", p.ImportPath, path, from, imports[from])
				}
				if to, ok := strings.CutPrefix(path, live); ok && inLive && !slices.Contains(allowedLive, strings.TrimPrefix(to, "/")) {
					t.Errorf("%s imports %s", p.ImportPath, path)
				}
			}
		}
		check(p.Imports)
		if slices.Contains(p.Imports, "text/template") || slices.Contains(p.Imports, "html/template") {
			t.Errorf("%s imports a package of templates: plot.Page says what that costs", p.ImportPath)
		}
		ground := []string{"asm", "permute", "numa", "huffman", "engine/oracle"}
		check(p.TestImports, ground...)
		check(p.XTestImports, append(ground, "engine")...)
	}
	if seen < 30 || seenLive != len(liveImports) {
		t.Fatalf("%d packages, %d of live; want %d of live", seen, seenLive, len(liveImports))
	}
}

// hashes lists the packages that may import each hash. An empty list allows all packages. PACKAGES.md has the reasons.
var hashes = map[string][]string{
	"github.com/minio/highwayhash": {},
	"github.com/cespare/xxhash/v2": {},
	"hash/maphash":                 {"example.org/ndd/engine/corpus/token", "example.org/ndd/engine/passages"},
	"hash/crc32":                   {"example.org/ndd/engine/corpus/columns"},
	"crypto/sha256": {"example.org/ndd/cmd/ndd/server/access", "example.org/ndd/cmd/ndd/server/ui", "example.org/ndd/engine/corpus/simhash",
		"example.org/ndd/engine/storage/object"},
}

// TestHashes checks that two families of hashes decide about identity. Others are allowed only for standards and for
// tables in memory. PACKAGES.md lists all of them.
func TestHashes(t *testing.T) {
	text, err := os.ReadFile("../../engine/PACKAGES.md")
	must.Do(t, err)
	for name, users := range hashes {
		for _, word := range append([]string{filepath.Base(strings.TrimSuffix(name, "/v2"))}, users...) {
			if word = strings.TrimPrefix(strings.TrimPrefix(word, "example.org/ndd/engine/"), "example.org/ndd/"); !bytes.Contains(text, []byte(word)) {
				t.Errorf("PACKAGES.md does not name %s", word)
			}
		}
	}
	for _, p := range packages(t) {
		for _, path := range p.Imports {
			users, known := hashes[path]
			isHash := strings.HasPrefix(path, "hash/") || regexp.MustCompile(`^crypto/(md5|sha)|/\w*hash\w*(/v\d+)?$|/blake`).MatchString(path)
			if isHash && !strings.HasPrefix(path, "example.org/ndd/") && (!known || len(users) > 0 && !slices.Contains(users, p.ImportPath)) {
				t.Errorf("%s imports %s: highwayhash and xxhash are for identity", p.ImportPath, path)
			}
		}
	}
}

// TestTextIsLight checks that a program that makes fingerprints of pages links no reader of tables, no object store and
// no web client.
func TestTextIsLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "example.org/ndd/engine/corpus/text", "example.org/ndd/engine/corpus/simhash").Output()
	must.Do(t, err)
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "example.org/ndd/engine/corpus/token") {
		t.Fatalf("%d dependencies without the tokens: %q", len(deps), deps)
	}
	for _, path := range deps {
		if slices.Contains([]string{"net/http", "example.org/ndd/engine/storage/object", "example.org/ndd/engine/corpus/columns"}, path) ||
			strings.HasPrefix(path, "github.com/parquet-go/") || strings.HasPrefix(path, "github.com/minio/minio-go/") {
			t.Errorf("%s is linked", path)
		}
	}
}

// goPackage has the fields of go list that the tests use.
type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// packages lists the packages of this module.
func packages(t *testing.T) (all []goPackage) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "example.org/ndd/...").Output()
	must.Do(t, err)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// TestFacadeFitsOnThreeScreens checks that go doc example.org/ndd/engine prints at most three screens of 24 lines, and
// at most 24 types and functions.
func TestFacadeFitsOnThreeScreens(t *testing.T) {
	out, err := exec.Command("go", "doc", "example.org/ndd/engine").Output()
	must.Do(t, err)
	lines, names := strings.Count(string(out), "\n"), len(regexp.MustCompile(`(?m)^ *(type|func) `).FindAll(out, -1))
	if lines > 72 || names > 24 || names < 10 {
		t.Errorf("%d lines, %d types and functions:\n%s", lines, names, out)
	}
}

// TestTopLevel checks that the repository has only these files and folders at its top level.
func TestTopLevel(t *testing.T) {
	want := []string{"README.md", "asm", "bench", "cmd", "engine", "go.mod", "go.sum", "huffman", "numa", "permute",
		"testdata"}
	entries, err := os.ReadDir(filepath.Join("..", ".."))
	must.Do(t, err)
	var got []string
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".") && name != "ndd" && name != "ndd-data" {
			got = append(got, name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the top level has %q, want %q", got, want)
	}
}

// TestLinks checks that every link from a Markdown page to a file has a target.
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
	must.Do(t, err)
	if links < 30 {
		t.Fatalf("only %d links", links)
	}
}
