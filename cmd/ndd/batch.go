package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"ndd/engine"
	"ndd/engine/ndf"
	"ndd/engine/oracle"
	"ndd/engine/scan"
	"ndd/engine/simhash"
)

func newBatch(g *globals) *cobra.Command {
	b := &batch{g: g}
	cmd := &cobra.Command{
		Use:   "batch -i INDEX [-k K] [-o OUT] Q.bin | batch --scan F [-k K] Q.bin",
		Short: "Answer a file of queries",
		Long: `Answer all queries of a file, raw little-endian 64-bit integers or .ndf, on all
processors: against an index, or with --scan against fingerprints that have
none, a file like Q or - for raw integers from a pipe. Then tables are built on
the queries and F is streamed past them.

tsv: query row, fingerprint (hexadecimal), distance, id, one line a document,
in order of query row, then distance, then fingerprint, then the order of the
documents. json: the same as an object a line. bin: the same as records of four
little-endian 64-bit integers, the last one the number of the document.`,
		Example: `  ndd batch -i index -o hits.tsv Q.bin
  ndd batch -i index --count Q.bin
  cat F*.bin | ndd batch --scan - Q.bin`,
		Args: oneArg("Q.bin"),
		RunE: func(cmd *cobra.Command, args []string) error { return b.run(cmd, args[0]) },
	}
	b.index.register(cmd)
	b.index.spread.register(cmd)
	f := cmd.Flags()
	f.StringVar(&b.scan, "scan", "", "fingerprints without an index (then k is 3 unless -k says otherwise)")
	f.StringVarP(&b.out, "output", "o", "", "write the hits to this file, which appears when it is complete")
	f.StringVar(&b.format, "format", "tsv", "of the hits: tsv, json or bin")
	f.BoolVar(&b.unique, "unique", false, "one line a distinct fingerprint, with the id of its first document")
	f.BoolVar(&b.count, "count", false, "no hits, only their number, on standard error")
	f.BoolVar(&b.checksum, "checksum", false, "also a sum over all hits that does not depend on their order, on standard error")
	return cmd
}

// batch is one run of the command.
type batch struct {
	g        *globals
	index    indexFlags
	scan     string
	out      string
	format   string
	unique   bool
	count    bool
	checksum bool

	write          rowWriter
	withHits, hits int
	sum            uint64
	last           row
}

