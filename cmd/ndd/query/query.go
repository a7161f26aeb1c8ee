// Package query holds the commands that search an index or a fingerprint file: query for single
// fingerprints or documents, batch for millions.
//
//	query.go       query: one query after another, from arguments or standard input
//	batch.go       batch: a file of queries, or a shard of it
//	answer.go      batch -i: answers from an index
//	scan.go        batch --scan: answers from a fingerprint file
package query

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/cmd/ndd/index"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/result"
)

// indexFlags are the flags for opening an index.
type indexFlags struct {
	dir string
	k   int
	index.OpenFlags
	spread    string // value of --numa; "" for a command without it
	threshold cli.Threshold
}

func (i *indexFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&i.dir, "index", "i", "", "folder of the index")
	cmd.Flags().IntVarP(&i.k, "distance", "k", -1, "maximum Hamming distance (default: that of the index)")
	cmd.Flags().Lookup("distance").DefValue = "0" // pflag prints no default of 0
	i.threshold.Register(cmd.Flags())
}

func (i *indexFlags) open(cmd *cobra.Command, g *cli.Files) (*engine.Index, error) {
	if i.dir == "" {
		return nil, cli.Usagef("missing -i INDEX")
	}
	if err := i.threshold.Check(); err != nil {
		return nil, err
	}
	x, err := i.OpenFlags.Open(cmd.Context(), g, i.dir, live.OpenOptions{Spread: index.Spread(g, i.spread),
		Threshold: i.threshold.Option()})
	if err != nil {
		return nil, err
	}
	index.LogSpread(g, x)
	limit := x.Design().K
	if i.k == -1 && !g.Given["distance"] {
		i.k = limit
	}
	if err := x.CheckDistance(i.k); err != nil {
		x.Close()
		return nil, cli.Usagef("%w", err)
	}
	return x, nil
}

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newQuery(g.NewFiles()), newBatch(g.NewFiles())}
}

func newQuery(g *cli.Files) *cobra.Command {
	q := querier{g: g}
	cmd := &cobra.Command{
		Use:   "query [flags] -i INDEX (HEX... | --document FILE...)",
		Short: "Find near-duplicates of fingerprints or documents",
		Long: `Find everything in an index within k bits of each query.

Queries are fingerprints as 16 hexadecimal digits (- reads them from standard input), or
with --document documents, which are fingerprinted by the index's own recipe. Each hit is
a line: query, fingerprint, distance, id.`,
		Annotations: cli.HelpOf("Guide: ndd help indexes. Formats: ndd help formats",
			"Search: index=DIR document distance=N max-ids=N threshold=X",
			"Output: format=FORMAT exit-code",
			"Resources: preload checksums=HOW"),
		Example: `  ndd query -i index 0123456789abcdef
  ndd query -i index --document new.html
  ndd query -i index --document --threshold 0.8 new/
  ndd query -i index -k 1 --format jsonl - < prints.txt`,
		Args: cli.SomeArgs("query"),
		RunE: func(cmd *cobra.Command, args []string) error { return q.run(cmd, args) },
	}
	q.open.register(cmd)
	q.open.OpenFlags.Register(cmd)
	q.readFlags.RegisterFields(cmd)
	q.format.Register(cmd)
	f := cmd.Flags()
	f.BoolVar(&q.documents, "document", false, "the arguments are documents, not fingerprints")
	f.Uint64Var(&q.idsMax, "max-ids", 0,
		"list at most N IDs of a fingerprint for a query (default: all)")
	f.BoolVar(&q.exitCode, "exit-code", false, "exit with status 1 if there is no hit")
	return cmd
}

// ErrNoHits is the error of a query with --exit-code and without a hit. It has no message.
var ErrNoHits = errors.New("no hits")

// A querier answers queries one by one.
type querier struct {
	g         *cli.Files
	open      indexFlags
	readFlags cli.DocumentFlags
	format    cli.TableFormat
	documents bool
	idsMax    uint64 // maximum number of IDs of a fingerprint; 0: no limit
	exitCode  bool

	index      *engine.Index
	rows       *result.Writer
	hasHit     bool   // a query had a hit
	idsLeftOut uint64 // number of IDs beyond idsMax
}

