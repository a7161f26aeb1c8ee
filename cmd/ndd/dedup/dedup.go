package dedup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/simhash"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/near/dedup"
	"ndd/engine/near/shingle"
	"ndd/engine/result"
)

// giantCluster is the size from which a cluster is worth a warning: near pairs
// chain, and such a one joins unlike documents more often than not.
const giantCluster = 1000

func newDedup(g *cli.Globals) *cobra.Command {
	d := &deduping{g: g}
	cmd := &cobra.Command{
		Use:   "dedup [-k K] [-o DIR] INPUT...",
		Short: "Find the near-duplicates within a set of documents",
		Long: `Compare documents, or the fingerprints in .ndf and .bin files, with each other and
group into clusters those within k bits of each other, directly or through
others. One document of each cluster is kept, its representative. Because
near-duplicates chain, others of the cluster can be farther than k from it; with
--star a cluster has only documents within k of its representative.

--keep chooses the representative: the first in order of the inputs, the longest,
the shortest, the newest, or the one with the largest value of a field, such as
--keep score; the first of equal ones. For newest, the date is in the field
--time, or else in the first field found of date, timestamp, published,
crawl_date and the like (RFC 3339, HTTP dates, 20060102, Unix seconds); in WARC
files it is WARC-Date; for a file that is one document it is the time of
modification. Documents without a date or without the field rank last. Numeric
values rank above text values.

--verify 'jaccard>=0.8' reads the documents of clusters again and compares the
shingles of their texts: a document is dropped only if its Jaccard similarity to
the document kept for it is at least that. Clusters are split accordingly.

--quality chooses k and the comparison of texts by what was measured: fast is -k 3,
balanced is -k 6 --verify 'jaccard>=0.7', thorough -k 8 with the same. 'ndd help
recipes' has the tables.

Without -o the clusters are printed, each document with its distance to the
representative (with --format, as the table clusters below; with --json, one object
per cluster). If only --write-kept or --report is given, nothing is printed. With -o the result
is a folder, which appears when it is complete:

  clusters.tsv   cluster, id, representative, distance to it, kept (1 or 0), jaccard,
                 file and row, representative_file and representative_row
  kept.txt       the ids of kept documents, in order of the inputs; those too short
                 for a fingerprint, which are not compared, with that reason behind a tab
  dropped.tsv    id, kept_id, distance, jaccard, file and row, kept_file and kept_row

Tables have a header. Rows are lines, records or rows of the file, from 1, and empty
where a file is one document; jaccard is empty without --verify. --format jsonl or
parquet writes clusters, dropped and kept with that ending.

--write-kept DIR copies the inputs to a new folder, without the dropped documents.
JSONL, JSON, CSV and WARC files lose their dropped lines and records and are otherwise
copied byte for byte, with the same compression (xz and bzip2 become .zst); Parquet
files lose rows and keep all columns, their order and their compression; a file that
is one document is copied if it is kept. What could not be compared is kept: lines
that are broken or too short, and whole files, which are named (--leave-unjudged leaves
these out). A damaged file is copied as far as it can be read, a gzip WARC file without
its damaged records. File names are relative to the deepest folder that holds all
inputs.

--report DIR makes a page, DIR/index.html, that needs nothing from outside: clusters by
size, files that overlap, kept and dropped documents side by side with differences
marked, those farthest apart first, and what was skipped. It reads documents twice.

With --against, documents near a document of an index are dropped first, in favour
of the nearest one there, and only the others are compared with each other. An
index holds no texts: for --verify, give the files that it was made from with
--against-docs, under the same names as then.`,
		Example: `  ndd dedup docs/
  ndd dedup -o result --keep longest --star pages.ndf
  ndd dedup --keep newest --verify 'jaccard>=0.8' --write-kept clean crawl-*.jsonl.gz
  ndd dedup -o result --quality balanced docs/
  ndd dedup -o result --against index new.jsonl
  ndd dedup -o result --against index --against-docs old.jsonl --verify 'jaccard>=0.8' new.jsonl`,
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args) },
	}
	d.docs.Register(cmd, "document-format")
	g.Skipped.Register(cmd)
	d.format.Register(cmd)
	g.RegisterForce(cmd)
	f := cmd.Flags()
	f.IntVarP(&d.k, "distance", "k", 3, "largest Hamming distance between near-duplicates, 0 to 8")
	f.StringVarP(&d.out, "output", "o", "", "folder to create for the result")
	f.StringVar(&d.keep, "keep", "first", "document of each cluster to keep: first, longest, shortest, newest, or the name of a field, whose largest value is kept")
	f.StringVar(&d.time, "time", "", "JSONL, CSV and WARC: the field or header with the date, for --keep newest")
	f.BoolVar(&d.star, "star", false, "put into a cluster only documents within k of its representative, without chains")
	d.ratio.Register(f, ", compared with the document that is kept")
	f.StringVar(&d.against, "against", "", "index of known documents: drop what is near one of them")
	f.StringArrayVar(&d.againstDocs, "against-docs", nil, "with --verify: file, folder or glob with the documents of the index; may be repeated")
	f.StringVar(&d.quality, "quality", "", "choose -k and --verify: fast, balanced or thorough")
	f.StringVar(&d.verify, "verify", "", "also compare the texts of each cluster: jaccard>=X")
	f.IntVar(&d.shingles.Words, "shingle-words", 3, "with --verify: words per shingle, 1 to 16")
	f.IntVar(&d.shingles.Chars, "shingle-chars", 5, "with --verify: characters per shingle in scripts without spaces, 1 to 16")
	f.StringVar(&d.writeKept, "write-kept", "", "folder to create with copies of the inputs, without the dropped documents")
	f.StringVar(&d.report, "report", "", "folder to create with a report as one page of HTML: sizes, sources that overlap, examples side by side, what was skipped")
	f.BoolVar(&d.leaveUnjudged, "leave-unjudged", false, "with --write-kept: leave out files of which nothing could be compared, instead of copying them as they are")
	f.BoolVar(&d.dryRun, "dry-run", false, "do everything but write the outputs, and say what would be kept and dropped")
	f.BoolVar(&d.json, "json", false, "print the clusters as JSON lines")
	f.StringVar(&d.memory, "memory", "", "memory limit, such as 16GiB; fails before the work if more is needed (default: what is available)")
	return cmd
}

