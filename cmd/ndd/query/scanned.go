package query

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/memory"
	"ndd/engine/near/scan"
	"ndd/engine/result"
	"ndd/engine/storage/store"
)

// scanned answers by streaming fingerprints past the queries.
type scanned struct {
	source
	b        *batch
	open     func() (scan.Source, error)
	streamed bool            // F is read into buffers
	once     bool            // and cannot be read again
	chunk    int             // fingerprints that are read into one, as the plan says
	total    uint64          // fingerprints of the shard, 0 where it is not known
	first    uint64          // row of the first, or its number in a walk
	walked   *engine.Index   // nil unless F is one
	ctx      context.Context // of a walk
	lengths  []uint32        // of the texts of a file, with --max-length-ratio; else nil
}

// A fileSource is a fingerprint file, or the zero value for a pipe.
type fileSource struct {
	*ndf.File
	names  *ndf.Lookup // nil where there are none
	prints []uint64    // the shard's
}

func (f *fileSource) hasIDs() bool { return f.names != nil }

func (f *fileSource) Name(doc uint64) (string, error) {
	if f.names == nil {
		return strconv.FormatUint(doc, 10), nil
	}
	return f.names.ID(doc)
}

// record returns the record of the shard's fingerprints, and of the identity of a file that has
// names.
func (f *fileSource) record(ctx context.Context) (fileRecord, *simhash.Recipe, error) {
	r, err := recordOf(ctx, bytes.NewReader(store.Bytes64(f.prints)))
	if s := f.Store(); s != nil {
		r.Digest += fmt.Sprintf(" %x", s.Identity().ID)
	}
	return r, f.Recipe(), err
}

func (f *fileSource) Close() error {
	if f.File == nil {
		return nil
	}
	return f.File.Close()
}

