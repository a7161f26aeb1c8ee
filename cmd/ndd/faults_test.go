package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ndd/engine"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/disk"
)

// signalsMax is the number of signals after which a test gives up. On a loaded machine, some processes end before the
// test can send the signal.
const signalsMax = 200

// A killTest is a command that is killed and interrupted.
type killTest struct {
	moments int                                  // spread over the time that the command takes
	args    func(out string) []string            // arguments of the command, which writes to the folder out
	results func(out string) map[string]string   // returns the content of the output folder by name; nil means its files
	killed  func(out string, remaining []string) // looks at a folder after a kill, if it is not nil
	clear   []string                             // names to remove before the command runs again
}

// test kills and interrupts processes at random moments. After a kill, every file with a final name is complete.
// After an interrupt, all files are complete or missing. A rerun gives the same output and removes leftovers of the
// kill.
func (k killTest) test(t *testing.T) {
	moments, args := k.moments, k.args
	if k.results == nil {
		k.results = func(out string) map[string]string { return contents(t, out) }
	}
	start := func(out string) (*exec.Cmd, *bytes.Buffer) {
		cmd, stderr := exec.Command("ndd", args(out)...), new(bytes.Buffer)
		cmd.Stderr, cmd.Env = stderr, append(os.Environ(), "TMPDIR="+t.TempDir())
		must.Do(t, cmd.Start())
		return cmd, stderr
	}
	run := func(out string) map[string]string {
		if cmd, stderr := start(out); cmd.Wait() != nil {
			t.Fatal(stderr)
		}
		return k.results(out)
	}
	began := time.Now()
	want := run(t.TempDir())
	took := time.Since(began)
	came := map[os.Signal]int{}
	for i := 0; i < 2*moments || came[os.Kill] == 0 || came[os.Interrupt] == 0; i++ {
		if i == signalsMax {
			t.Fatalf("of %d signals hardly any came while it ran: %v", i, came)
		}
		signal := []os.Signal{os.Kill, os.Interrupt}[i%2]
		out := t.TempDir()
		cmd, stderr := start(out)
		// A process that has just begun has no handler yet; then nothing has been made either.
		began, moment := time.Now(), i/2%moments
		time.Sleep(took * time.Duration(moment) / time.Duration(moments))
		cmd.Process.Signal(signal) // it may have ended
		err := cmd.Wait()
		status := cmd.ProcessState.ExitCode()
		switch {
		case status == exitInterrupted, signal == os.Kill && status == -1 && moment > 0:
			came[signal]++
		case status == exitDone:
			took = min(took, time.Since(began)) // the machine has become faster
		}
		if signal == os.Interrupt && status != exitInterrupted && status != exitDone && status != -1 {
			t.Fatalf("interrupted: status %d, %v: %s", status, err, stderr)
		}
		there, names := k.results(out), namesIn(t, out)
		for name, data := range there {
			if whole, final := want[name]; final && data != whole || !final && status == exitInterrupted {
				t.Fatalf("%v: %s is there and not whole", signal, name)
			}
		}
		switch {
		case status == exitInterrupted && len(names) > 0, status == exitInterrupted &&
			!strings.HasSuffix(stderr.String(), "ndd: interrupted\n"):
			t.Fatalf("interrupted: %v is left; %s", names, stderr)
		case status == -1 && k.killed != nil:
			k.killed(out, names)
		}
		if i >= moments {
			continue
		}
		remove(t, out, k.clear...)
		again := run(out)
		for name := range want {
			if again[name] != want[name] {
				t.Fatalf("the rerun differs in %s", name)
			}
		}
		for name := range again {
			if strings.Contains(name, ".tmp-") {
				t.Errorf("the rerun has left %s", name)
			}
		}
	}
}

// remove removes the given names from a folder.
func remove(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		must.Do(t, os.RemoveAll(filepath.Join(dir, name)))
	}
}

// testFaults runs a command on disks on which a call fails. Every remaining file is a complete file of an undisturbed
// run. A rerun with --force gives all files.
func testFaults(t *testing.T, step, files int, args func(out string) []string, flags ...string) {
	t.Helper()
	sound := t.TempDir()
	must.Do(t, runOn(t.Context(), nil, append(args(sound), flags...)))
	want := contents(t, sound)
	var out string
	calls := faults.Each(t, step, func(d *disk.Disk) error {
		out = t.TempDir()
		err := runOn(t.Context(), d, append(args(out), "--threads", "1"))
		if err != nil && exitStatus(t.Context(), err) != exitFailed {
			t.Errorf("status %d: %v", exitStatus(t.Context(), err), err)
		}
		return err
	}, func(f faults.Fault, whole bool) {
		remaining := contents(t, out)
		for name, data := range remaining {
			if data != want[name] {
				t.Fatalf("%+v: %s is left, and is not whole", f, name)
			}
		}
		if whole && len(remaining) < len(want) {
			t.Errorf("%+v: not everything is there", f)
		}
		if again := args(out); slices.Contains(again, "--force") {
			if err := runOn(t.Context(), nil, again); err != nil || !maps.Equal(contents(t, out), want) {
				t.Fatalf("%+v: the rerun differs: %v", f, err)
			}
		}
	})
	if len(want) != files || calls < 30 {
		t.Fatalf("%d files in %d calls", len(want), calls)
	}
}

