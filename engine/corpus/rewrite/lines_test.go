package rewrite

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle/must"
)

// TestLinesUnjudged checks that broken lines and short documents are copied. Blank and overlong lines are not, and are
// not held in memory.
func TestLinesUnjudged(t *testing.T) {
	const text = `"the river rose two metres on Sunday night and flooded the lower town, and nobody was hurt"}`
	long := `{"text": "` + strings.Repeat("long ", 1000) + `"}` + "\n"
	in := "\xef\xbb\xbf{\"text\": " + text + "\n \n{broken\n{\"text\": \"short\"}\n" + long + "{ \"text\": " + text +
		"\r\n[]\n{\"n\": 1}"
	cfg := ingest.Config{Document: format.Options{Format: format.JSONL, MaxDocumentBytes: 1000}}
	skips := 0
	cfg.Skipped = func(*input.Skip) error { skips++; return nil }
	seen := map[[2]uint64]bool{}
	var out strings.Builder
	dropped, report, err := Lines(t.Context(), strings.NewReader(in), &out, cfg, func(r ingest.Record) (bool, error) {
		again := seen[r.Hash]
		seen[r.Hash] = true
		return again, nil
	})
	must.Do(t, err)
	got := out.String()
	if want := "\xef\xbb\xbf{\"text\": " + text + "\n{broken\n{\"text\": \"short\"}\n[]\n{\"n\": 1}"; got != want ||
		dropped != 1 || skips == 0 || report.Skipped.Lost() < 3 {
		t.Errorf("%q, want %q; %d dropped, %d skips, %v", got, want, dropped, skips, report.Skipped)
	}
	for _, packed := range []string{"\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh9"} {
		if _, _, err := Lines(t.Context(), strings.NewReader(packed), io.Discard, cfg, nil); !errors.Is(err, ErrPacked) {
			t.Errorf("%q: %v", packed, err)
		}
	}
	tee := &lineTee{in: strings.NewReader(strings.Repeat("\n", 5000) + strings.Repeat("x", 1<<20)), limit: 100}
	if _, err := io.Copy(io.Discard, tee); err != nil || len(tee.waiting) > 0 || cap(tee.line) > 1<<17 {
		t.Errorf("%d lines held, %d bytes of one; %v", len(tee.waiting), cap(tee.line), err)
	}
}

// TestLinesSkipped checks that lines that cannot be read are copied during the read, not held until the end of the
// input.
func TestLinesSkipped(t *testing.T) {
	const lines = 1 << 17
	var copied atomic.Int64
	in := io.MultiReader(strings.NewReader(strings.Repeat("{broken\n", lines)), readerFunc(func([]byte) (int, error) {
		for wait := time.Now().Add(2 * time.Minute); copied.Load() == 0 && time.Now().Before(wait); {
			time.Sleep(time.Millisecond)
		}
		if copied.Load() == 0 {
			t.Error("nothing was copied before the end of the input")
		}
		return 0, io.EOF
	}))
	cfg := ingest.Config{Document: format.Options{Format: format.JSONL, MaxDocumentBytes: 1000}}
	_, report, err := Lines(t.Context(), in, writerFunc(func(p []byte) (int, error) {
		copied.Add(int64(len(p)))
		return len(p), nil
	}), cfg, nil)
	if err != nil || copied.Load() != 8*lines || report.Documents != 0 {
		t.Errorf("%d bytes copied, %d documents, %v", copied.Load(), report.Documents, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