// deduping is one run of the command.
type deduping struct {
	g           *cli.Globals
	docs        cli.DocumentFlags
	k           int
	out         string
	keep, time  string
	star        bool
	ratio       cli.LengthRatio
	against     string
	againstDocs []string
	quality     string
	verify      string
	verifyFlag  string // that asked for it
	shingles    shingle.Options
	writeKept   string
	format      cli.TableFormat
	json        bool

	report                string
	leaveUnjudged, dryRun bool

	inputs []string
	prints bool           // they are fingerprints
	skips  document.Tally // what was not read
	memory string
}

func (d *deduping) run(ctx context.Context, inputs []string) error {
	if err := d.chooseQuality(); err != nil {
		return err
	}
	if err := cli.ReadOnce(inputs); err != nil {
		return err
	}
	prints, err := d.g.ArePrints(inputs, d.docs.Format != string(document.Auto))
	if err != nil {
		return err
	}
	d.inputs, d.prints = inputs, prints
	o, read, err := d.options(inputs, prints)
	if err != nil {
		return err
	}
	to, err := d.folders(ctx, inputs) // before the work, so that a wrong name costs nothing
	if err != nil {
		return err
	}
	defer to.abort()
	c, r, partly, err := d.find(ctx, inputs, prints, o, read)
	if c != nil {
		defer c.Close()
	}
	if errors.Is(err, dedup.ErrNoValue) {
		if err = cli.Usagef("--%w", err); d.keep == "newest" && !prints {
			err = fmt.Errorf("%w; name the field with the date with --time", err)
		}
	}
	if err != nil {
		return err
	}
	if d.dryRun {
		d.sum(c, r)
		d.g.Log.Info("dry run: nothing was written; " + d.wouldWrite(to, c, r))
		return partly
	}
	if err := d.write(ctx, inputs, to, c, r); err != nil {
		return err
	}
	if err := to.commit(); err != nil {
		return err
	}
	d.sum(c, r)
	return partly
}

