// Package dedup holds the command dedup: which documents of a corpus are near-duplicates, of each
// other or of another corpus, and which of them to keep.
//
//	dedup.go, flags.go               the command and its flags
//	against.go, sources.go           --against; sources and their rights
//	folders.go, tables.go, report.go the output folders, their tables and the report
//	clusters.go, summary.go          clusters for people; what is said in the end
//	filter.go                        --write-kept -: a filter between pipes
//	decided.go                       the command filter: copies by a table of decisions
//	shingles.go                      the command shingles: texts that a join in parts compares
package dedup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/simhash"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/near/dedup"
	"ndd/engine/storage/store"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newDedup(g.NewFiles()), newShingles(g.NewFiles()), newFilter(g.NewFiles())}
}

func newDedup(g *cli.Files) *cobra.Command {
	d := &deduping{g: g}
	cmd := &cobra.Command{
		Use:   "dedup [-o DIR] INPUT...",
		Short: "Find the near-duplicates within a set of documents",
		Long: `Compare documents, or the fingerprints in .ndf and .bin files, with each other and
find the near-duplicates. Documents are taken in order of preference (--keep); each
is compared with the documents kept so far whose fingerprints are within k bits, the
nearest first, in order of preference among equally near ones. It is dropped for the
first that is alike and kept if there is none. By fingerprints alone, documents with
one fingerprint are dropped for the same document.
So a dropped document is near the one kept for it and has been compared with it. A
cluster is a kept document, its representative, and what was dropped for it.

Documents in files are read again: fingerprints find the pairs, with k = 6, and the
texts decide, with --verify 'jaccard>=0.7'. Without texts, which fingerprint files do
not have, or in one pass over a pipe, fingerprints decide alone, with k = 3. Choose
another k or rule with -k, --verify or --quality; -k without --verify compares
fingerprints alone.

--keep chooses the representative: the first in order of the inputs, the longest,
the shortest, the newest, or the one with the largest value of a field, such as
--keep score; the first of equal ones. A list, such as --keep score,longest, goes by the
next where one makes no difference. --keep newest:FIELD names the field with the
date; newest takes the first field found of date, timestamp, published, crawl_date
and the like (RFC 3339, HTTP dates, 20060102, Unix seconds); in WARC files it is
WARC-Date; for a file that is one document it is the time of modification.
Documents without a date or without the field rank last. Numeric values rank above
text values. A field that no document has is refused, before the work if none of the
first 1,000 documents of each file has it.

A source is an input as it is named, a file or a folder, or with --source FIELD what
documents have in that field. The summary, the table sources and the report say for each
what was read, dropped and kept. --prefer A,B keeps documents of A before those of B, and
both before all others; --keep source goes by the order of the inputs. With --keep
longest,source it is asked second. --protect PATTERN drops no document of the sources,
files and folders that it matches: they come before all others and can all be kept,
though they are near each other. --max-drop 60% writes nothing and exits with status 4
(with --ok-status 4, too) if more than that share of all documents would go, and
--max-drop SOURCE=60% likewise of one source.

--verify says when a document may go, by the shingles of the texts (3 words, or 5
characters in scripts without spaces; where both meet, a word counts a third and a
character a fifth, until they make 1): jaccard>=X, the share that both have of those
that either has; contained>=X, the share of the dropped document's shingles that the
kept one has; or several of them joined by or and and. With contained>=1 every shingle
of a dropped document is in the one kept for it. With contained the longest document is
kept, unless --keep says otherwise. Fingerprints find no excerpt that is much shorter
than the other text: 'ndd copies' does.

--quality exact finds documents with the same text byte for byte and nothing else: their hashes
of 128 bits are equal. Nothing is compared or read again; it costs reading and 24 bytes
a document, in temporary files. Short documents count, too. (With -k 0
alone, unlike documents go whose fingerprints are equal, as those of texts that differ
in a few words can be.) Otherwise equal texts of documents in files are counted
apart, and read again and held once. Texts that are too short for a fingerprint are
compared with equal ones alone: one of them is kept, and the others are in dropped and in
no cluster. Empty texts stay, and so do all of them in fingerprint files, which do not
say which are equal.

--same-url drops documents with the URL of another one before any text is compared, and
counts them apart; --same-url=FIELD names the field (default: url, or WARC-Target-URI).
URLs are compared in a canonical form, rule 1: without http or https, users, www., the port of
the scheme, dot segments, index.html, index.htm and index.php, fragments, and the
parameters utm_*, fbclid, gclid, dclid, gbraid, wbraid, msclkid, yclid, igshid, mc_cid,
mc_eid, _ga and _gl; everything else counts. They are in dropped, without jaccard and
contained, and in no cluster. Documents too short to be compared stay. It takes
16 bytes a document, in a temporary file.

--chains puts into a cluster all that near pairs connect, directly or through others,
and keeps one; with --verify it compares each with the kept ones of its cluster, near
or not. Others of the cluster can be farther than k from the one that is kept.

Measured, of the versions in manuals, books, news and licences with a Jaccard of 0.8
and more, how many lose one of the two, English and Chinese: 98.6 and 98.3 % with
--quality fast, 99.9 and 99.7 % with balanced, 100.0 and 99.96 % with thorough.
'ndd help recipes' has more.

Without -o the clusters are printed, each document with its distance to the
representative; with --format, as the table clusters below. If only --write-kept,
--annotate or --report is given, nothing is printed. --dry-run writes nothing and reports the counts
alone. With -o the result is a folder, which appears when it is complete:

  clusters.tsv   cluster, id, representative, distance to it, kept (1 or 0), jaccard,
                 contained, file and row, representative_file and representative_row
  kept.txt       id, reason, file and row of kept documents, in order of the inputs; the
                 reason is that of documents too short to be compared
  dropped.tsv    id, kept_id, distance, jaccard, contained, file and row, kept_file and
                 kept_row
  sources.tsv    source, documents, dropped, drop_rate, kept, kept_share (of all that is
                 kept), kept_for_others (documents of other sources dropped for its own)

Tables have a header. Rows are lines, records or rows of the file, from 1, and empty
where a file is one document; those of CSV count the header, so that the first record
has row 2. Jaccard and contained are empty where texts are not compared, also with
--same-url, and 1 with --quality exact, where the distance is 0. They are rounded to 4
digits: 0.7000 can be a little less than 0.7, which stays. --format jsonl or
parquet writes clusters, dropped, kept and sources with that ending.

--write-kept DIR copies the inputs to a new folder, without the dropped documents.
JSONL, JSON, CSV and WARC files lose their dropped lines and records and are otherwise
copied byte for byte, with the same compression (xz and bzip2 become .zst); Parquet
files lose rows and keep all columns, their order and their compression; a file that
is one document is copied if it is kept. What could not be compared is kept: broken
lines, and whole files, which are named. A damaged file is copied
as far as it can be read, a gzip WARC file without its damaged records. File names are
relative to the deepest folder that holds all inputs.

--write-kept - is a filter: it reads lines (--input-format jsonl or lines) from standard
input, which is given as -, and writes those that are kept to standard output, in one
pass, in order, byte for byte. The first document of a cluster is kept; the result is
that of the same k without a pipe. With --chains, of two clusters that a later document
joins both keep their first, since these have been written. Lines longer than --max-document and
blank ones are left out. One pass cannot compare texts (--verify), choose what to keep
(--keep) or write other outputs. It takes up to 150 bytes of memory for each document.

--annotate DIR copies the inputs to a new folder as --write-kept does, with all documents,
and adds fields to each: ndd_cluster, ndd_kept, and of a dropped document ndd_kept_id,
ndd_distance, ndd_jaccard and ndd_contained. All else stays byte for byte. Lines and
objects of JSON get them behind their other fields, CSV and Parquet files as columns
behind the others, empty where there is no value. Documents in other formats, and a file
that has one of the fields already, are refused by name before the work. Of a Parquet
file's metadata ARROW:schema and huggingface, which describe the columns, are left out.

--report DIR makes a page, DIR/index.html, that needs nothing from outside: the drop rate
of each source, what the next stricter and looser settings would drop, clusters by size,
files that overlap, the pairs nearest to the threshold, dropped or both kept, side by
side with differences marked, and what was skipped. It reads documents twice and solves
the clusters once more for each other setting.

--work DIR keeps what reading gave, for each file of the inputs. When the command was
stopped, by a signal, a full disk or a power cut, the same command goes on: it reads the
files again that were being read, and takes the others over. It does so with any -k,
--verify and outputs; a file that has changed is read again, and all are with another
recipe, field, format or --max-document. Files that are added later are read alone.
Finished copies of --write-kept are kept, too, until all are there, and taken over where
the same documents go: DIR must be on the file system that the copies are written to.
DIR can be removed at any time between runs.

With --against, documents near a document of an index or a fingerprint file are dropped
first, in favour of the nearest one there, and only the others are compared with each
other. Where texts are compared, each known document within k is, the nearest first,
until one is alike. It may be given several times: all must have one recipe. They hold no texts: to
compare these, give the files that they were made from with --against-docs, under the
same names as then.`,
		Example: `  ndd dedup docs/
  ndd dedup -o result --keep longest pages.ndf
  ndd dedup --keep newest --write-kept clean crawl-*.jsonl.gz
  ndd dedup --annotate annotated crawl-*.jsonl.gz
  ndd dedup --prefer books,wiki --protect 'gold*' --max-drop crawl=60% --write-kept clean books wiki crawl gold.jsonl
  ndd dedup -o result --source dataset --keep quality,longest all.jsonl.zst
  ndd dedup --quality exact -o result crawl-*.jsonl.gz
  ndd dedup --same-url --keep newest -o result crawl-*.warc.gz
  ndd dedup -o result --verify 'jaccard>=0.8 or contained>=0.95' docs/
  ndd dedup -o result --quality fast crawl-*.jsonl.gz
  zstd -dc crawl.jsonl.zst | ndd dedup --input-format jsonl --write-kept - - > clean.jsonl
  ndd dedup --work work -o result crawl-*.jsonl.gz
  ndd dedup -o result --against index --against evals.ndf new.jsonl
  ndd dedup -o result --against index --against-docs old.jsonl --verify 'jaccard>=0.8' new.jsonl`,
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d.changed = cmd.Flags().Changed
			return d.run(cmd.Context(), args)
		},
	}
	d.docs.Register(cmd)
	d.format.Register(cmd)
	g.RegisterForce(cmd)
	g.RegisterRaw(cmd)
	f := cmd.Flags()
	f.IntVarP(&d.k, "distance", "k", 0,
		"largest Hamming distance between near-duplicates, 0 to 8; without --verify, texts are not compared")
	f.StringVar(&d.quality, "quality", "", "balanced: -k 6 --verify 'jaccard>=0.7', the default where texts can be read "+
		"again; fast: -k 3 without texts, the default otherwise; thorough: balanced with -k 8; exact: the same text only, "+
		"byte for byte")
	f.StringVarP(&d.out, "output", "o", "", "folder to create for the result")
	f.StringVar(&d.keep, "keep", "first", "document of each cluster to keep: first, longest, shortest, newest, "+
		"newest:FIELD (the field with the date), source, or the name of a field, whose largest value is kept; or several of "+
		"them, separated by commas")
	d.sources.register(cmd)
	f.BoolVar(&d.chains, "chains", false, "put into a cluster all that near pairs connect, so that documents can go "+
		"for one farther than k from them")
	f.StringArrayVar(&d.against, "against", nil, "index or fingerprint file of known documents: drop documents near one of "+
		"them; may be repeated")
	f.StringArrayVar(&d.againstDocs, "against-docs", nil,
		"with --verify: file, folder or glob with the documents of the index; may be repeated")
	f.StringVar(&d.verify, "verify", "", "compare texts as well; a document goes only if jaccard>=X or contained>=X; "+
		"several are joined by or and and")
	f.StringVar(&d.writeKept, "write-kept", "",
		"folder to create with copies of the inputs, without the dropped documents; - filters standard input")
	f.StringVar(&d.annotate, "annotate", "",
		"folder to create with copies of the inputs, all documents with fields that say what is kept for them")
	f.StringVar(&d.sameURL, "same-url", "", "drop documents with the canonical URL of another one first; --same-url=FIELD "+
		"names the field")
	f.Lookup("same-url").NoOptDefVal = dedup.URLFields[0]
	f.StringVar(&d.report, "report", "",
		"folder to create with a report as one page of HTML: sizes, overlapping sources, examples side by side")
	f.StringVar(&d.members, "members", "", "fingerprint files: write only a table of the documents whose texts are needed, "+
		"for 'ndd shingles' (.tsv, .jsonl or .parquet)")
	f.BoolVar(&d.dryRun, "dry-run", false, "write nothing: report how many documents would be kept and dropped")
	f.StringVar(&d.memory, "memory", "",
		"memory limit, such as 16GiB; beyond it, what grows with the documents is in temporary files, in $TMPDIR (default: "+
			"what is available)")
	f.StringVar(&d.work, "work", "", "folder that keeps what was read, so that the same command goes on after a stop, "+
		"and reads only new files later")
	return cmd
}