func (q *querier) run(cmd *cobra.Command, args []string) (err error) {
	g := q.g
	// Check the flags.
	if err := q.format.Check(g, ""); err != nil {
		return err
	}
	if !q.documents {
		if err := g.RejectFlags("applies only with --document", "input-format", "text", "id", "threshold"); err != nil {
			return err
		}
	}
	// Open the index, and choose the columns of the output.
	if q.index, err = q.open.open(cmd, g); err != nil {
		return err
	}
	defer q.index.Close()
	g.Log.Debug(fmt.Sprintf("memory at most %s without the index", humanize.IBytes(search.QueryBytes+memory.Program)))
	ids := q.index.IDs()
	verified := q.documents && q.open.threshold > 0 && live.Unwrap(q.index).Config().Sketches
	q.rows = result.NewWriter(g.Stdout, q.format.Format, result.Text, verified, func(doc uint64) (string, error) {
		return ids.ID(engine.DocID(doc))
	})
	// Answer the queries.
	if q.documents {
		err = q.askDocuments(cmd.Context(), args)
	} else {
		err = q.askFingerprints(cmd.Context(), args)
	}
	if err == nil || errors.Is(err, cli.ErrPartly) {
		err = cmp.Or(q.rows.Close(), err)
	}
	// Report omitted IDs, and set the exit status.
	if q.idsLeftOut > 0 {
		g.Log.Info(fmt.Sprintf("%s left out by --max-ids %d", cli.Number(q.idsLeftOut, "id"), q.idsMax))
	}
	if err == nil && q.exitCode && !q.hasHit {
		return ErrNoHits
	}
	return err
}

func (q *querier) write(query string, r result.Row) error {
	q.hasHit, r.Text = true, query
	return q.rows.Write(r)
}

// ask answers a query and writes a row for each document of a hit. f and s are the fingerprint and the sketch of a
// text. The zero sketch means that the sketch is unknown.
func (q *querier) ask(ctx context.Context, query string, f simhash.Fingerprint, s sketch.Sketch) error {
	docs := engine.AllDocs
	if q.idsMax > 0 {
		docs = int(min(q.idsMax, engine.AllDocs))
	}
	return q.index.QueryEach(ctx, f, engine.QueryOptions{K: q.open.k, Docs: docs, Sketch: s}, func(hits []engine.Hit) error {
		for _, h := range hits {
			for i, doc := range h.Docs {
				r := result.Row{Fingerprint: h.Fingerprint, Distance: h.Distance, DocID: uint64(doc)}
				if h.Similarities != nil {
					r.Similarity = h.Similarities[i]
				}
				if err := q.write(query, r); err != nil {
					return err
				}
			}
			if q.idsMax > 0 && h.Offset+uint64(len(h.Docs)) == q.idsMax {
				q.idsLeftOut += h.Documents - q.idsMax
			}
		}
		return nil
	})
}

// parse reads a hexadecimal fingerprint, with or without 0x. name is its text without 0x.
func parse(text string) (name string, f simhash.Fingerprint, err error) {
	name = strings.TrimPrefix(strings.ToLower(text), "0x")
	f, err = simhash.Parse(name)
	return name, f, err
}

func (q *querier) askFingerprints(ctx context.Context, args []string) error {
	for _, arg := range args {
		if arg == "-" {
			if n, err := q.askLines(ctx); err != nil {
				return fmt.Errorf("standard input, line %d: %w", n, err)
			}
			continue
		}
		name, f, err := parse(arg)
		if err != nil {
			return cli.Usagef("%w", err)
		}
		if err := q.ask(ctx, name, f, sketch.Sketch{}); err != nil {
			return err
		}
	}
	return nil
}

// askLines answers the fingerprints of standard input. A line has a fingerprint and perhaps a tab and an ID, as
// 'ndd fingerprint' prints it. n is the number of the line of an error.
func (q *querier) askLines(ctx context.Context) (n int, err error) {
	lines, short := bufio.NewScanner(&flushingReader{input.Patient(ctx, q.g.Stdin), q.g.Stdout}), 0
	for n = 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\ufeff"), "\t")
		switch text = strings.TrimSpace(text); text {
		case "":
			continue
		case ndf.NoPrint:
			short++
			continue
		}
		name, f, err := parse(text)
		if err == nil {
			err = q.ask(ctx, name, f, sketch.Sketch{})
		}
		if err != nil {
			return n, err
		}
	}
	if short > 0 {
		q.g.Log.Info("skipped " + cli.Number(short, "document") + " without a fingerprint")
	}
	if err = lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("not a fingerprint: longer than %d bytes", bufio.MaxScanTokenSize)
	}
	return n, err
}

// A flushingReader flushes the answers before it reads more queries. A program at the other end of both pipes may wait
// for the answers before it writes the next query.
type flushingReader struct {
	in  io.Reader
	out io.Writer
}

func (t *flushingReader) Read(p []byte) (int, error) {
	if out, ok := t.out.(*bufio.Writer); ok {
		if err := out.Flush(); err != nil {
			return 0, err
		}
	}
	return t.in.Read(p)
}

// askDocuments makes fingerprints of documents by the index's recipe, and queries each.
func (q *querier) askDocuments(ctx context.Context, args []string) error {
	recipe, err := q.index.DocumentRecipe()
	if err != nil {
		return err
	}
	c, err := q.readFlags.Config(q.g, recipe)
	if err != nil {
		return err
	}
	c.Sketches = q.open.threshold > 0
	return q.g.Ingest(ctx, args, c, func(r ingest.Record) error {
		if !r.OK {
			q.g.Log.Warn(r.ID + ": too short for a fingerprint; not queried")
			return nil
		}
		return q.ask(ctx, r.ID, r.Fingerprint, r.Sketch)
	})
}