func (b *batch) run(cmd *cobra.Command, path string) error {
	ctx := cmd.Context()
	newWriter, ok := rowWriters[b.format]
	if !ok {
		return usagef("--format %q: must be tsv, json or bin", b.format)
	}
	if b.scan != "" && b.index.dir != "" {
		return usagef("-i and --scan exclude each other")
	}
	q, err := b.g.openVerified(ctx, path)
	if err != nil {
		return err
	}
	defer q.Close()

	var against answerer
	if b.scan != "" {
		against, err = b.openScan(ctx, q)
	} else {
		against, err = b.openIndex(cmd, q)
	}
	if err != nil {
		return err
	}
	defer against.Close()

	o, err := b.g.newOutput(b.out)
	if err != nil {
		return err
	}
	defer o.abort()
	w := bufio.NewWriterSize(o, 1<<18)
	if !b.count {
		b.write = newWriter(w, against.Name)
	}
	b.last.query = -1
	queries := q.Fingerprints()
	if err := against.answer(ctx, queries, b.line); err != nil {
		return err
	}
	if !b.g.quiet {
		fmt.Fprintf(b.g.stderr, "queries %d with-hits %d hits %d\n", len(queries), b.withHits, b.hits)
	}
	if b.checksum {
		fmt.Fprintf(b.g.stderr, "checksum %016x\n", b.sum)
	}
	if b.count {
		return nil
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return o.commit()
}

// openVerified opens a fingerprint file and verifies its checksums.
func (g *globals) openVerified(ctx context.Context, path string) (*ndf.File, error) {
	f, err := ndf.Open(path)
	if err != nil {
		return nil, err
	}
	if s := f.Store(); s != nil {
		if err := s.Verify(ctx, g.threads, nil); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// line takes one line of the answer: it counts, and writes it.
func (b *batch) line(r row) error {
	if b.unique && r.query == b.last.query && r.fingerprint == b.last.fingerprint {
		return nil
	}
	if r.query != b.last.query {
		b.withHits++
	}
	b.last = r
	b.hits++
	b.sum += oracle.Term(r.query, uint64(r.fingerprint))
	if b.write == nil {
		return nil
	}
	return b.write(r)
}

// An answerer answers queries line by line, in order.
type answerer interface {
	answer(ctx context.Context, queries []uint64, line func(row) error) error
	Name(doc uint64) (string, error)
	Close() error
}

// indexed answers from an index.
type indexed struct {
	b     *batch
	index *engine.Index
	names *engine.Names
}

func (b *batch) openIndex(cmd *cobra.Command, q *ndf.File) (answerer, error) {
	x, err := b.index.open(cmd, b.g)
	if err != nil {
		return nil, err
	}
	if r, other := x.Recipe(), q.Recipe(); r != nil && other != nil {
		if err := r.Check(*other); err != nil {
			x.Close()
			return nil, fmt.Errorf("%w: the index and %s: %w", engine.ErrMixed, q.Path(), err)
		}
	}
	return &indexed{b, x, x.Names()}, nil
}

func (a *indexed) Name(doc uint64) (string, error) { return a.names.Name(engine.DocID(doc)) }
func (a *indexed) Close() error                    { return a.index.Close() }

func (a *indexed) answer(ctx context.Context, queries []uint64, line func(row) error) error {
	bar := a.b.g.newBar("answering", int64(len(queries)), countUnit)
	defer bar.end()
	docs := engine.AllDocs
	if a.b.unique {
		docs = 1
	}
	o := engine.BatchOptions{K: a.b.index.k, Docs: docs, Threads: a.b.g.threads}
	return a.index.Batch(ctx, queries, o, func(query int, hits []engine.Hit) error {
		bar.set(int64(query))
		for i := range hits {
			for _, doc := range hits[i].Docs {
				if err := line(row{query, hits[i].Fingerprint, hits[i].Distance, uint64(doc)}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// scanned answers by streaming fingerprints past the queries.
type scanned struct {
	b      *batch
	source scan.Source
	total  uint64
	file   *ndf.File // nil for a pipe
	names  *ndf.Lookup
}

func (b *batch) openScan(ctx context.Context, q *ndf.File) (answerer, error) {
	if b.index.k == -1 {
		b.index.k = 3
	}
	if b.scan == "-" {
		return &scanned{b: b, source: scan.Reader(b.g.stdin)}, nil
	}
	f, err := b.g.openVerified(ctx, b.scan)
	if err != nil {
		return nil, err
	}
	if r, other := f.Recipe(), q.Recipe(); r != nil && other != nil {
		if err := r.Check(*other); err != nil {
			f.Close()
			return nil, fmt.Errorf("%w: %s and %s: %w", engine.ErrMixed, f.Path(), q.Path(), err)
		}
	}
	s := &scanned{b: b, source: scan.Slice(f.Fingerprints()), total: f.Len(), file: f}
	if f.HasNames() {
		s.names = f.Lookup()
	}
	return s, nil
}

func (s *scanned) Name(doc uint64) (string, error) {
	if s.names == nil {
		return strconv.FormatUint(doc, 10), nil
	}
	return s.names.Name(doc)
}

func (s *scanned) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

func (s *scanned) answer(ctx context.Context, queries []uint64, line func(row) error) error {
	tables, err := scan.New(queries, s.b.index.k, s.b.g.threads)
	if err != nil {
		return usagef("%w", err)
	}
	defer tables.Close()
	bar := s.b.g.newBar("scanning", int64(s.total), countUnit)
	defer bar.end()
	hits, err := tables.Run(ctx, s.source, s.b.g.threads, func(done uint64) { bar.set(int64(done)) })
	if err != nil {
		return err
	}
	for _, h := range hits {
		if err := line(row{h.Query, simhash.Fingerprint(h.Fingerprint), h.Distance, h.Row}); err != nil {
			return err
		}
	}
	return nil
}