// deduping is one run of the command.
type deduping struct {
	g *cli.Files
	comparing
	keeping
	writing
	docs    cli.DocumentFlags
	changed func(flag string) bool // reports whether it was given
	memory  string
	work    string

	inputs []string
	prints bool           // they are fingerprints
	sets   []string       // beside them, the files of 'ndd shingles'
	kept   *cli.Work      // of --work; nil without it
	skips  document.Tally // what was not read
}

// comparing are the flags that define which documents are near.
type comparing struct {
	k           int
	quality     string
	verify      string
	chains      bool
	against     []string
	againstDocs []string
	members     string
}

// keeping are the flags that say which document of a cluster is kept.
type keeping struct {
	keep    string
	sources sourceFlags
	sameURL string
}

// writing are the flags for the outputs.
type writing struct {
	out, writeKept, annotate, report string

	dryRun bool
	format cli.TableFormat
}

// exact reports whether documents go for one with the same text alone.
func (c *comparing) exact() bool { return c.quality == "exact" }

func (d *deduping) run(ctx context.Context, inputs []string) (err error) {
	defer store.CatchFault(&err)() // fingerprint files are mapped
	if d.inputs = inputs; d.filtering() {
		return d.filter(ctx)
	}
	if err := cli.ReadOnce(inputs); err != nil {
		return err
	}
	d.inputs, d.sets = withoutSets(inputs)
	if d.prints, err = d.g.HaveFingerprints(d.inputs, d.docs.Format != string(document.Auto)); err != nil {
		return err
	}
	o, read, err := d.options()
	if err != nil {
		return err
	}
	if err := d.compareInParts(o.Verify); err != nil {
		return err
	}
	to := &folders{Outputs: d.g.NewOutputs(d.dryRun)} // before the work, so that a wrong name costs nothing
	defer to.Abort()
	if err := to.begin(ctx, d); err != nil {
		return err
	}
	defer func() { d.kept.Close(&err) }()
	c, r, partly, err := d.find(ctx, &o, read)
	if c != nil {
		defer c.Close()
	}
	if errors.Is(err, dedup.ErrNoValue) {
		if err = cli.Usagef("--%w", err); slices.Contains(read.Keep, dedup.By{Policy: dedup.Newest}) && !d.prints {
			err = fmt.Errorf("%w; --keep newest:FIELD names the field with the date", err)
		}
	}
	if _, ok := errors.AsType[dedup.SourceError](err); ok {
		err = cli.Usagef("--%w", err)
	}
	if err != nil || d.members != "" {
		return err
	}
	if beyond := r.Beyond(); len(beyond) > 0 {
		d.sum(c, r)
		d.sayBeyond(beyond)
		d.g.OKStatus = 0 // nothing is done
		return cli.ErrPartly
	}
	if d.dryRun {
		d.sum(c, r)
		d.g.Log.Info("dry run: nothing was written")
		return partly
	}
	if err := d.write(ctx, to, c, r, o); err != nil {
		return err
	}
	if err := to.Commit(); err != nil {
		return err
	}
	d.kept.Done()
	d.sum(c, r)
	return partly
}

