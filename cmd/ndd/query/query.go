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

	"ndd/cmd/ndd/cli"
	"ndd/cmd/ndd/index"
	"ndd/engine"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
	"ndd/engine/memory"
	"ndd/engine/result"
)

// indexFlags open an index.
type indexFlags struct {
	dir string
	k   int
	index.OpenFlags
	spread index.SpreadFlags
	ratio  cli.LengthRatio
}

func (i *indexFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&i.dir, "index", "i", "", "index to query, a folder that 'ndd build' made")
	cmd.Flags().IntVarP(&i.k, "distance", "k", -1, "largest Hamming distance (default: what the index was built for)")
	cmd.Flags().Lookup("distance").DefValue = "0" // pflag says no default that is 0
	i.OpenFlags.Register(cmd)
	i.ratio.Register(cmd.Flags(), cli.NeedsKept)
}

func (i *indexFlags) open(cmd *cobra.Command, g *cli.Globals) (*engine.Index, error) {
	if i.dir == "" {
		return nil, cli.Usagef("missing -i INDEX")
	}
	if err := i.ratio.Check(); err != nil {
		return nil, err
	}
	spread, err := i.spread.Options(g)
	if err != nil {
		return nil, err
	}
	x, err := i.OpenFlags.Open(cmd.Context(), g, i.dir, engine.OpenOptions{Spread: spread, MaxLengthRatio: float64(i.ratio)})
	if err != nil {
		return nil, err
	}
	index.LogSpread(g, x)
	most := x.Design().K
	if err := i.checkK(g, most, "the index was built for k up to %d"); err != nil {
		x.Close()
		return nil, err
	}
	if i.k == -1 {
		i.k = most
	}
	return x, nil
}

// checkK returns wrong usage if a distance was given that is not 0 to most.
func (i *indexFlags) checkK(g *cli.Globals, most int, why string) error {
	if i.k < -1 || i.k > most || i.k == -1 && g.Given["distance"] {
		return cli.Usagef("-k %d: "+why, i.k, most)
	}
	return nil
}

func newQuery(g *cli.Globals) *cobra.Command {
	var index indexFlags
	var docs cli.DocumentFlags
	var asDocuments, exitCode bool
	var most uint64
	var texts textFlags
	var format cli.TableFormat
	cmd := &cobra.Command{
		Use:   "query -i INDEX [-k K] HEX... | --document FILE...",
		Short: "Find near-duplicates of fingerprints or documents",
		Long: `Find everything in an index within k bits of each query. Queries are fingerprints
as 16 hexadecimal digits (- reads them from standard input, one per line, as 'ndd
fingerprint' prints them; two with a comma where documents have two), or with
--document documents, which are fingerprinted with the index's own recipe.

--verify 'jaccard>=0.7' compares the texts of documents as well: an index holds
fingerprints only, so --against-docs names the files that it was made from.

The output is one line per hit: query, tab, fingerprint, tab, distance, tab, id;
nearest first, each document once. In jsonl and parquet these are the fields query,
fingerprint, distance and id. With --exit-code the exit status is 1 if there is
no hit, as that of grep; other failures have the same status, but with a message.`,
		Example: `  ndd query -i index 0123456789abcdef
  ndd query -i index --document new.html
  ndd query -i index --document --verify 'jaccard>=0.7' --against-docs old.jsonl new/
  ndd query -i index -k 1 --format jsonl - < prints.txt`,
		Args: cli.SomeArgs("query"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := format.Check(g, ""); err != nil {
				return err
			}
			if !asDocuments {
				if err := g.Refuse("applies only with --document", append(cli.DocumentFlagNames, "document-format", "max-length-ratio", "skipped", "force", "verify", "against-docs", "shingle-words", "shingle-chars")...); err != nil {
					return err
				}
			}
			texts.queryDocs = args
			if err := texts.check(g); err != nil {
				return err
			}
			x, err := index.open(cmd, g)
			if err != nil {
				return err
			}
			defer x.Close()
			ids := x.IDs()
			g.Log.Debug(fmt.Sprintf("memory at most %s beside the index", humanize.IBytes(live.QueryBytes+memory.Program)))
			q := &querier{index: x, k: index.k, most: most, rows: result.NewNamedWriter(g.Stdout, format.Format, func(doc uint64) (string, error) {
				return ids.ID(engine.DocID(doc))
			})}
			if asDocuments {
				err = queryDocuments(g, cmd, q, args, &docs, &texts)
			} else {
				err = queryPrints(cmd.Context(), g, q, args)
			}
			if err == nil || errors.Is(err, cli.ErrPartly) {
				err = cmp.Or(q.rows.Close(), err)
			}
			if q.leftOut > 0 {
				g.Log.Info(fmt.Sprintf("%s left out by --max-ids %d", cli.Number(q.leftOut, "id"), most))
			}
			if err == nil && exitCode && !q.hit {
				return ErrNoHits
			}
			return err
		},
	}
	index.register(cmd)
	docs.Register(cmd, "document-format")
	texts.register(cmd, false)
	g.Skipped.Register(cmd)
	g.RegisterForce(cmd)
	cmd.Flags().BoolVar(&asDocuments, "document", false, "the arguments are documents, not fingerprints")
	format.Register(cmd)
	cmd.Flags().Uint64Var(&most, "max-ids", 0, "list at most so many ids of a fingerprint for a query, and say how many are left out (default: all)")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with status 1 if there is no hit")
	return cmd
}

