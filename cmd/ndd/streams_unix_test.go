//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ndd/engine/oracle/must"
)

// command returns a process of ndd in dir, and its standard error.
func command(dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd, stderr := exec.Command("ndd", args...), new(bytes.Buffer)
	cmd.Dir, cmd.Stderr = dir, stderr
	return cmd, stderr
}

// TestReaderGone checks that if the reader closes standard output (| head), unfinished files are removed, and there is
// no message.
func TestReaderGone(t *testing.T) {
	dir := t.TempDir()
	line := `{"id": "` + strings.Repeat("x", 1000) + `", "text": "rivers carry stones from the mountains to the plain ` +
		`and further"}` + "\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(strings.Repeat(line, 500)), 0o644))
	r, w, err := os.Pipe()
	must.Do(t, err)
	cmd, messages := command(dir, "fingerprint", "-q", "--skipped", "skipped.tsv", "a.jsonl")
	cmd.Stdout = w
	r.Close()
	must.Do(t, cmd.Start())
	w.Close()
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != exitPipe || messages.Len() > 0 {
		t.Errorf("status %d, %s", status, messages)
	}
	if names := namesIn(t, dir); len(names) != 1 {
		t.Errorf("%q are left", names)
	}
}

// TestIdlePipe checks that a signal, or two at once, ends the command in order, even while it waits for a pipe without
// a writer.
func TestIdlePipe(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	must.Do(t, syscall.Mkfifo(fifo, 0o600))
	fingerprints := writePrints(t, []uint64{7})
	index := builtIndex(t, fingerprints)
	for _, args := range [][]string{
		{"fingerprint", "-o", "out.ndf", "fifo"},
		{"fingerprint", "-o", "out.ndf", "-"},
		{"dedup", "-o", "out", "--input-format", "jsonl", "fifo"},
		{"batch", "-i", index, "-o", "out", "fifo"},
		{"batch", "-i", index, "-o", "out", "-"},
		{"batch", "--scan", "fifo", "-o", "out", fingerprints},
		{"batch", "--scan", "-", "-o", "out", fingerprints},
		{"query", "-i", index, "-"},
	} {
		for wait := 100 * time.Millisecond; !interruptedIn(t, dir, wait, args); wait *= 2 {
			if wait > 20*time.Second {
				t.Fatalf("%q: never waited for the pipe", args)
			}
		}
	}
}

// interruptedIn starts a command that waits for its input, and interrupts it after a delay. It returns false if the
// process had no handler for signals yet.
func interruptedIn(t *testing.T, dir string, wait time.Duration, args []string) bool {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	cmd, messages := exec.CommandContext(ctx, "ndd", args...), new(bytes.Buffer)
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = dir, messages, waitMax
	cmd.Cancel = func() error { // twice, with a delay, because the system may merge two signals
		cmd.Process.Signal(os.Interrupt)
		time.Sleep(50 * time.Millisecond)
		return cmd.Process.Signal(os.Interrupt)
	}
	idle, err := cmd.StdinPipe()
	must.Do(t, err)
	defer idle.Close()
	must.Do(t, cmd.Start())
	time.AfterFunc(wait, interrupt)
	cmd.Wait()
	how := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if how.Signaled() && how.Signal() == syscall.SIGINT {
		return false
	}
	if status := cmd.ProcessState.ExitCode(); status != exitInterrupted ||
		!strings.HasSuffix(messages.String(), "ndd: interrupted\n") {
		t.Errorf("%q: status %d, %s", args, status, messages)
	}
	if names := namesIn(t, dir); len(names) != 1 {
		t.Errorf("%q: %q are left", args, names)
	}
	return true
}

// TestQueryTurns checks that the command writes the answer to a question before it reads the next one.
func TestQueryTurns(t *testing.T) {
	fingerprints := writePrints(t, []uint64{7})
	cmd, messages := command(t.TempDir(), "query", "-i", builtIndex(t, fingerprints), "-")
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	stuck := time.AfterFunc(waitMax, func() { cmd.Process.Kill() })
	answers := bufio.NewReader(out)
	for _, c := range []struct{ ask, want string }{
		{"\ufeff0000000000000000\r\n", "0000000000000000\t0000000000000007\t3\t0\n"}, // byte order mark and CRLF, as some editors write them
		{"\n0000000000000007\n", "0000000000000007\t0000000000000007\t0\t0\n"},
	} {
		_, err = in.Write([]byte(c.ask))
		must.Do(t, err)
		if got, err := answers.ReadString('\n'); got != c.want {
			t.Fatalf("%q, %v, want %q; %s", got, err, c.want, messages)
		}
	}
	_, err = in.Write([]byte("\nx\n"))
	must.Do(t, err)
	cmd.Wait()
	stuck.Stop()
	if want := "standard input, line 5: "; cmd.ProcessState.ExitCode() != exitFailed ||
		!strings.Contains(messages.String(), want) {
		t.Errorf("status %d, %s, want %s", cmd.ProcessState.ExitCode(), messages, want)
	}
}
