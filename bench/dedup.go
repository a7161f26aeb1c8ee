package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/near/dedup"
)

// corpusFiles is the number of files of a corpus.
const corpusFiles = 20

// dedupCorpus copies a corpus without its near-duplicates, with one thread and with two. It does so as ndd dedup
// --threshold 0 --write-kept does, from 20 files and from one, and, from 20 files, with sketches compared as by
// default. Copies of all formats must have the same documents.
func dedupCorpus(ctx context.Context, b *bench, r *Result) error {
	r.Columns = []string{"MB/s of text, 1 thread", "2 threads", "times", "MB/s and core"}
	// Make the texts.
	corpus := newEnglish(1)
	texts := make([]string, max(b.n/200, corpusFiles))
	size, originals := 0, 0
	for i := range texts {
		texts[i] = corpus.edit(i, 1000)
		size += len(texts[i])
		if i%10 < 7 || i%10 == 9 {
			originals++
		}
	}
	// Measure each format. All formats must keep the same documents.
	var want [2][]simhash.Fingerprint // fingerprints without and with comparing sketches
	for _, f := range formats {
		for _, c := range []struct {
			files, compared int
			name            string
		}{{corpusFiles, 0, "20 files"}, {1, 0, "one file"}, {corpusFiles, 1, "20 files, sketches compared"}} {
			name, files := f.name+", "+c.name, c.files
			b.say("%s", name)
			dir := filepath.Join(b.dir, fmt.Sprint(f.name, files, c.compared))
			shares := slices.Collect(slices.Chunk(texts, (len(texts)+files-1)/files))
			if err := writeCorpus(dir, f.name, f.write, shares); err != nil {
				return err
			}
			o := dedup.Options{K: 3}
			if c.compared > 0 {
				o = dedup.Options{K: 8, Rule: dedup.Rule{{Jaccard: sketch.DefaultThreshold}}}
			}
			cells, kept, err := b.dedupFiles(ctx, dir, o, float64(size)/1e6)
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			if want[c.compared] == nil {
				want[c.compared] = kept
			}
			if !slices.Equal(kept, want[c.compared]) || len(kept) < originals*9/10 ||
				len(kept) > originals+(len(texts)-originals)*8/10 {
				return fmt.Errorf("%s: %d documents are kept of %d, and not those of the first format", dir, len(kept), len(texts))
			}
			r.row(name, cells...)
		}
	}
	r.note("%d texts of invented words, two in ten are edited copies: %.0f MB; k = 3, and 8 where "+
		"sketches are compared; copies written", len(texts), float64(size)/1e6)
	r.note("one thread is one processor; rounds of one and two take turns; MB/s and core: text by processor time")
	r.note("verified: copies with one thread and with two have the same documents, in all formats")
	return nil
}

// writeCorpus writes files of texts into a new folder.
func writeCorpus(dir, ending string, write func(io.Writer, []string) error, files [][]string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for i, texts := range files {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%02d.%s", i, ending)))
		if err != nil {
			return err
		}
		if err := closing(f, write(f, texts)); err != nil {
			return err
		}
	}
	return nil
}

// dedupFiles measures a folder of files with some MB of text. It returns the fingerprints of the copied documents.
func (b *bench) dedupFiles(ctx context.Context, in string, o dedup.Options, mb float64) (
	[]any, []simhash.Fingerprint, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var wall, busy [2][]float64
	out := [2]string{in + "-1", in + "-2"}
	// Measure runs with one thread and with two, in turns.
	for range b.turns {
		for i, threads := range []int{1, 2} {
			runtime.GOMAXPROCS(threads)
			if err := os.RemoveAll(out[i]); err != nil {
				return nil, nil, err
			}
			began, before := time.Now(), processorTime()
			if err := dedupTo(ctx, in, out[i], o, threads); err != nil {
				return nil, nil, err
			}
			wall[i] = append(wall[i], time.Since(began).Seconds())
			busy[i] = append(busy[i], (processorTime() - before).Seconds())
		}
	}
	// Compare the copies of both.
	kept, err := fingerprintsOf(ctx, out[0], 0)
	if err != nil {
		return nil, nil, err
	}
	if others, err := fingerprintsOf(ctx, out[1], 0); err != nil || !slices.Equal(kept, others) {
		return nil, nil, cmp.Or(err, errors.New("copies depend on the number of threads"))
	}
	ratios := make([]float64, len(wall[0]))
	for i := range ratios {
		ratios[i] = wall[0][i] / wall[1][i]
	}
	return []any{median(wall[0]).rate(mb), median(wall[1]).rate(mb), median(ratios), median(busy[1]).rate(mb)},
		kept, nil
}

// dedupTo copies the files of a folder without near-duplicates.
func dedupTo(ctx context.Context, in, out string, o dedup.Options, threads int) error {
	inputs := []string{in}
	c, _, err := dedup.ReadDocuments(ctx, inputs, ingest.Config{Threads: threads},
		dedup.ReadOptions{Threads: threads, Find: o, Sketches: len(o.Rule) > 0})
	if err != nil {
		return err
	}
	defer c.Close()
	result, err := dedup.Find(ctx, c, o)
	if err != nil {
		return err
	}
	to, err := rewrite.NewTarget(ctx, inputs)
	if err != nil {
		return err
	}
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	to.Create = func(name string, fill func(io.Writer) error) error {
		f, err := os.Create(filepath.Join(out, name))
		if err != nil {
			return err
		}
		return closing(f, fill(f))
	}
	_, err = result.Copy(ctx, to)
	return err
}
