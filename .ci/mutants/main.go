// Command mutants takes the guards of the code out, one by one, and reports each change that no
// test notices. Run it from the root of the repository:
//
//	go run ./.ci/mutants             all changes of list.txt
//	go run ./.ci/mutants NAME...     those only
//	go run ./.ci/mutants -fits       only report the changes that no longer fit the code
//
// An entry of list.txt begins with a name, then gives the tests that must fail, as package, test
// and flags of go test, and the changes: a place, the lines there, and the lines to put instead.
//
//	wal-no-sync
//	test ./engine/storage/wal TestPowerCut
//	in engine/storage/wal Log.lead
//	-		synced = l.file.sync()
//	+		synced = nil
//
// A place is a folder and a function of any of its files, or a file. The lines must occur there
// exactly once; white space at the ends of lines does not count. A changed file reaches the
// compiler as an overlay, so that the tree stays as it is.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

const listFile = ".ci/mutants/list.txt"

// A mutant is an entry of the list.
type mutant struct {
	name    string
	tests   [][]string // package, test, flags
	changes []change
}

// A change replaces lines of a function or a file.
type change struct {
	dir, place string   // place is a function of the folder, or empty
	old, new   []string // lines
}

func main() {
	fits := flag.Bool("fits", false, "run no test")
	flag.Parse()
	// Read the list, and choose the mutants that are named.
	data, err := os.ReadFile(listFile)
	if err != nil {
		fail(err)
	}
	all, err := parse(string(data))
	if err != nil {
		fail(err)
	}
	if flag.NArg() > 0 {
		all = slices.DeleteFunc(all, func(m mutant) bool { return !slices.Contains(flag.Args(), m.name) })
		if len(all) != flag.NArg() {
			fail(fmt.Errorf("of the %d names given, %s has %d", flag.NArg(), listFile, len(all)))
		}
	}
	// Judge as many mutants at the same time as there are processors.
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		fail(err)
	}
	defer os.RemoveAll(tmp)
	verdicts := make([]chan string, len(all))
	turns := make(chan struct{}, runtime.NumCPU())
	for i, m := range all {
		verdicts[i] = make(chan string, 1)
		go func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			verdicts[i] <- m.judge(filepath.Join(tmp, m.name), *fits)
		}()
	}
	// Print the verdicts in order of the list.
	failed := 0
	for i, m := range all {
		verdict := <-verdicts[i]
		if verdict != "" {
			failed++
		}
		if verdict != "" || !*fits {
			fmt.Printf("%-40s %s\n", m.name, cmp.Or(verdict, "noticed"))
		}
	}
	what := map[bool]string{false: "not noticed", true: "do not fit"}[*fits]
	fmt.Printf("%d changes, %d %s\n", len(all), failed, what)
	if failed > 0 {
		os.RemoveAll(tmp)
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "mutants:", err)
	os.Exit(2)
}

// parse reads the list.
func parse(text string) (all []mutant, err error) {
	for n, line := range strings.Split(text, "\n") {
		// A line without a space is the name of a new mutant.
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] != '-' && line[0] != '+' && rest == "":
			all = append(all, mutant{name: line})
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("%s:%d: a name comes first", listFile, n+1)
		}
		// Other lines describe the last mutant: its tests, and the places of its changes.
		m := &all[len(all)-1]
		fields := strings.Fields(rest)
		switch {
		case word == "test" && len(fields) >= 2:
			m.tests = append(m.tests, fields)
			continue
		case word == "in" && len(fields) >= 1:
			m.changes = append(m.changes, change{dir: fields[0], place: strings.Join(fields[1:], " ")})
			continue
		}
		if len(m.changes) == 0 || line[0] != '-' && line[0] != '+' {
			return nil, fmt.Errorf("%s:%d: want a name, test, in, - or +", listFile, n+1)
		}
		// Lines with - and + are the text of the last change.
		c := &m.changes[len(m.changes)-1]
		if line[0] == '-' {
			c.old = append(c.old, line[1:])
		} else {
			c.new = append(c.new, line[1:])
		}
	}
	return all, nil
}

