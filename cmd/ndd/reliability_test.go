package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestReliabilityPage compares engine/RELIABILITY.md with the code. Every test that it names, as package.Test,
// exists. Every promise has a test, or a note that it is not proved yet.
func TestReliabilityPage(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "engine", "RELIABILITY.md"))
	must.Do(t, err)
	named := regexp.MustCompile(`\b([a-z][a-z0-9/]*)\.((?:Test|Fuzz)[A-Z]\w*)`)
	found := named.FindAllSubmatch(page, -1)
	if len(found) < 50 {
		t.Fatalf("only %d tests are named", len(found))
	}
	for _, m := range found {
		if dir, test := string(m[1]), string(m[2]); !inTests(t, filepath.Join(root, dir),
			regexp.MustCompile(`\nfunc `+test+`\(`)) {
			t.Errorf("there is no %s in %s", test, dir)
		}
	}
	promises := strings.Split(strings.Split(string(page), "## Long forms")[0], "\n**")[1:]
	if len(promises) < 20 {
		t.Fatalf("only %d promises", len(promises))
	}
	for _, p := range promises {
		if name, _, _ := strings.Cut(p, "."); !named.MatchString(p) && !strings.Contains(p, "ot proved yet") {
			t.Errorf("%q has no test, and is not said to have none", name)
		}
	}
}

// TestLongForms checks the commands of the long forms on the page: their tests and flags exist.
func TestLongForms(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "engine", "RELIABILITY.md"))
	must.Do(t, err)
	forms := regexp.MustCompile("`go test \\./(\\S+) -run (\\w+) ([^`]*)`").FindAllStringSubmatch(string(page), -1)
	if len(forms) < 4 {
		t.Fatalf("only %d long forms", len(forms))
	}
	for _, f := range forms {
		dir := filepath.Join(root, f[1])
		if !inTests(t, dir, regexp.MustCompile(`\nfunc (Test)?\w*`+f[2])) {
			t.Errorf("%s: there is no test %s", f[0], f[2])
		}
		for flag := range strings.FieldsSeq(f[3]) {
			name, is := strings.CutPrefix(flag, "-")
			defined := regexp.MustCompile(`flag\.\w+\("` + regexp.QuoteMeta(name) + `"`)
			if name == "long" {
				defined = regexp.MustCompile(`"example.org/ndd/engine/oracle/long"`)
			}
			if is && name != "timeout" && !inTests(t, dir, defined) {
				t.Errorf("%s: there is no flag %s", f[0], flag)
			}
		}
	}
}

// inTests reports whether a test file in the folder matches.
func inTests(t *testing.T, dir string, what *regexp.Regexp) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	must.Do(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.Do(t, err)
		if what.Match(text) {
			return true
		}
	}
	return false
}
