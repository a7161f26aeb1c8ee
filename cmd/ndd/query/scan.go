package query

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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

// A scanAnswerer answers by streaming fingerprints past tables of the queries.
type scanAnswerer struct {
	*ndf.File    // nil for a pipe
	b            *batch
	names        *ndf.Lookup     // nil without IDs
	fingerprints []uint64        // fingerprints of the shard, if they come from a file
	first        uint64          // row of the first of them
	sketches     []sketch.Sketch // sketches of the file; nil if the file or the queries have none
	source       scan.Source
	chunk        int // number of fingerprints of a pipe that are read together, from the plan
}

func (s *scanAnswerer) keepsSketches() bool { return s.sketches != nil }

func (s *scanAnswerer) Name(doc uint64) (string, error) {
	if s.names == nil {
		return strconv.FormatUint(doc, 10), nil
	}
	return s.names.ID(doc)
}

func (s *scanAnswerer) Close() error {
	if s.File == nil {
		return nil
	}
	return s.File.Close()
}

func (b *batch) openScan(ctx context.Context, q *ndf.File) (answerer, error) {
	if b.index.k == -1 {
		b.index.k = 3
	}
	if input.ReadOnce(b.scan) {
		return b.openPipe()
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
	s := &scanAnswerer{File: f, b: b, fingerprints: f.Fingerprints()[from:to], first: from}
	s.source = scan.Slice(s.fingerprints, s.first)
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

// openPipe returns an answerer for a pipe of integers.
func (b *batch) openPipe() (answerer, error) {
	s := &scanAnswerer{b: b}
	s.source = func(yield func(scan.Chunk) bool) error {
		pipe, _, err := b.g.OpenStream(b.scan)
		if err != nil {
			return err
		}
		defer pipe.Close()
		in := bufio.NewReaderSize(pipe, 1<<16)
		start, err := in.Peek(ndf.StartBytes)
		if err == nil || errors.Is(err, io.EOF) {
			err = b.checkPipe(start)
		}
		if err != nil {
			return err
		}
		return scan.Reader(in, s.chunk)(yield)
	}
	return s, nil
}

// checkPipe refuses a pipe that does not hold integers, by its first bytes.
func (b *batch) checkPipe(start []byte) error {
	if b.g.Raw || ndf.IsArray(b.scan, start) {
		return nil
	}
	if err := ndf.CheckArray(b.scan, start); err != nil {
		return err
	}
	return fmt.Errorf("%s: a pipe that is scanned holds integers as .bin files do: write other fingerprint files to "+
		"disk", b.scan)
}

// begin plans a scan, logs its memory before it is allocated, and shows progress until the caller calls end.
func (s *scanAnswerer) begin() (p scan.Plan, o scan.Options, end func(), err error) {
	b := s.b
	limit := b.g.Machine.Limit(b.memory)
	if b.memory == 0 {
		limit.Bytes, limit.Source = limit.Bytes/2, "half of the memory that is "+limit.Source
	}
	pipe, total := s.File == nil, len(s.fingerprints)
	o = scan.Options{Threads: b.g.Threads, Budget: memory.NewBudget(limit), Temp: b.tempDir(), Disk: b.g.Disk,
		Fingerprints: uint64(total), Once: pipe}
	if p, err = scan.NewPlan(len(b.queries), b.index.k, pipe, o); err != nil {
		if pipe {
			err = memory.Advise(err, fmt.Sprintf("the queries must fit at once, because a pipe (%s) cannot be read twice: "+
				"give more --memory, or write it to a file", b.scan))
		}
		return p, o, nil, err
	}
	s.chunk = p.Chunk
	s.say(p, o)
	bar := b.g.Progress.NewBar("scanning", 8*int64(total), cli.BytesUnit)
	o.Progress = func(done uint64) { bar.Set(8 * int64(done)) }
	return p, o, bar.End, nil
}

func (s *scanAnswerer) answer(ctx context.Context, line func(result.Row) error) error {
	b := s.b
	p, o, end, err := s.begin()
	if err != nil {
		return err
	}
	defer end()
	verifier := rows.Verifier{Queries: b.sketches, Threshold: float64(b.index.threshold)}
	for h, err := range scan.Answer(ctx, s.source, b.queries, b.index.k, p, o) {
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