// judge applies the changes to copies of files and, unless fits is true, runs the tests. It returns "" if each test
// fails.
func (m mutant) judge(tmp string, fits bool) string {
	// Apply the changes.
	overlay := map[string]string{} // copies of the changed files, by the absolute name of the file
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return err.Error()
	}
	for _, c := range m.changes {
		if err := c.apply(tmp, overlay); err != nil {
			return "does not fit: " + err.Error()
		}
	}
	if len(m.tests) == 0 || len(m.changes) == 0 {
		return "names no test, or changes nothing"
	}
	if fits {
		return ""
	}
	// Run the tests with the changed files in place of the original ones.
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return err.Error()
	}
	file := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return err.Error()
	}
	for _, test := range m.tests {
		began := time.Now()
		run := "^" + strings.ReplaceAll(test[1], "/", "$/^") + "$"
		args := append([]string{"test", "-vet=off", "-count=1", "-timeout=10m", "-run", run}, append(test[2:], test[0])...)
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOFLAGS=-overlay="+file) // the environment also reaches commands that a test builds
		said, err := cmd.CombinedOutput()
		switch {
		case bytes.Contains(said, []byte("[build failed]")), bytes.Contains(said, []byte("[setup failed]")):
			return "does not build: " + string(said)
		case bytes.Contains(said, []byte("no tests to run")):
			return fmt.Sprintf("there is no test %s in %s", test[1], test[0])
		case err == nil:
			return fmt.Sprintf("SURVIVES %s (%v)", test[1], time.Since(began).Round(time.Second))
		}
	}
	return ""
}

// apply writes the changed file into tmp and enters it into overlay.
func (c change) apply(tmp string, overlay map[string]string) error {
	// Search all files of a folder for the function.
	names, none := []string{c.dir}, fmt.Errorf("%s has no function %s", c.dir, c.place)
	if c.place != "" {
		names, _ = filepath.Glob(filepath.Join(c.dir, "*.go"))
	}
	for _, name := range names {
		path, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		// Change a file again if an earlier change already has a copy of it.
		now := path
		if changed, ok := overlay[path]; ok {
			now = changed
		}
		text, err := os.ReadFile(now)
		if err != nil {
			return err
		}
		from, to := 0, len(text)
		if c.place != "" {
			if from, to = function(text, c.place); to == 0 {
				continue
			}
		}
		changed, err := replace(string(text[from:to]), c.old, c.new)
		if err != nil { // the function may have a form for other systems
			none = fmt.Errorf("%s: %s: %w", name, c.place, err)
			continue
		}
		overlay[path] = filepath.Join(tmp, fmt.Sprint(len(overlay), "-", filepath.Base(path)))
		return os.WriteFile(overlay[path], []byte(string(text[:from])+changed+string(text[to:])), 0o644)
	}
	return none
}

// function returns the start and the end of a function in a Go file, or 0 and 0 if there is no such function. The name
// of a method is Type.Method.
func function(text []byte, name string) (from, to int) {
	receiver, method, isMethod := strings.Cut(name, ".")
	head := "func " + regexp.QuoteMeta(receiver)
	if isMethod {
		head = `func \((\w+ )?\*?` + receiver + `(\[[^]]*\])?\) ` + method
	}
	place := regexp.MustCompile(`(?ms)^` + head + `[(\[][^\n]*(\}$|.*?^\}$)`).FindIndex(text)
	if place == nil {
		return 0, 0
	}
	return place[0], place[1]
}

// replace returns text with the old lines replaced by the new ones. The old lines must occur exactly once.
func replace(text string, old, new []string) (string, error) {
	lines := strings.Split(text, "\n")
	at := -1
	for i := 0; i+len(old) <= len(lines); i++ {
		if !slices.EqualFunc(lines[i:i+len(old)], old, func(a, b string) bool {
			return strings.TrimSpace(a) == strings.TrimSpace(b)
		}) {
			continue
		}
		if at >= 0 {
			return "", errors.New("the lines occur more than once")
		}
		at = i
	}
	if at < 0 || len(old) == 0 {
		return "", errors.New("the lines do not occur")
	}
	return strings.Join(slices.Replace(lines, at, at+len(old), new...), "\n"), nil
}
