package dedup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/simhash"
	"ndd/engine/oracle/files"
	"ndd/engine/oracle/must"
)

// filtered runs Filter with stars of distance 3 over all that was kept.
func filtered(t *testing.T, in io.Reader, cfg ingest.Config) (string, int, ingest.Report) {
	t.Helper()
	var kept []simhash.Fingerprint
	var out bytes.Buffer
	dropped, report, err := Filter(t.Context(), in, &out, cfg, func(f simhash.Fingerprint) (bool, error) {
		for _, k := range kept {
			if bits.OnesCount64(uint64(f^k)) <= 3 {
				return true, nil
			}
		}
		kept = append(kept, f)
		return false, nil
	})
	must.Do(t, err)
	return out.String(), dropped, report
}

// TestFilter: what is kept is copied byte for byte and in order; it is what Find keeps with stars.
func TestFilter(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	var lines strings.Builder
	var docs []string
	for i := range 400 {
		words := make([]string, 60)
		for w := range words {
			words[w] = fmt.Sprint("word", rng.IntN(3000))
		}
		text := strings.Join(words, " ")
		if i%3 > 0 { // an edited copy
			text = strings.Replace(docs[rng.IntN(len(docs))], " ", fmt.Sprintf(" w%d ", i), 1)
		}
		docs = append(docs, text)
		fmt.Fprintf(&lines, "{\"id\": %d,  \"text\": %q}%s", i, text, []string{"\n", "\r\n"}[i%2])
	}
	path := files.New(t, "in.jsonl", lines.String())
	r := found(t, read(t, path, ingest.Config{}, ReadOptions{}), Options{K: 3})
	all := strings.SplitAfter(lines.String(), "\n")
	var want strings.Builder
	for _, row := range keptRows(r) {
		want.WriteString(all[row])
	}
	for _, in := range []io.Reader{strings.NewReader(lines.String()),
		iotest.OneByteReader(strings.NewReader(lines.String()))} {
		got, dropped, report := filtered(t, in, ingest.Config{Document: document.Options{Format: document.JSONL,
			MaxDocumentBytes: 1 << 20}})
		if got != want.String() || dropped != r.NumDropped() || dropped < 100 || report.Documents != len(docs) {
			t.Errorf("%d dropped, want %d; %d bytes, want %d", dropped, r.NumDropped(), len(got), want.Len())
		}
	}
}

// TestFilterUnjudged: broken lines and short documents remain; blank and overlong lines do not, and
// are not held.
func TestFilterUnjudged(t *testing.T) {
	const text = `"the river rose two metres on Sunday night and flooded the lower town, and nobody was hurt"}`
	long := `{"text": "` + strings.Repeat("long ", 1000) + `"}` + "\n"
	in := "\xef\xbb\xbf{\"text\": " + text + "\n \n{broken\n{\"text\": \"short\"}\n" + long + "{ \"text\": " + text +
		"\r\n[]\n{\"n\": 1}"
	cfg := ingest.Config{Document: document.Options{Format: document.JSONL, MaxDocumentBytes: 1000}}
	skips := 0
	cfg.Skipped = func(*document.Skip) error { skips++; return nil }
	got, dropped, report := filtered(t, strings.NewReader(in), cfg)
	if want := "\xef\xbb\xbf{\"text\": " + text + "\n{broken\n{\"text\": \"short\"}\n[]\n{\"n\": 1}"; got != want ||
		dropped != 1 || skips == 0 || report.Skipped.Lost() < 3 {
		t.Errorf("%q, want %q; %d dropped, %d skips, %v", got, want, dropped, skips, report.Skipped)
	}
	for _, packed := range []string{"\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh9"} {
		if _, _, err := Filter(t.Context(), strings.NewReader(packed), io.Discard, cfg, nil); !errors.Is(err, ErrPacked) {
			t.Errorf("%q: %v", packed, err)
		}
	}
	tee := &lineTee{in: strings.NewReader(strings.Repeat("\n", 5000) + strings.Repeat("x", 1<<20)), most: 100}
	if _, err := io.Copy(io.Discard, tee); err != nil || len(tee.held) > 0 || cap(tee.line) > 1<<17 {
		t.Errorf("%d lines held, %d bytes of one; %v", len(tee.held), cap(tee.line), err)
	}
}

// TestFilterSkipped: lines that cannot be read are copied while the input goes on, and not held to
// its end.
func TestFilterSkipped(t *testing.T) {
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
	cfg := ingest.Config{Document: document.Options{Format: document.JSONL, MaxDocumentBytes: 1000}}
	_, report, err := Filter(t.Context(), in, writerFunc(func(p []byte) (int, error) {
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