// ErrNoHits ends a query with --exit-code that found nothing, without a message.
var ErrNoHits = errors.New("no hits")

// querier answers queries one by one.
type querier struct {
	index   *engine.Index
	k       int
	most    uint64 // ids of a fingerprint; 0: all
	rows    *result.Writer
	held    func(query string, r result.Row) error // takes the rows instead of the writer; nil: it does not
	hit     bool                                   // there was one
	leftOut uint64                                 // ids
}

// parse reads as many fingerprints as documents have, separated by commas, 0x before them or not, and returns how the query is called.
func (q *querier) parse(text string) (name string, prints []simhash.Fingerprint, err error) {
	parts := strings.Split(strings.ToLower(text), ",")
	for i, part := range parts {
		parts[i] = strings.TrimPrefix(part, "0x")
		f, err := simhash.Parse(parts[i])
		if err != nil {
			return "", nil, err
		}
		prints = append(prints, f)
	}
	if each := q.index.PrintsEach(); len(prints) != each {
		return "", nil, fmt.Errorf("%s: %s, and the documents of the index have %d each: separate two by a comma",
			text, cli.Number(len(prints), "fingerprint"), each)
	}
	return strings.Join(parts, ","), prints, nil
}

// ask answers a query: what is near the fingerprints of a text of so many bytes, 0 where that is not known.
func (q *querier) ask(ctx context.Context, query string, prints []simhash.Fingerprint, bytes uint32) error {
	docs := engine.AllDocs
	if q.most > 0 {
		docs = int(min(q.most, engine.AllDocs))
	}
	return q.index.QueryPrints(ctx, prints, bytes, q.k, docs, func(hits []engine.Hit) error {
		q.hit = q.hit || q.held == nil
		for i := range hits {
			if err := q.write(query, &hits[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// write writes a row for each document of a hit.
func (q *querier) write(query string, h *engine.Hit) error {
	for _, doc := range h.Docs {
		write := q.rows.WriteNamed
		if q.held != nil {
			write = q.held
		}
		if err := write(query, result.Row{Fingerprint: h.Fingerprint, Distance: h.Distance, DocID: uint64(doc)}); err != nil {
			return err
		}
	}
	if q.most > 0 && h.Before+uint64(len(h.Docs)) == q.most {
		q.leftOut += h.Documents - q.most
	}
	return nil
}

func queryPrints(ctx context.Context, g *cli.Globals, q *querier, args []string) error {
	for _, arg := range args {
		if arg == "-" {
			if err := queryLines(ctx, g, q); err != nil {
				return fmt.Errorf("standard input, %w", err)
			}
			continue
		}
		name, prints, err := q.parse(arg)
		if err != nil {
			return cli.Usagef("%w", err)
		}
		if err := q.ask(ctx, name, prints, 0); err != nil {
			return err
		}
	}
	return nil
}

// queryLines answers the fingerprints of standard input, one per line, with an ID behind a tab or not, as 'ndd fingerprint' prints them.
func queryLines(ctx context.Context, g *cli.Globals, q *querier) error {
	lines := bufio.NewScanner(&turnTaking{document.Patient(ctx, g.Stdin), g.Stdout})
	n, short := 1, 0
	defer func() {
		if short > 0 {
			g.Log.Info("passed over " + cli.Number(short, "document") + " without a fingerprint")
		}
	}()
	for ; lines.Scan(); n++ {
		text, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\ufeff"), "\t")
		switch text = strings.TrimSpace(text); text {
		case "":
			continue
		case cli.NoPrint:
			short++
			continue
		}
		name, prints, err := q.parse(text)
		if err == nil {
			err = q.ask(ctx, name, prints, 0)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("not a fingerprint: longer than %d bytes", bufio.MaxScanTokenSize)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", n, err)
	}
	return nil
}

// turnTaking flushes the answers before it reads more queries: a program at the other end of both
// pipes may be waiting for them.
type turnTaking struct {
	in  io.Reader
	out io.Writer
}

func (t *turnTaking) Read(p []byte) (int, error) {
	if out, ok := t.out.(*bufio.Writer); ok {
		if err := out.Flush(); err != nil {
			return 0, err
		}
	}
	return t.in.Read(p)
}

func queryDocuments(g *cli.Globals, cmd *cobra.Command, q *querier, args []string, docs *cli.DocumentFlags, texts *textFlags) error {
	recipe := q.index.Recipe()
	if recipe == nil {
		return fmt.Errorf("%w: the index was built from raw fingerprints, so it has no recipe for documents", engine.ErrMixed)
	}
	c, err := docs.Config(g, recipe)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if texts.verify != "" {
		return queryTexts(ctx, g, q, args, c, texts)
	}
	return askDocuments(ctx, g, q, args, c)
}

// queryTexts queries documents and writes those hits whose texts are alike.
func queryTexts(ctx context.Context, g *cli.Globals, q *querier, args []string, c ingest.Config, texts *textFlags) error {
	if !q.index.Live().Config().IDs {
		return cli.Usagef("--verify finds texts by the ids of documents, and the index keeps none")
	}
	type row struct {
		query string
		result.Row
	}
	var rows []row
	ids := q.index.IDs()
	q.held = func(query string, r result.Row) error {
		id, err := ids.ID(engine.DocID(r.DocID))
		texts.pairs.Add(query, id)
		rows = append(rows, row{query, r})
		return err
	}
	partly := askDocuments(ctx, g, q, args, c)
	if partly != nil && !errors.Is(partly, cli.ErrPartly) {
		return partly
	}
	shares, err := texts.compare(ctx, g, c)
	if err != nil {
		return err
	}
	for i, r := range rows {
		if !texts.keeps(shares[i]) {
			continue
		}
		q.hit = true
		if err := q.rows.WriteNamed(r.query, r.Row); err != nil {
			return err
		}
	}
	texts.report(g)
	return partly
}

// askDocuments fingerprints documents and asks for each what is near.
func askDocuments(ctx context.Context, g *cli.Globals, q *querier, args []string, c ingest.Config) error {
	return g.Ingest(ctx, args, c, func(r ingest.Record) error {
		if !r.OK {
			g.Log.Warn(r.ID + ": too short for a fingerprint; not queried")
			return nil
		}
		return q.ask(ctx, r.ID, []simhash.Fingerprint{r.Fingerprint, r.Second}[:q.index.PrintsEach()], cli.TextBytes(r.TextBytes))
	})
}
