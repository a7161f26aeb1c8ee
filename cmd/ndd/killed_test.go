package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ndd/engine/oracle/must"
)

// signalsMax is after how many signals a test says that they do not come in time. On a loaded
// machine some processes end before the test, which waits for its own turn, sends theirs.
const signalsMax = 200

// A killing is a command that is killed and interrupted.
type killing struct {
	moments int                                // spread over the time that the command takes
	args    func(out string) []string          // of the command, which writes to the folder out
	results func(out string) map[string]string // what is in a folder, by name; nil for its files
	partly  bool                               // results may be there after an interruption
	killed  func(out string, left []string)    // looks at a folder after a kill, if it is not nil
	clear   []string                           // what is removed before the command is run again
}

// test kills and interrupts processes until some of either came to their end so. One that is killed
// leaves nothing under a final name that is not whole; one that is interrupted leaves nothing that
// is not whole, or nothing at all; and a rerun gives the same and removes what a kill left.
func (k killing) test(t *testing.T) {
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
		there, names := k.results(out), left(t, out)
		for name, data := range there {
			if whole, final := want[name]; final && data != whole || !final && status == exitInterrupted {
				t.Fatalf("%v: %s is there and not whole", signal, name)
			}
		}
		switch {
		case status == exitInterrupted && len(names) > 0 && !k.partly, status == exitInterrupted &&
			!strings.HasSuffix(stderr.String(), "ndd: interrupted\n"):
			t.Fatalf("interrupted: %v is left; %s", names, stderr)
		case status == -1 && k.killed != nil:
			k.killed(out, names)
		}
		if i >= moments {
			continue
		}
		for _, name := range k.clear {
			must.Do(t, os.RemoveAll(filepath.Join(out, name)))
		}
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
