package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/oracle/must"
)

// TestPapers runs the command lines of 'ndd help papers' in a folder with the labelled set. The output of a command
// must have each line that follows it and begins with >, except for the number of spaces.
func TestPapers(t *testing.T) {
	t.Parallel()
	sh := shell{t, t.TempDir()}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	must.Do(t, err)
	bench := filepath.Join(sh.dir, "bench")
	build := exec.Command("go", "build", "-o", bench, "./bench")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	replaced := strings.NewReplacer("go run ./bench", bench, "bench/cluster", filepath.Join(root, "bench", "cluster"))
	commands, output := 0, ""
	for line := range strings.Lines(guideCode(t, "papers", "sh")) {
		command := strings.TrimSuffix(line, "\n")
		want, isOutput := strings.CutPrefix(command, "> ")
		if isOutput {
			if !strings.Contains(oneSpace(output), oneSpace(want)) {
				t.Errorf("%s is not in the output\n%s", want, output)
			}
			continue
		}
		commands++
		if output, err = sh.run("export LC_ALL=C NDD=$(command -v ndd)\n", replaced.Replace(command)); err != nil {
			t.Errorf("%s\n%v: %s", command, err, output)
		}
	}
	if commands < 40 {
		t.Errorf("only %d commands", commands)
	}
}

// oneSpace returns a text with one space between its words.
func oneSpace(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestOneFigure checks that a figure that several pages give is the same on all.
func TestOneFigure(t *testing.T) {
	for _, c := range []struct{ what, page, figure string }{
		{"simhash's precision, English, k = 3", "cmd/ndd/help/papers.md", "99.8 % (English)"},
		{"", "cmd/ndd/help/recipes.md", "2 |  5 |  23"},
		{"", "engine/corpus/simhash/doc.go", ".9978  .9951  .9774"},
		{"Chinese", "cmd/ndd/help/papers.md", "97.9 % (Chinese)"},
		{"", "cmd/ndd/help/recipes.md", "21 | 49 | 170"},
		{"", "engine/corpus/simhash/doc.go", ".9794  .9515  .8304"},
		{"removals by default that are right", "cmd/ndd/help/papers.md", "99.7 % are similar to a kept document"},
		{"", "cmd/ndd/help/decisions.md", "| the default | 100.0 % | 99.9 % | 99.7 % |"},
		{"", "cmd/ndd/help/corpus.md", "| ndd, defaults, mean of 8 keys | 100.0 % | 99.9 % | 99.7 % |"},
		{"", "cmd/ndd/help/recipes.md", "| the default: `-k 8`, sketches | 100.0 % | 99.9 % | 0.3 % |"},
		{"recall of dedup, invented documents", "README.md", "| **`ndd dedup`**, mean of 8 keys | 100.0 | 98.7 | 99.1 | 100.0 |"},
		{"", "cmd/ndd/help/recipes.md", "| the default | 100.0 % | 98.7 % | 99.1 % | 0.0 % |"},
		{"with k = 3", "README.md", "| `ndd dedup -k 3`, mean of 8 keys | 89.8 | 85.2 | 82.6 | 100.0 |"},
		{"", "cmd/ndd/help/recipes.md", "| `-k 3` | 89.8 % | 85.2 % | 82.6 % | 0.0 % |"},
		{"default threshold", "README.md", "The default threshold is 0.74."},
		{"", "cmd/ndd/help/decisions.md", "`--threshold`, 0.74 by default"},
		{"", "cmd/ndd/help/indexes.md", "`--threshold`, 0.74 by default"},
		{"", "cmd/ndd/help/concepts.md", "a threshold, 0.74 by default"},
		{"", "cmd/ndd/help/cluster.md", "--threshold ${THRESHOLD:-0.74}"},
		{"", "bench/cluster/dedup", "--threshold ${THRESHOLD:-0.74}"},
		{"", "engine/options.go", "0 means 0.74."},
		{"", "engine/corpus/sketch/sketch.go", "const DefaultThreshold = 0.74"},
		{"default k", "cmd/ndd/help/decisions.md", "the default is 8."},
		{"", "cmd/ndd/help/corpus.md", "Use the default, k = 8."},
		{"", "cmd/ndd/cli/threshold.go", "const DefaultK = 8"},
		{"8e9 scanned for a million queries", "cmd/ndd/help/papers.md", "46 s, and 77 s"},
		{"", "README.md", "[46 s]"},
		{"", "bench/record/goals.md", "takes 46 s, 77 s of CPU time"},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(c.page)))
		must.Do(t, err)
		if !strings.Contains(oneSpace(string(text)), oneSpace(c.figure)) {
			t.Errorf("%s does not have %q: %s", c.page, c.figure, c.what)
		}
	}
}

// TestPythonThreshold checks that each function of Python with a distance k has the default threshold of the command
// line.
func TestPythonThreshold(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join("python", "ndd", "*.py"))
	must.Do(t, err)
	found := 0
	for _, module := range modules {
		code, err := os.ReadFile(module)
		must.Do(t, err)
		for _, m := range regexp.MustCompile(`threshold: Share = ([0-9.]+),\s*k: Distance`).FindAllSubmatch(code, -1) {
			if found++; string(m[1]) != fmt.Sprint(sketch.DefaultThreshold) {
				t.Errorf("%s: the default threshold is %s, want %v", module, m[1], sketch.DefaultThreshold)
			}
		}
	}
	if found < 2 {
		t.Errorf("only %d defaults", found)
	}
}