// find reads the corpus and finds its clusters. partly is [cli.ErrPartly] when some
// of the input was skipped.
func (d *deduping) find(ctx context.Context, o *dedup.Options, read dedup.ReadOptions) (
	c *dedup.Corpus, r *dedup.Result, partly, err error) {
	list, err := d.openAgainst(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	defer list.Close()
	var recipe *simhash.Recipe
	if len(list) > 0 {
		if err := d.distance(list); err != nil {
			return nil, nil, nil, err
		}
		recipe, o.K = list[0].recipe, d.k
		o.Known = func(ctx context.Context, prints []uint64) ([]dedup.Drop, error) {
			return list.find(ctx, d.k, d.g.Threads, d.verify != "", prints)
		}
		o.KnownBytes = func(documents int) uint64 { return list.bytes(d.k, d.g.Threads, documents) }
		read.Find = *o
	}
	if d.prints {
		c, err = dedup.ReadPrints(ctx, d.inputs, read)
	} else {
		c, partly, err = d.documents(ctx, recipe, read)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if d.report != "" {
		o.Also = otherSettings(*o)
	}
	o.Meter = &cluster.Meter{}
	bar := d.g.Progress.NewCompareBar("comparing", o.Meter)
	if o.Verify != nil {
		o.Verify.Meter = &document.Meter{}
		o.Verify.Begin = func() {
			if d.prints {
				return // no text is read
			}
			bar.End()
			bar = d.g.Progress.NewInputBar(ctx, "verifying", slices.Concat(d.inputs, d.againstDocs),
				document.Options{Meter: o.Verify.Meter})
		}
	}
	r, err = dedup.Find(ctx, c, *o)
	bar.End()
	return c, r, partly, err
}

// documents fingerprints the inputs.
func (d *deduping) documents(ctx context.Context, recipe *simhash.Recipe, read dedup.ReadOptions) (
	c *dedup.Corpus, partly, err error) {
	config, err := d.docs.Config(d.g, recipe)
	if err != nil {
		return nil, nil, err
	}
	config.Exact = d.exact()
	var bar *cli.Bar
	if d.kept, bar, err = d.g.BeginReading(ctx, d.inputs, &config, d.work); err != nil {
		return nil, nil, err
	}
	if d.kept != nil {
		defer d.kept.Complete()
	}
	c, report, err := dedup.ReadDocuments(ctx, d.inputs, config, read)
	bar.End()
	if err != nil {
		if c == nil {
			err = memory.Advise(err, "a lower --max-document than "+d.docs.MaxDocument+" needs less")
		}
		return nil, nil, err
	}
	for _, m := range c.Missing() {
		what := fmt.Sprintf("field %q", m.Field)
		if m.Policy == dedup.Newest {
			what = "date"
		}
		msg := fmt.Sprintf("--keep %s: no %s in %s of %s, ranked last", m.By, what, humanize.Comma(int64(m.Documents)),
			cli.Number(c.Len(), "document"))
		if m.NoDate != "" {
			msg += fmt.Sprintf("; not a date: %.40q", m.NoDate)
		}
		d.g.Log.Warn(msg)
	}
	d.skips = report.Skipped
	return c, d.g.Ingested(report), nil
}
