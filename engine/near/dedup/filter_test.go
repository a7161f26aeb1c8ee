package dedup

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

// filtered runs Filter with distance 3. A linear search finds the earlier near documents.
func filtered(t *testing.T, in io.Reader, cfg ingest.Config) (string, int, ingest.Report) {
	t.Helper()
	var kept []simhash.Fingerprint
	var out bytes.Buffer
	dropped, report, err := Filter(t.Context(), in, &out, cfg, func(r ingest.Record) (bool, error) {
		for _, k := range kept {
			if bits.OnesCount64(uint64(r.Fingerprint^k)) <= 3 {
				return true, nil
			}
		}
		kept = append(kept, r.Fingerprint)
		return false, nil
	})
	must.Do(t, err)
	return out.String(), dropped, report
}

// TestFilter checks that the documents that Find keeps are copied byte for byte and in order.
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
		got, dropped, report := filtered(t, in, ingest.Config{Document: format.Options{Format: format.JSONL,
			MaxDocumentBytes: 1 << 20}})
		if got != want.String() || dropped != r.NumDropped() || dropped < 100 || report.Documents != len(docs) {
			t.Errorf("%d dropped, want %d; %d bytes, want %d", dropped, r.NumDropped(), len(got), want.Len())
		}
	}
}
