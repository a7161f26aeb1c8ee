package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle/must"
)

// TestAmounts: the text has the total, the rate and the time left as soon as they are known.
func TestAmounts(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		text        progressText
		done, total int64
		took        time.Duration
		want        string
	}{
		{BytesUnit, 0, 0, 0, "0 B"},
		{BytesUnit, 10 * mib, 0, time.Second / 2, "10 MiB"},
		{BytesUnit, 10 * mib, 0, 2 * time.Second, "10 MiB, 5.0 MiB/s"}, // a pipe
		{BytesUnit, 10 * mib, 30 * mib, 2 * time.Second, "10 MiB / 30 MiB, 5.0 MiB/s, 4s left"},
		{BytesUnit, 30 * mib, 30 * mib, 2 * time.Second, "30 MiB / 30 MiB, 15 MiB/s"},
		{BytesUnit, 40 * mib, 30 * mib, 2 * time.Second, "40 MiB / 30 MiB, 20 MiB/s"}, // a file that grew
		{CountUnit, 2, 7, 4 * time.Second, "2 / 7, 10s left"},
		{CountUnit, 5000, 20000, 2 * time.Second, "5,000 / 20,000, 2,500/s, 6s left"},
	} {
		if got := c.text(c.done, c.total, c.took); got != c.want {
			t.Errorf("%d of %d in %v: %q, want %q", c.done, c.total, c.took, got, c.want)
		}
	}
}

// TestSizeOf: the bar of a folder counts the sizes of all its files on disk.
func TestSizeOf(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, fstest.MapFS{"a.txt": {Data: make([]byte, 100)},
		"b/c.jsonl.gz": {Data: make([]byte, 20)}, "b/.hidden": {Data: make([]byte, 7)}}))
	if got := sizeOf(t.Context(), input.Files(t.Context(), []string{dir, filepath.Join(dir, "a.txt")})); got != 220 {
		t.Errorf("%d bytes, want 220", got)
	}
}

// TestTold: if standard error is no terminal, a line of the log shows the progress every ten seconds. In JSON every
// number is a field. --verbose lists the open files.
func TestTold(t *testing.T) {
	told := func(g *Globals) []string {
		var messages bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			g.Stderr = &messages
			must.Do(t, g.Begin(&cobra.Command{}))
			m := &input.Meter{}
			bar := &Bar{end: g.Progress.draw("reading", readText(m), m, func() (int64, int64) { return m.Bytes.Load(), 4 << 20 })}
			end := m.Begin(input.File{Path: "in/a.jsonl"})
			m.Bytes.Store(1 << 20)
			m.Files.Store(1)
			m.Documents.Store(5000)
			time.Sleep(10*time.Second + 1)
			end()
			m.Bytes.Store(2 << 20)
			time.Sleep(10 * time.Second)
			bar.End()
			time.Sleep(time.Minute)
		})
		return strings.Split(strings.TrimSuffix(messages.String(), "\n"), "\n")
	}
	got := strings.Join(told(&Globals{Progress: Progress{Format: "text", verbose: true}}), "\n")
	if want := `ndd: reading: 1.0 MiB / 4.0 MiB, 102 KiB/s, 30s left; 5,000 documents
ndd: reading now: in/a.jsonl
ndd: reading: 2.0 MiB / 4.0 MiB, 102 KiB/s, 20s left; 5,000 documents`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var line struct {
		Msg, Task                     string
		Done, Total, Files, Documents int64
		PerSecond                     float64 `json:"per_second"`
		SecondsLeft                   float64 `json:"seconds_left"`
	}
	lines := told(&Globals{Progress: Progress{Format: "json"}})
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil || len(lines) != 2 || line.Msg != "progress" ||
		line.Task != "reading" || line.Done != 1<<20 || line.Total != 4<<20 || line.Files != 1 || line.Documents != 5000 ||
		line.PerSecond < 104000 || line.PerSecond > 105000 || line.SecondsLeft < 29 || line.SecondsLeft > 31 {
		t.Errorf("%q, %+v, %v", lines, line, err)
	}
	for _, g := range []*Globals{{Progress: Progress{Format: "text", Quiet: true}},
		{Progress: Progress{Format: "json", off: true}}} {
		if got := told(g); len(got) != 1 || got[0] != "" {
			t.Errorf("%+v: %q", g, got)
		}
	}
}
