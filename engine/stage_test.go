package engine

import (
	"bytes"
	"compress/gzip"
	"io"
	"runtime/pprof"
	"slices"
	"testing"
	"time"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/parallel"
)

// TestProfileStages: a profile of processor time of batches, swept and searched, has samples of every stage.
func TestProfileStages(t *testing.T) {
	base, words := sets.Planted(20_000, 20_000)
	base = append(base, words[:5000]...)
	queries := simhash.Fingerprints(words)
	x := inMemory(t, base, segment.Options{Design: halves(t)})
	defer parallel.LabelStages()()
	missing := []string{"permute", "locate", "scan", "verify", "names"}
	ids := x.IDs()
	emit := func(_ int, hits []Hit) error {
		_, err := ids.ID(hits[0].Docs[0])
		return err
	}
	// Each profile is twice as long as the one before, two minutes in all at most: samples are a matter of chance.
	for long := 250 * time.Millisecond; len(missing) > 0 && long < 2*time.Minute; long *= 2 {
		var profile bytes.Buffer
		must.Do(t, pprof.StartCPUProfile(&profile))
		for began := time.Now(); time.Since(began) < long; {
			for range 4 { // of distance 0, which is much sorting and little scanning
				must.Do(t, x.Batch(t.Context(), queries, BatchOptions{Docs: 1}, emit))
			}
			must.Do(t, x.Batch(t.Context(), queries[:4096], BatchOptions{K: 3, Docs: AllDocs}, emit))
		}
		pprof.StopCPUProfile()
		z, err := gzip.NewReader(&profile)
		must.Do(t, err)
		raw, err := io.ReadAll(z)
		must.Do(t, err)
		missing = slices.DeleteFunc(missing, func(stage string) bool {
			// An entry of the table of strings: field 6, a length, and the bytes.
			return bytes.Contains(raw, append([]byte{6<<3 | 2, byte(len(stage))}, stage...))
		})
	}
	if len(missing) > 0 {
		t.Errorf("no sample of %q", missing)
	}
}
