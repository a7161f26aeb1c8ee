package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

// TestScripts runs the scripts testdata/script/*.txtar. They have these commands in addition to those of testscript:
//
//	ndd ... [<FILE]             runs ndd in this process, which is quicker than exec ndd ...
//	status N ndd ... [<FILE]    runs ndd and demands that exit status
//	prints N NQ K SHAPE DIR     writes base.bin, q.bin and the oracle's answer want.tsv into DIR
//	flip FILE OFFSET            flips a bit; a negative offset counts from the end
//	concat OUT FILE...          writes files one after the other
//	set FILE LINE...            writes lines, such as settings
//	serving, post, hangup, stopping  run a server: see servers
func TestScripts(t *testing.T) {
	var s servers
	testscript.RunT(serialRunner{t}, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOSRC", goSource(t))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ndd":    nddCommand,
			"status": status,
			"prints": prints,
			"flip":   flip,
			"concat": concat,

			"set": setLines,

			"serving":  s.serving,
			"post":     s.post,
			"stopping": s.stopping,
			"hangup":   s.hangup,
		},
	})
}

// A serialRunner runs scripts one after the other, because they share the current folder and the environment of the
// process.
type serialRunner struct{ *testing.T }

func (serialRunner) Parallel()     {}
func (serialRunner) Verbose() bool { return testing.Verbose() }

func (t serialRunner) Run(name string, script func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { script(serialRunner{t}) })
}

// goSource returns the folder of Go's sources: texts that every machine with these tests has.
func goSource(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must.Do(t, err)
	return string(bytes.TrimSpace(root)) + "/src"
}

// scriptVariables are the variables that scripts set for ndd.
var scriptVariables = []string{
	"TMPDIR", "NDD_TEXT", "NDD_THREADS", "NDD_THREDS", "NDD_SERVICE_HOST", "NDD_SERVER", "NDD_NUMA", "NDD_EXACT",
	"mapreduce_task_attempt_id", "mapreduce_job_maps", "mapreduce_map_input_file", "mapreduce_map_input_start",
}

// runHere runs ndd in this process, in the script's folder and with its variables, and returns the
// exit status.
func runHere(ts *testscript.TestScript, stdin string, stdout, stderr io.Writer, args ...string) int {
	here, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer os.Chdir(here)
	for _, name := range scriptVariables {
		if value := ts.Getenv(name); value != "" {
			before, was := os.LookupEnv(name)
			os.Setenv(name, value)
			defer func() {
				if os.Unsetenv(name); was {
					os.Setenv(name, before)
				}
			}()
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	return run(ctx, args, strings.NewReader(stdin), stdout, stderr)
}

func nddCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("the exit status is demanded by number: status N ndd ...")
	}
	status(ts, false, append([]string{"0", "ndd"}, args...))
}

func setLines(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(args[1:], "\n")), 0o644))
}

func concat(ts *testscript.TestScript, _ bool, args []string) {
	var all []byte
	for _, name := range args[1:] {
		all = append(all, ts.ReadFile(name)...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), all, 0o644))
}

func status(ts *testscript.TestScript, _ bool, args []string) {
	var stdin string
	if last := len(args) - 1; strings.HasPrefix(args[last], "<") {
		stdin, args = ts.ReadFile(args[last][1:]), args[:last]
	}
	if got := runHere(ts, stdin, ts.Stdout(), ts.Stderr(), args[2:]...); args[0] != strconv.Itoa(got) {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

func prints(ts *testscript.TestScript, _ bool, args []string) {
	var n, nq, k int
	_, err := fmt.Sscan(strings.Join(args[:3], " "), &n, &nq, &k)
	ts.Check(err)
	set := sets.ByName(args[3], n, nq, k, 1)
	if set.Name == "" {
		ts.Fatalf("no set %q", args[3])
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
}

func flip(ts *testscript.TestScript, _ bool, args []string) {
	offset, err := strconv.Atoi(args[1])
	ts.Check(err)
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	if offset < 0 {
		offset += len(data)
	}
	data[offset] ^= 4
	ts.Check(os.WriteFile(path, data, 0o644))
}