// TestBuildKilled checks that after a build was killed or interrupted, the index is complete and sound, or does not
// exist. A kill may leave a hidden folder, which the error of a query names, and the lock of the name.
func TestBuildKilled(t *testing.T) {
	base := writePrints(t, sets.All(long.Or(50_000, 200_000), 0, 3, 5)[0].Base)
	killTest{
		moments: long.Or(2, 5),
		args: func(out string) []string {
			return []string{"build", "-o", filepath.Join(out, "index"), "--tables", "10", base}
		},
		results: func(out string) map[string]string {
			found := map[string]string{}
			for _, name := range namesIn(t, out) {
				if found[name] = ""; name != "index" {
					continue
				}
				x, err := engine.Open(t.Context(), filepath.Join(out, name), engine.OpenOptions{})
				if err == nil {
					err = x.Check(t.Context())
					x.Close()
				}
				if found[name] = "sound"; err != nil {
					found[name] = err.Error()
				}
			}
			return found
		},
		killed: func(out string, remaining []string) {
			remaining = slices.DeleteFunc(remaining, func(name string) bool { return name == ".index.claim-ndd" })
			if len(remaining) == 0 || remaining[0] == "index" {
				return
			}
			_, err := live.ReadManifest(filepath.Join(out, "index"))
			if len(remaining) > 1 || !strings.HasPrefix(remaining[0], ".index.tmp-") || err == nil ||
				!strings.Contains(err.Error(), remaining[0]+" belongs to a build") {
				t.Errorf("killed: %v is left; %v", remaining, err)
			}
		},
		clear: []string{"index"},
	}.test(t)
}

// TestLostOutput writes to a full disk after some input was skipped: the lost output is an error.
func TestLostOutput(t *testing.T) {
	line := `{"text":"` + strings.Repeat("some words of a page that stands twice ", 5) + `"}` + "\n"
	in := writeFile(t, filepath.Join(t.TempDir(), "in.jsonl"), []byte(line+"{broken\n"+line))
	var messages bytes.Buffer
	r, full := io.Pipe()
	r.CloseWithError(errors.New("no space left"))
	status := run(t.Context(), []string{"passages", "--bytes", "20", in}, strings.NewReader(""), full, &messages)
	if status != exitFailed || !strings.Contains(messages.String(), "ndd: standard output: no space left") {
		t.Errorf("status %d, want %d: %s", status, exitFailed, messages.String())
	}
}

// TestUnwrittenCopies fills the disk while copies are written: no folder of copies appears.
func TestUnwrittenCopies(t *testing.T) {
	var line strings.Builder
	for i := range 200 {
		fmt.Fprintf(&line, "word%d ", i)
	}
	dir := t.TempDir()
	kept, twice := filepath.Join(dir, "kept"), strings.Repeat(`{"text":"`+line.String()+`"}`+"\n", 2)
	in := writeFile(t, filepath.Join(dir, "in.jsonl"),
		[]byte(twice+`{"text":"`+strings.ReplaceAll(line.String(), "word", "other")+`"}`))
	evals := writeFile(t, filepath.Join(dir, "evals.jsonl"), []byte(twice))
	table := writeFile(t, filepath.Join(dir, "dropped.tsv"), []byte("file\trow\n"+in+"\t2\n"))
	full := errors.New("no space left")
	for _, args := range [][]string{
		{"passages", "--bytes", "20", "--write-kept"},
		{"passages", "--bytes", "20", "--annotate"},
		{"decontaminate", "--evals", evals, "--question", "text", "--write-kept"},
		{"dedup", "--write-kept"},
		{"dedup", "--annotate"},
		{"filter", "--dropped", table, "--write-kept"},
	} {
		failed := false
		d := disk.WithFailures(func(call disk.Call, path string) error {
			if call == disk.CallWrite && strings.Contains(path, "in.jsonl") {
				failed = true
				return full
			}
			return nil
		})
		if err := runOn(t.Context(), d, append(args, kept, in)); !errors.Is(err, full) || !failed {
			t.Errorf("ndd %s: %v", args, err)
		}
		if _, err := os.Stat(kept); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("ndd %s: the folder is there: %v", args, err)
			must.Do(t, os.RemoveAll(kept))
		}
	}
}