// say reports the memory that comparing n documents takes, or reading them if n is 0.
func (d *deduping) say(read dedup.ReadOptions, prints bool, n int, bytes uint64) {
	limit := fmt.Sprintf("of %s (%s)", humanize.IBytes(read.Budget.Limit().Bytes), read.Budget.Limit().Source)
	bytes = read.Budget.Total(bytes)
	if n == 0 && !prints {
		const some = 1e6
		each := (dedup.NeedBytes(some, 0, false, read) - dedup.NeedBytes(0, 0, false, read)) / some
		d.g.Log.Debug(fmt.Sprintf("memory: up to %s to read documents, and %d bytes plus the id for each, %s", humanize.IBytes(bytes), each, limit))
		return
	}
	d.g.Log.Debug(fmt.Sprintf("comparing %s takes up to %s of memory, %s", cli.Number(n, "document"), humanize.IBytes(bytes), limit))
}

// find reads the corpus and finds its clusters. partly is [cli.ErrPartly] when some
// of the input was skipped.
func (d *deduping) find(ctx context.Context, inputs []string, prints bool, o dedup.Options, read dedup.ReadOptions) (
	c *dedup.Corpus, r *dedup.Result, partly, err error) {
	var x *engine.Index
	var recipe *simhash.Recipe
	if d.against != "" {
		if x, err = engine.Open(ctx, d.against, engine.OpenOptions{Threads: d.g.Threads, MaxLengthRatio: float64(d.ratio)}); err != nil {
			return nil, nil, nil, err
		}
		defer x.Close()
		if most := x.Design().K; d.k > most {
			return nil, nil, nil, cli.Usagef("-k %d: the index was built for k up to %d", d.k, most)
		}
		recipe = x.Recipe()
		if recipe == nil && !prints { // known before hours of reading
			return nil, nil, nil, fmt.Errorf("%w: %s was built from raw fingerprints, so it has no recipe for documents", engine.ErrMixed, d.against)
		}
		asking := engine.BatchOptions{K: d.k, Docs: 1, Threads: d.g.Threads, MatchBytes: knownBytes}
		o.Known = known(x, asking)
		o.KnownBytes = func(documents int) uint64 {
			p, err := x.PlanBatch(documents*x.PrintsEach(), asking)
			if err != nil {
				return 0 // the index is closed, and so is the command
			}
			return p.Bytes()
		}
		read.Find = o
	}
	if prints {
		c, err = dedup.ReadPrints(ctx, inputs, read)
	} else {
		c, partly, err = d.documents(ctx, inputs, recipe, read)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if x != nil {
		if err := simhash.Compatible(d.against, recipe, "what is to be compared", c.Recipe()); err != nil {
			return nil, nil, nil, err
		}
	}
	o.Meter = &cluster.Meter{}
	bar := d.g.NewCompareBar("comparing", o.Meter)
	if o.Verify != nil {
		o.Verify.Meter = &document.Meter{}
		o.Verify.Begin = func() {
			bar.End()
			bar = d.g.NewMeterBar("verifying", o.Verify.Meter)
		}
	}
	r, err = dedup.Find(ctx, c, o)
	bar.End()
	return c, r, partly, err
}

// documents fingerprints the inputs.
func (d *deduping) documents(ctx context.Context, inputs []string, recipe *simhash.Recipe, read dedup.ReadOptions) (c *dedup.Corpus, partly, err error) {
	config, err := d.docs.Config(d.g, recipe)
	if err != nil {
		return nil, nil, err
	}
	config.Document.Meter = &document.Meter{}
	bar := d.g.NewInputBar(ctx, "reading", inputs, config.Document.Meter)
	c, report, err := dedup.ReadDocuments(ctx, inputs, config, read)
	bar.End()
	if err != nil {
		if c == nil {
			err = memory.Advise(err, "a lower --max-document than "+d.docs.MaxDocument+" needs less")
		}
		return nil, nil, err
	}
	if n, noDate := c.Missing(); n > 0 && n < c.Len() {
		what := fmt.Sprintf("field %q", d.keep)
		if d.keep == "newest" {
			what = "date"
		}
		msg := fmt.Sprintf("--keep %s: no %s in %s of %s, ranked last", d.keep, what, humanize.Comma(int64(n)), cli.Number(c.Len(), "document"))
		if noDate != "" {
			msg += fmt.Sprintf("; not a date: %.40q", noDate)
		}
		d.g.Log.Warn(msg)
	}
	d.skips = report.Skipped
	return c, d.g.Ingested(report), nil
}

// knownBytes is for what --against finds; a batch's own default is for more queries than this
// command has in most cases.
const knownBytes = 256 << 20

// known looks fingerprints up in the index: of each that is near one there, the
// first document of the nearest.
func known(x *engine.Index, o engine.BatchOptions) func(context.Context, []uint64, []uint32, func(int, string, int) error) error {
	return func(ctx context.Context, prints []uint64, lengths []uint32, found func(int, string, int) error) error {
		names := x.IDs()
		if len(lengths) > 0 {
			o.TextBytes = lengths
		}
		last := -1
		return x.Batch(ctx, simhash.Fingerprints(prints), o, func(row int, hits []engine.Hit) error {
			if row == last {
				return nil // more hits of the same query, which are not nearer
			}
			last = row
			name, err := names.ID(hits[0].Docs[0])
			if err != nil {
				return err
			}
			return found(row, name, hits[0].Distance)
		})
	}
}

// sum reports the result in one line, after warnings about very large clusters.
func (d *deduping) sum(c *dedup.Corpus, r *dedup.Result) {
	extra, farthest, giants := 0, 0, 0
	var giant dedup.Cluster
	for cl := range r.Clusters() {
		extra += len(cl.Rows) - 1
		for _, row := range cl.Rows {
			farthest = max(farthest, r.Distance(row, cl.Kept))
		}
		if len(cl.Rows) >= giantCluster {
			if giants++; len(cl.Rows) > len(giant.Rows) {
				giant = cl
			}
		}
	}
	if giants > 0 {
		d.g.Log.Warn(d.giants(c, r, giants, giant))
	}
	msg := fmt.Sprintf("found %s in %s", cli.Number(extra, "duplicate"), cli.Number(r.Len(), "cluster"))
	if d.against != "" {
		msg += fmt.Sprintf(", and %s near one in %s", cli.Number(len(r.Known), "document"), d.against)
	}
	msg += fmt.Sprintf("; %s kept", cli.Number(c.Len()+c.NumShort()-len(r.Known)-extra, "document"))
	if short := c.NumShort(); short > 0 {
		msg += fmt.Sprintf(", %s of them too short to be compared", humanize.Comma(int64(short)))
	}
	if extra > 0 {
		msg += "; largest distance " + cli.Number(farthest, "bit")
	}
	if r.Rejected > 0 {
		what := "text"
		if d.ratio != 0 {
			what = "length"
			if r.Verified() {
				what = "length or text"
			}
		}
		msg += fmt.Sprintf("; %s near by fingerprint, but not by %s", cli.Number(r.Rejected, "more document"), what)
	}
	d.g.Log.Info(msg)
}

// giants warns of clusters that may be chains of unlike documents.
func (d *deduping) giants(c *dedup.Corpus, r *dedup.Result, n int, largest dedup.Cluster) string {
	most := 0
	for _, row := range largest.Rows {
		most = max(most, r.Distance(row, largest.Kept))
	}
	var what strings.Builder
	if n > 1 {
		fmt.Fprintf(&what, "%s clusters of %s documents or more; the largest has ", humanize.Comma(int64(n)), humanize.Comma(giantCluster))
	} else {
		what.WriteString("a very large cluster of ")
	}
	fmt.Fprintf(&what, "%s (kept: %s; largest distance %s)", cli.Number(len(largest.Rows), "document"), result.Escape(c.ID(largest.Kept)), cli.Number(most, "bit"))
	switch {
	case r.Verified():
	case most > d.k:
		what.WriteString(": near pairs may have chained unlike documents together; see --star and --verify")
	default:
		what.WriteString(": empty pages or a site's template? see --verify")
	}
	return what.String()
}