func (b *batch) openScan(cmd *cobra.Command, q *ndf.File) (answerer, error) {
	if info, err := os.Stat(b.scan); err == nil && info.IsDir() {
		return b.openWalk(cmd, q)
	}
	if b.index.k == -1 {
		b.index.k = 3
	}
	if document.ReadOnce(b.scan) {
		return b.openPipe(cmd.Context())
	}
	if b.shardFlag != "" && b.unique {
		return nil, cli.Usagef("--unique cannot be combined with --shard of a file: " +
			"a part does not know which document is the first of all")
	}
	f, err := openVerified(cmd.Context(), b.g, b.scan)
	if err != nil {
		return nil, err
	}
	from, to := b.shard.of(f.Len())
	file := &fileSource{File: f, prints: f.Fingerprints()[from:to]}
	s := &scanned{source: file, b: b, first: from, total: to - from}
	s.open = func() (scan.Source, error) { return scan.Slice(file.prints, s.first), nil }
	if err = sameRecipe(f.Path(), f.Recipe(), q); err == nil && b.index.ratio != 0 {
		s.lengths, err = cli.TextLengths(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if f.HasIDs() {
		file.names = f.Lookup()
	}
	return s, nil
}

// openPipe scans a pipe of integers.
func (b *batch) openPipe(ctx context.Context) (answerer, error) {
	if b.index.ratio != 0 {
		return nil, cli.Usagef("--max-length-ratio needs the lengths of the texts, " +
			"which a pipe of integers does not have: scan an .ndf file")
	}
	s := &scanned{source: &fileSource{}, b: b, streamed: true, once: true}
	s.open = func() (scan.Source, error) {
		return func(yield func(scan.Chunk) bool) error {
			return readPipe(ctx, b.g, b.scan, func(r io.Reader) error {
				in := bufio.NewReaderSize(r, 1<<16)
				start, err := in.Peek(ndf.StartBytes)
				if err == nil || errors.Is(err, io.EOF) {
					err = b.checkPipe(start)
				}
				if err != nil {
					return err
				}
				return scan.Reader(in, s.chunk)(yield)
			})
		}, nil
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

// openWalk scans an index, whose first table is decoded block by block.
func (b *batch) openWalk(cmd *cobra.Command, q *ndf.File) (answerer, error) {
	x, err := b.openSource(cmd, &indexFlags{dir: b.scan, OpenFlags: b.index.OpenFlags, ratio: b.index.ratio}, q)
	if err != nil {
		return nil, err
	}
	if b.index.k == -1 {
		b.index.k = x.Design().K
	}
	stats := x.Stats()
	if b.shardFlag != "" && stats.Segments > 1 {
		x.Close()
		return nil, cli.Usagef("--shard cannot divide %[2]s, whose %[1]d segments may share fingerprints; "+
			"divide the queries instead: ndd batch -i %[2]s --shard %[3]s", stats.Segments, b.scan, b.shard)
	}
	from, to := b.shard.of(stats.Fingerprints)
	s := &scanned{source: x, b: b, streamed: true, first: from, total: to - from, walked: x.Index}
	s.open = func() (scan.Source, error) { return scan.Walk(s.walk, s.chunk), nil }
	return s, nil
}

// walk yields the shard's fingerprints of an index, in the order in which that walks them.
func (s *scanned) walk(yield func([]uint64) bool) error {
	skip, left := s.first, s.total
	return s.walked.Walk(s.ctx, func(list []simhash.Fingerprint) bool {
		prints := simhash.Words(list)
		before := min(skip, uint64(len(prints)))
		prints, skip = prints[before:], skip-before
		prints = prints[:min(left, uint64(len(prints)))]
		left -= uint64(len(prints))
		return (len(prints) == 0 || yield(prints)) && left > 0
	})
}

// begin plans a scan, reports the memory before it is taken, and shows progress until end is
// called.
func (s *scanned) begin(ctx context.Context, counted bool) (p scan.Plan, o scan.Options, end func(), err error) {
	b := s.b
	limit := b.g.Machine.Limit(b.memory)
	if b.memory == 0 {
		limit.Bytes, limit.Source = limit.Bytes/2, "half of what is "+limit.Source
	}
	o = scan.Options{Threads: b.g.Threads, Budget: memory.NewBudget(limit), Temp: b.tempDir(), Disk: b.g.Disk,
		Fingerprints: s.total, Once: s.once, Counted: counted}
	if p, err = scan.NewPlan(len(b.queries), b.index.k, s.streamed, o); err != nil {
		if s.once {
			err = memory.Advise(err, fmt.Sprintf("the queries must fit at once, because a pipe (%s) cannot be read twice: "+
				"give more --memory, or write it to a file", b.scan))
		}
		return p, o, nil, err
	}
	s.ctx, s.chunk = ctx, p.Chunk
	s.say(p, o)
	bar := b.g.Progress.NewBar("scanning", 8*int64(s.total), cli.BytesUnit)
	o.Progress = func(done uint64) { bar.Set(8 * int64(done)) }
	return p, o, bar.End, nil
}

func (s *scanned) answer(ctx context.Context, line func(result.Row) error) error {
	b := s.b
	p, o, end, err := s.begin(ctx, false)
	if err != nil {
		return err
	}
	defer end()
	var last scan.Hit
	some := false
	for h, err := range scan.Answer(ctx, s.open, b.queries, b.index.k, p, o) {
		if err != nil {
			return err
		}
		r := result.Row{Query: int(h.Query), Fingerprint: simhash.Fingerprint(h.Fingerprint), Distance: h.Distance,
			DocID: h.Row}
		if s.walked == nil {
			if s.lengths != nil && b.index.ratio.Apart(b.lengths[r.Query], s.lengths[r.DocID]) {
				continue
			}
			if err := line(r); err != nil {
				return err
			}
			continue
		}
		// A fingerprint may be in several segments; its documents are looked up once.
		if again := some && h.Query == last.Query && h.Fingerprint == last.Fingerprint; !again {
			if err := s.documents(r, line); err != nil {
				return err
			}
		}
		last, some = h, true
	}
	return nil
}

// count keeps no hits, unless a fingerprint of F may come again where it counts once: then they
// have to be put in order.
func (s *scanned) count(ctx context.Context, t *result.Tally) error {
	if !s.distinct() {
		return s.answer(ctx, func(r result.Row) error {
			t.Count(r, 1)
			return nil
		})
	}
	b := s.b
	p, o, end, err := s.begin(ctx, true)
	if err != nil {
		return err
	}
	defer end()
	how := scan.Counting{Sum: b.g.Log.Enabled(ctx, slog.LevelDebug)} // -v prints the sum
	if s.walked != nil && !b.unique {
		how.Times = s.documentsOf
	}
	t.Totals, err = scan.Count(ctx, s.open, b.queries, b.index.k, p, o, how)
	return err
}

// distinct says that no hit of F is a repetition of another.
func (s *scanned) distinct() bool {
	if s.b.index.ratio != 0 {
		return false // hits are looked at one by one
	}
	if s.walked == nil {
		return !s.b.unique
	}
	stats := s.walked.Stats() // distinct within a segment
	return stats.Segments <= 1 && stats.Buffered == 0
}

// documentsOf returns how many documents have a fingerprint of the index that is walked.
func (s *scanned) documentsOf(fingerprint uint64) (n uint64, err error) {
	hits, err := s.walked.Query(s.ctx, simhash.Fingerprint(fingerprint), 0, 1)
	for _, h := range hits {
		n += h.Documents
	}
	return n, err
}

// documents makes a line of every document that has the row's fingerprint.
func (s *scanned) documents(r result.Row, line func(result.Row) error) error {
	length := uint32(0)
	if s.b.lengths != nil {
		length = s.b.lengths[r.Query]
	}
	return s.walked.QueryEach(s.ctx, r.Fingerprint, length, 0, engine.AllDocs, func(hits []engine.Hit) error {
		for i := range hits {
			if err := eachDoc(r, &hits[i], line); err != nil {
				return err
			}
		}
		return nil
	})
}

// tempDir returns the folder for hits that do not fit in memory.
func (b *batch) tempDir() string {
	at, stream, err := cli.Destination(b.out)
	if at == "" || at == document.Stdin || stream || err != nil {
		return os.TempDir()
	}
	return filepath.Dir(at)
}

// say reports the memory before it is taken, and what there is not enough of it for.
func (s *scanned) say(p scan.Plan, o scan.Options) {
	log := s.b.g.Log
	if p.Queries < len(s.b.queries) {
		log.Info(fmt.Sprintf("memory allows %s at a time: reading %s %d times",
			cli.Number(p.Queries, "query"), s.b.scan, (len(s.b.queries)+p.Queries-1)/p.Queries))
	}
	if p.Threads < o.Threads {
		log.Info("memory allows " + cli.Number(p.Threads, "thread"))
	}
	hits := fmt.Sprintf("hits %s (more are written to %s)", humanize.IBytes(p.Hits), o.Temp)
	if o.Counted {
		hits = "no hits (they are only counted)"
	}
	log.Debug(fmt.Sprintf("memory at most %s: tables %s, fingerprints %s, %s",
		humanize.IBytes(p.Bytes()), humanize.IBytes(p.Tables), humanize.IBytes(p.Chunks), hits))
}
