package query

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dustin/go-humanize"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/scan"
	"example.org/ndd/engine/result"
)

// A scanAnswerer compares the fingerprints of a file with tables of the queries.
type scanAnswerer struct {
	*ndf.File
	b        *batch
	names    *ndf.Lookup     // nil without IDs
	chunk    scan.Chunk      // fingerprints of the shard
	sketches []sketch.Sketch // sketches of the file; nil if the file or the queries have none
}

func (s *scanAnswerer) keepsSketches() bool { return s.sketches != nil }

func (s *scanAnswerer) Name(doc uint64) (string, error) {
	if s.names == nil {
		return strconv.FormatUint(doc, 10), nil
	}
	return s.names.ID(doc)
}

func (b *batch) openScan(ctx context.Context, q *ndf.File) (answerer, error) {
	if b.index.k == -1 {
		b.index.k = 3
	}
	if b.shardFlag != "" && b.tally.Unique {
		return nil, cli.Usagef("--unique cannot be combined with --shard of a file: " +
			"a part does not know which document is the first of all")
	}
	f, err := openVerified(ctx, b.g, b.scan)
	if err != nil {
		return nil, err
	}
	from, to := b.shard.rows(f.Len())
	s := &scanAnswerer{File: f, b: b, chunk: scan.Chunk{Fingerprints: f.Fingerprints()[from:to], First: from}}
	if err = sameRecipe(f.Path(), f.Recipe(), q); err == nil && b.sketches != nil {
		s.sketches = sketchesOf(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if f.HasIDs() {
		s.names = f.Lookup()
	}
	return s, nil
}

// answer plans a scan, logs its memory before it is allocated, and compares all fingerprints.
func (s *scanAnswerer) answer(ctx context.Context, line func(result.Row) error) error {
	// Plan the scan.
	b, total := s.b, int64(len(s.chunk.Fingerprints))
	limit := b.g.Machine.Limit(b.memory)
	if b.memory == 0 {
		limit.Bytes, limit.Source = limit.Bytes/2, "half of the memory that is "+limit.Source
	}
	o := scan.Options{Threads: b.g.Threads, Budget: memory.NewBudget(limit), Temp: b.tempDir(), Disk: b.g.Disk,
		Fingerprints: uint64(total)}
	p, err := scan.NewPlan(len(b.queries), b.index.k, o)
	if err != nil {
		return err
	}
	s.say(p, o)
	bar := b.g.Progress.NewBar("scanning", 8*total, cli.BytesUnit)
	defer bar.End()
	o.Progress = func(done uint64) { bar.Set(8 * int64(done)) }
	// Scan, and verify hits by sketches.
	verifier := rows.Verifier{Queries: b.sketches, Threshold: float64(b.index.threshold)}
	for h, err := range scan.Answer(ctx, s.chunk, b.queries, b.index.k, p, o) {
		if err != nil {
			return err
		}
		r := result.Row{Query: int(h.Query), Fingerprint: simhash.Fingerprint(h.Fingerprint), Distance: h.Distance,
			DocID: h.Row}
		if s.sketches != nil {
			ok := false
			if r.Similarity, ok = verifier.Judge(r.Query, &s.sketches[r.DocID]); !ok {
				continue
			}
		}
		if err := line(r); err != nil {
			return err
		}
	}
	return nil
}

// count takes every hit, because a sketch may refuse it, and repeated fingerprints may count once.
func (s *scanAnswerer) count(ctx context.Context, t *result.Tally) error {
	return s.answer(ctx, func(r result.Row) error {
		t.Count(r, 1)
		return nil
	})
}

// tempDir returns the folder for hits that exceed the memory.
func (b *batch) tempDir() string {
	target, stream, err := cli.Destination(b.out)
	if target == "" || target == input.Stdin || stream || err != nil {
		return os.TempDir()
	}
	return filepath.Dir(target)
}

// say logs the memory before it is allocated, and the limits that it imposes.
func (s *scanAnswerer) say(p scan.Plan, o scan.Options) {
	log := s.b.g.Log
	if p.Queries < len(s.b.queries) {
		log.Info(fmt.Sprintf("memory allows %s at a time: reading %s %d times",
			cli.Number(p.Queries, "query"), s.b.scan, (len(s.b.queries)+p.Queries-1)/p.Queries))
	}
	if p.Threads < o.Threads {
		log.Info("memory allows " + cli.Number(p.Threads, "thread"))
	}
	log.Debug(fmt.Sprintf("memory at most %s: tables %s, fingerprints %s, hits %s (more are written to %s)",
		humanize.IBytes(p.Bytes()), humanize.IBytes(p.Tables), humanize.IBytes(p.Chunks), humanize.IBytes(p.Hits), o.Temp))
}
