package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ndd/engine/oracle"
	"ndd/engine/oracle/curl"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// TestMain lets scripts run this test binary as the command ndd, and as curl where there is none.
func TestMain(m *testing.M) {
	commands := map[string]func(){"ndd": main}
	if _, err := exec.LookPath("curl"); err != nil || filepath.Base(os.Args[0]) == "curl" {
		commands["curl"] = curl.Main
	}
	testscript.Main(m, commands)
}

// TestScripts runs testdata/script/*.txtar: each is a session at a shell. They
// know, beside testscript's own commands:
//
//	status N ndd ...            runs ndd and demands that exit status
//	prints N NQ K SHAPE DIR     writes base.bin, q.bin and the oracle's answer want.tsv into DIR
//	flip FILE OFFSET            flips a bit; a negative offset counts from the end
//	concat OUT FILE...          writes files one after the other
//	merge OUT FILE...           merges sorted answers, as ndd batch --help says
//	lines RAW FILE              writes raw fingerprints as lines with their rows
//	sortlines FILE              sorts lines by their bytes
//	head FILE N OUT             writes the first N lines
//	mapreduce JOB ... FILE...   a map for each file, three reduces: all results in the file results
//	serving, post, hangup, stopping  run a server: see servers
func TestScripts(t *testing.T) {
	var s servers
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			root, err := exec.Command("go", "env", "GOROOT").Output()
			env.Setenv("GOSRC", string(bytes.TrimSpace(root))+"/src")
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status,
			"prints": prints,
			"flip":   flip,
			"concat": concat,
			"merge":  merge,

			"lines":     printLines,
			"sortlines": sortLines,
			"head":      headLines,
			"mapreduce": runJob,

			"serving":  s.serving,
			"post":     s.post,
			"stopping": s.stopping,
			"hangup":   s.hangup,
		},
	})
}

func concat(ts *testscript.TestScript, _ bool, args []string) {
	var all []byte
	for _, name := range args[1:] {
		all = append(all, ts.ReadFile(name)...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), all, 0o644))
}

// merge is LC_ALL=C sort -s -m -t TAB -k1,1n -k3,3n -k2,2, which not every system has.
func merge(ts *testscript.TestScript, _ bool, args []string) {
	var lines [][]string
	for _, name := range args[1:] {
		for line := range strings.Lines(ts.ReadFile(name)) {
			lines = append(lines, strings.Split(line, "\t"))
		}
	}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		ts.Check(err)
		return n
	}
	slices.SortStableFunc(lines, func(a, b []string) int {
		return cmp.Or(cmp.Compare(number(a[0]), number(b[0])), cmp.Compare(number(a[2]), number(b[2])), cmp.Compare(a[1], b[1]))
	})
	var all []byte
	for _, line := range lines {
		all = append(all, strings.Join(line, "\t")...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), all, 0o644))
}

func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if args[0] != strconv.Itoa(got) {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

func prints(ts *testscript.TestScript, _ bool, args []string) {
	var number [3]int
	for i := range number {
		n, err := strconv.Atoi(args[i])
		ts.Check(err)
		number[i] = n
	}
	n, nq, k := number[0], number[1], number[2]
	for _, set := range sets.All(n, nq, k, 1) {
		if set.Name != args[3] {
			continue
		}
		var want bytes.Buffer
		for _, h := range oracle.Search(set.Base, set.Queries, k) {
			fmt.Fprintf(&want, "%d\t%016x\t%d\t%d\n", h.Query, h.Fingerprint, h.Distance, h.Row)
		}
		dir := ts.MkAbs(args[4])
		ts.Check(os.MkdirAll(dir, 0o755))
		ts.Check(os.WriteFile(dir+"/base.bin", store.Bytes64(set.Base), 0o644))
		ts.Check(os.WriteFile(dir+"/q.bin", store.Bytes64(set.Queries), 0o644))
		ts.Check(os.WriteFile(dir+"/want.tsv", want.Bytes(), 0o644))
		return
	}
	ts.Fatalf("no set %q", args[3])
}

func flip(ts *testscript.TestScript, _ bool, args []string) {
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 4
	ts.Check(os.WriteFile(path, data, 0o644))
}
