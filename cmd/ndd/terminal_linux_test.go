package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/disk"
)

// terminal opens a pseudo-terminal. Text written to tty can be read from the other end.
func terminal(t *testing.T) (other, tty *os.File) {
	t.Helper()
	other, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	must.Do(t, err)
	t.Cleanup(func() { other.Close() })
	must.Do(t, unix.IoctlSetPointerInt(int(other.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(other.Fd()), unix.TIOCGPTN)
	must.Do(t, err)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	must.Do(t, err)
	t.Cleanup(func() { tty.Close() })
	must.Do(t, unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}))
	return other, tty
}

// shownOf returns the output of f to a terminal.
func shownOf(t *testing.T, f func(tty *os.File)) string {
	t.Helper()
	other, tty := terminal(t)
	go func() {
		defer tty.Close()
		f(tty)
	}()
	shown, err := io.ReadAll(other)
	if err != nil && !errors.Is(err, syscall.EIO) { // EIO means that tty was closed
		t.Fatal(err)
	}
	return string(shown)
}

// TestBuildProgress checks that a build draws its progress only if standard error is a terminal and no flag forbids it.
// A bar is drawn ten times a second. On a slow disk it is visible when six of the seven parts are done.
func TestBuildProgress(t *testing.T) {
	t.Parallel()
	base, drawn := writePrints(t, randomPrints(5000)), regexp.MustCompile(`building [^\r]*[1-6] / 7`)
	slow := disk.WithFailures(func(c disk.Call, _ string) error {
		if c == disk.CallWrite {
			time.Sleep(60 * time.Millisecond)
		}
		return nil
	})
	build := func(stderr io.Writer, flags ...string) {
		g := &cli.Globals{Streams: cli.Streams{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: stderr},
			Disk: slow}
		args := []string{"build", "-o", filepath.Join(t.TempDir(), "index"), "--design", "cover-6-4-3", "--layout",
			"huffman", "--threads", "1", base}
		if status := runWith(t.Context(), g, append(args, flags...)); status != exitDone {
			t.Errorf("%q: status %d", flags, status)
		}
	}
	for _, flags := range [][]string{nil, {"--no-progress"}, {"--quiet"}} {
		shown := shownOf(t, func(tty *os.File) { build(tty, flags...) })
		if flags == nil && !drawn.MatchString(shown) || flags != nil && strings.Contains(shown, "/ 7") {
			t.Errorf("%q: %q", flags, shown)
		}
	}
	var messages bytes.Buffer
	build(&messages)
	if strings.Contains(messages.String(), "/ 7") || strings.ContainsAny(messages.String(), "\x1b\r") {
		t.Errorf("without a terminal: %q", &messages)
	}
}

// TestMessageAboveBar checks that a message during a bar appears completely above it, and nothing of the bar remains.
func TestMessageAboveBar(t *testing.T) {
	t.Parallel()
	other, tty := terminal(t)
	g := &cli.Globals{Streams: cli.Streams{Stderr: tty}, Progress: cli.Progress{Format: "text"}}
	must.Do(t, g.Begin(new(cobra.Command)))
	var shown []byte
	until := func(text string) {
		for b := make([]byte, 4096); !bytes.Contains(shown, []byte(text)); {
			n, err := other.Read(b)
			must.Do(t, err)
			shown = append(shown, b[:n]...)
		}
	}
	for i := range 3 {
		b := g.Progress.NewBar("reading", int64(100+i), cli.CountUnit)
		b.Set(50)
		until(fmt.Sprintf("50 / %d", 100+i)) // it has been drawn
		g.Log.Info(fmt.Sprintf("message %d, which must stay", i))
		b.Set(60)
		b.End()
	}
	g.Log.Info("the end")
	until("the end\r\n")
	want := "ndd: message 0, which must stay\nndd: message 1, which must stay\nndd: message 2, which must stay\nndd: " +
		"the end\n"
	if got := onScreen(string(shown)); got != want {
		t.Errorf("%q shows\n%s", shown, got)
	}
}

// onScreen returns the final content of a terminal.
func onScreen(shown string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(shown, "\r\n", "\n"), "\n") {
		at := ""
		for part := range strings.SplitSeq(line, "\r") { // each overwrites the one before
			at = part + at[min(len(part), len(at)):]
		}
		lines = append(lines, strings.TrimRight(at, " "))
	}
	return strings.Join(lines, "\n")
}

// TestBinaryToTerminal checks that binary records are not written to a terminal, unless it is named as a file.
func TestBinaryToTerminal(t *testing.T) {
	base, queries := sets.Planted(500, 50)
	f, q := writePrints(t, base), writePrints(t, queries)
	_, tty := terminal(t)
	for _, c := range []struct {
		flags  []string
		status int
	}{
		{[]string{"--format", "bin"}, exitUsage},
		{[]string{"--format", "bin", "-o", "-"}, exitUsage},
		{[]string{"--format", "bin", "-o", filepath.Join(t.TempDir(), "hits.bin")}, exitDone},
		{[]string{"--format", "tsv", "-k", "0"}, exitDone},
	} {
		var messages bytes.Buffer
		status := run(t.Context(), append([]string{"batch", "--scan", f, q}, c.flags...), nil, tty, &messages)
		if status != c.status || (status == exitUsage) != strings.Contains(messages.String(), "not written to a terminal") {
			t.Errorf("%q: status %d, want %d: %s", c.flags, status, c.status, &messages)
		}
	}
}

// TestPipeProgress checks that for a pipe, whose length is unknown, the bytes and the rate are shown.
func TestPipeProgress(t *testing.T) {
	t.Parallel()
	chunk := bytes.Repeat([]byte("rivers carry stones to the plain\n"), 1<<15)
	r, w := io.Pipe()
	go func() {
		for range 12 { // run for more than a second, because rates are shown after one
			if _, err := w.Write(chunk); err != nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		w.Close()
	}()
	shown := shownOf(t, func(tty *os.File) {
		args := []string{"fingerprint", "--input-format", "lines", "-"}
		if status := run(t.Context(), args, r, io.Discard, tty); status != exitDone {
			t.Errorf("status %d", status)
		}
	})
	if !regexp.MustCompile(`reading [\d.]+ [KM]iB, [\d.]+ [KM]iB/s`).MatchString(shown) {
		t.Errorf("%q", shown)
	}
}
