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

// testKilled kills and interrupts processes with args, at moments spread over the time that one
// takes, until some of either came to their end so. One that is killed leaves nothing under a final
// name that is not whole; one that is interrupted leaves what interrupted allows; and a rerun,
// after the folders named in clear are removed, gives the same bytes and removes what a kill left.
func testKilled(t *testing.T, moments int, args func(out string) []string,
	interrupted func(out string, want map[string]string), clear ...string) {
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
		return contents(t, out)
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
		for name := range want {
			if data, err := os.ReadFile(filepath.Join(out, name)); err == nil && string(data) != want[name] {
				t.Fatalf("%v: %s is there and not whole", signal, name)
			}
		}
		if signal == os.Interrupt && status == exitInterrupted {
			interrupted(out, want)
		}
		if i >= moments {
			continue
		}
		for _, name := range clear {
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
