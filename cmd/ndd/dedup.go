package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/engine"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/simhash"
	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/near/dedup"
	"ndd/engine/near/jaccard"
	"ndd/engine/result"
	"ndd/permute"
)

// giantCluster is the size from which a cluster is worth a warning: near pairs
// chain, and such a one joins unlike documents more often than not.
const giantCluster = 1000

func newDedup(g *globals) *cobra.Command {
	d := &deduping{g: g}
	cmd := &cobra.Command{
		Use:   "dedup [-k K] [-o DIR] INPUT...",
		Short: "Find the near-duplicates within a set of documents",
		Long: `Compare documents, or the fingerprints of .ndf and .bin files, with each other and
group those that are within k bits of each other, directly or through others.
One document of each cluster is kept, its representative. Distances of the
others to it can be larger than k, since near-duplicates chain; with --star a
cluster has only what is within k of its representative.

--keep says which one: the first in order of the inputs, the longest, the
shortest, the newest, or the one with the largest value of a field, such as
--keep score; of equal ones the first. newest goes by a date in the row, in the
field --time or else the first there is of date, timestamp, published,
crawl_date and the like (RFC 3339, HTTP dates, 20060102, Unix seconds); in WARC
files by WARC-Date; for a file that is one document, by when it was modified. What has no date, or not
the field, is kept last. Numbers are larger than other texts.

--verify 'jaccard>=0.8' reads the documents of clusters again and compares
shingles of their texts: a document goes only if it shares so much with the
very one that is kept for it. Clusters split accordingly.

Without -o, the clusters on standard output, each document with its distance to
the representative (--json: an object a line); nothing there if --write-kept is
all that is asked for. With -o, a folder that appears when it is complete:

  clusters.tsv   cluster, id, representative, distance to it, kept (1 or 0)
  kept.txt       the ids that stay, in order of the inputs (without documents of
                 too few words for a fingerprint: nothing is known of them)
  dropped.tsv    id, the id that is kept instead, distance

With --verify, clusters.tsv and dropped.tsv have one column more: the share of
shingles that a document has in common with what is kept.

--write-kept DIR copies the inputs to a new folder without what can go: JSONL, CSV
and WARC files without those lines and records, all else of them byte for byte,
compressed as they were; files that are one document each, if they are kept. Lines that could not
be compared (broken, or of too few words) stay. A damaged file is copied as far
as it is good, and a gzip WARC file without the records that are damaged. Names are
those below the deepest folder that holds all inputs.

With --against, what is near a document of an index is dropped first, for the
nearest one there, and only the rest is compared with itself. An index has no
texts: for --verify, name with --against-docs the files that it was made from, as
they were named then. Only texts of documents that are near each other are compared.`,
		Example: `  ndd dedup docs/
  ndd dedup -o result --keep longest --star pages.ndf
  ndd dedup --keep newest --verify 'jaccard>=0.8' --write-kept clean crawl-*.jsonl.gz
  ndd dedup -o result --against index new.jsonl
  ndd dedup -o result --against index --against-docs old.jsonl --verify 'jaccard>=0.8' new.jsonl`,
		Args: someArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args) },
	}
	d.docs.register(cmd, "format")
	f := cmd.Flags()
	f.IntVarP(&d.k, "distance", "k", 3, "largest Hamming distance of near-duplicates, 0 to 8")
	f.StringVarP(&d.out, "output", "o", "", "write the result into this new folder")
	f.StringVar(&d.keep, "keep", "first", "which of a cluster to keep: first, longest, shortest, newest, or a field: the largest")
	f.StringVar(&d.time, "time", "", "jsonl, csv, warc: field or header that holds the date, for --keep newest")
	f.BoolVar(&d.star, "star", false, "only what is within k of the representative, no chains")
	f.StringVar(&d.against, "against", "", "an index whose documents are there already")
	f.StringArrayVar(&d.againstDocs, "against-docs", nil, "--verify: a file, folder or glob with documents of the index; may be repeated")
	f.StringVar(&d.verify, "verify", "", "compare the texts of a cluster too: jaccard>=X")
	f.IntVar(&d.shingles.Words, "shingle-words", 3, "--verify: words in a shingle, 1 to 16")
	f.IntVar(&d.shingles.Chars, "shingle-chars", 5, "--verify: characters in a shingle of a script without spaces, 1 to 16")
	f.StringVar(&d.writeKept, "write-kept", "", "copy the inputs, without what can go, into this new folder")
	f.BoolVar(&d.json, "json", false, "the clusters on standard output as JSON lines")
	f.StringVar(&d.memory, "memory", "", "refuse what needs more, such as 16GiB (default: what is available)")
	return cmd
}

// deduping is one run of the command.
type deduping struct {
	g           *globals
	docs        documentFlags
	k           int
	out         string
	keep, time  string
	star        bool
	against     string
	againstDocs []string
	verify      string
	shingles    jaccard.Options
	writeKept   string
	json        bool
	memory      string
}

func (d *deduping) run(ctx context.Context, inputs []string) error {
	prints, err := arePrints(inputs)
	if err != nil {
		return err
	}
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
	if errors.Is(err, dedup.ErrNoValue) {
		err = usagef("--%w", err)
	}
	if err != nil {
		return err
	}
	if err := d.write(ctx, to, c, r); err != nil {
		return err
	}
	if err := to.commit(); err != nil {
		return err
	}
	d.sum(c, r)
	return partly
}

// unused refuses flags that say nothing of what is asked for.
func (d *deduping) unused(prints bool) (err error) {
	if prints {
		err = d.g.refuse("is for documents; fingerprint files have no texts", append(documentFlagNames, "format")...)
	}
	if err == nil && d.verify == "" {
		err = d.g.refuse("is for --verify", "shingle-words", "shingle-chars")
	}
	return err
}

// options checks the flags.
func (d *deduping) options(inputs []string, prints bool) (o dedup.Options, read dedup.ReadOptions, err error) {
	if err = d.unused(prints); err != nil {
		return o, read, err
	}
	o = dedup.Options{K: d.k, Star: d.star, Threads: d.g.threads}
	if d.k < 0 || d.k > permute.MaxK {
		return o, read, usagef("-k %d: must be 0 to %d", d.k, permute.MaxK)
	}
	if read.Keep, err = dedup.ParseKeep(d.keep, d.time); err != nil {
		return o, read, usagef("--keep %w", err)
	}
	memory, err := parseMemory(d.memory)
	if err != nil {
		return o, read, err
	}
	if o.Verify, err = d.verification(); err != nil {
		return o, read, err
	}
	if err = d.checkStreams(inputs, prints); err != nil {
		return o, read, err
	}
	read.Find, read.Threads, read.Limit = o, d.g.threads, d.g.machine.Limit(memory)
	if o.Verify != nil {
		o.Verify.Memory = int64(min(read.Limit.Bytes/4, dedup.VerifyMemory))
	}
	of := read // without Say
	read.Say = func(n int, bytes uint64) { d.say(of, prints, n, bytes) }
	return o, read, nil
}

// verification is what --verify and the flags that go with it ask for, nil without it.
func (d *deduping) verification() (*dedup.Verify, error) {
	if len(d.againstDocs) > 0 && (d.verify == "" || d.against == "" || slices.ContainsFunc(d.againstDocs, document.ReadOnce)) {
		return nil, usagef("--against-docs names the files of the documents of --against INDEX, for --verify")
	}
	if d.verify == "" {
		return nil, nil
	}
	threshold, err := dedup.ParseVerify(d.verify)
	if err != nil {
		return nil, usagef("--verify %w", err)
	}
	if _, err := jaccard.New(d.shingles); err != nil || d.shingles.Words < 1 || d.shingles.Chars < 1 {
		return nil, usagef("--shingle-words %d, --shingle-chars %d: must be 1 to 16", d.shingles.Words, d.shingles.Chars)
	}
	if d.against != "" && len(d.againstDocs) == 0 {
		return nil, usagef("--verify needs the texts of what %s has, and an index holds fingerprints only: "+
			"name the files that it was made from with --against-docs", d.against)
	}
	return &dedup.Verify{Jaccard: threshold, Shingles: d.shingles, Known: d.againstDocs, Disk: d.g.disk}, nil
}

// checkStreams refuses inputs that cannot be read as is asked for, and outputs that are none.
func (d *deduping) checkStreams(inputs []string, prints bool) error {
	for _, again := range []struct{ flag, value string }{{"--verify", d.verify}, {"--write-kept", d.writeKept}} {
		if again.value == "" {
			continue
		}
		if prints {
			return usagef("%s needs documents; fingerprint files have no texts", again.flag)
		}
		if i := slices.IndexFunc(inputs, document.ReadOnce); i >= 0 {
			return usagef("%s reads documents twice, and a pipe (%s) can be read once: put it in a file", again.flag, inputs[i])
		}
	}
	if d.out == document.Stdin {
		return usagef("-o -: the result is a folder; without -o, clusters go to standard output")
	}
	if d.json && d.out != "" {
		return usagef("--json is for standard output, without -o")
	}
	return nil
}

// say states the memory of so many documents, or, before they are read, of reading them.
func (d *deduping) say(read dedup.ReadOptions, prints bool, n int, bytes uint64) {
	limit := fmt.Sprintf("of %s (%s)", humanize.IBytes(read.Limit.Bytes), read.Limit.Source)
	if n == 0 && !prints {
		const some = 1e6
		each := (dedup.Bytes(some, 0, false, read) - dedup.Bytes(0, 0, false, read)) / some
		d.g.log.Info(fmt.Sprintf("memory: up to %s to read documents, and %d bytes and its id for each, %s", humanize.IBytes(bytes), each, limit))
		return
	}
	d.g.log.Info(fmt.Sprintf("comparing %s takes up to %s of memory, %s", number(n, "document"), humanize.IBytes(bytes), limit))
}

// find reads the corpus and finds its clusters. partly is errPartly when some
// of the input was skipped.
func (d *deduping) find(ctx context.Context, inputs []string, prints bool, o dedup.Options, read dedup.ReadOptions) (
	c *dedup.Corpus, r *dedup.Result, partly, err error) {
	var x *engine.Index
	var recipe *simhash.Recipe
	if d.against != "" {
		if x, err = engine.Open(ctx, d.against, engine.OpenOptions{Threads: d.g.threads}); err != nil {
			return nil, nil, nil, err
		}
		defer x.Close()
		if most := x.Design().K; d.k > most {
			return nil, nil, nil, usagef("-k %d: the index was built for k up to %d", d.k, most)
		}
		recipe = x.Recipe()
		if recipe == nil && !prints { // known before hours of reading
			return nil, nil, nil, fmt.Errorf("%w: %s was built from raw fingerprints and does not know how to make them from documents", engine.ErrMixed, d.against)
		}
		asking := engine.BatchOptions{K: d.k, Docs: 1, Threads: d.g.threads, Memory: knownBytes}
		o.Known = known(x, asking)
		o.KnownBytes = func(documents int) uint64 { return x.BatchSpace(documents, asking).Total() }
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
		if (recipe == nil) != (c.Recipe() == nil) {
			return nil, nil, nil, fmt.Errorf("%w: one of %s and the inputs has raw fingerprints", engine.ErrMixed, d.against)
		}
		if recipe != nil {
			if err := recipe.Check(*c.Recipe()); err != nil {
				return nil, nil, nil, fmt.Errorf("%w: %s and the inputs: %w", engine.ErrMixed, d.against, err)
			}
		}
	}
	o.Meter = &cluster.Meter{}
	bar := d.g.newCompareBar("comparing", o.Meter)
	if o.Verify != nil {
		o.Verify.Meter = &document.Meter{}
		o.Verify.Begin = func() {
			bar.end()
			bar = d.g.newMeterBar("verifying", o.Verify.Meter)
		}
	}
	r, err = dedup.Find(ctx, c, o)
	bar.end()
	return c, r, partly, err
}

// documents fingerprints the inputs.
func (d *deduping) documents(ctx context.Context, inputs []string, recipe *simhash.Recipe, read dedup.ReadOptions) (c *dedup.Corpus, partly, err error) {
	config, err := d.docs.config(d.g, recipe)
	if err != nil {
		return nil, nil, err
	}
	config.Document.Meter = &document.Meter{}
	bar := d.g.newMeterBar("reading", config.Document.Meter)
	c, report, err := dedup.ReadDocuments(ctx, inputs, config, read)
	bar.end()
	if errors.Is(err, memory.ErrTooLarge) && c == nil {
		err = fmt.Errorf("%w: a lower --max-document (%s) takes less", err, d.docs.maxDocument)
	}
	if err != nil {
		return nil, nil, err
	}
	if n, noDate := c.Missing(); n > 0 && n < c.Len() {
		msg := fmt.Sprintf("--keep %s: %s of %s have no such value and are kept last", d.keep, humanize.Comma(int64(n)), number(c.Len(), "document"))
		if noDate != "" {
			msg += fmt.Sprintf("; no date, for example: %.40q", noDate)
		}
		d.g.log.Warn(msg)
	}
	return c, d.g.ingested(report), nil
}

// knownBytes is for what --against finds; a batch's own default is for more queries than this
// command has in most cases.
const knownBytes = 256 << 20

// known looks fingerprints up in the index: of each that is near one there, the
// first document of the nearest.
func known(x *engine.Index, o engine.BatchOptions) func(context.Context, []uint64, func(int, string, int) error) error {
	return func(ctx context.Context, prints []uint64, found func(int, string, int) error) error {
		names := x.IDs()
		return x.Batch(ctx, prints, o, func(row int, hits []engine.Hit) error {
			name, err := names.ID(hits[0].Docs[0])
			if err != nil {
				return err
			}
			return found(row, name, hits[0].Distance)
		})
	}
}

// sum says what the result comes to, and what to beware of.
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
		d.g.log.Warn(d.giants(c, r, giants, giant))
	}
	comma := func(n int) string { return humanize.Comma(int64(n)) }
	msg := fmt.Sprintf("%s with %s: %s in %s could go", number(c.Len()-len(r.Known), "document"),
		number(r.Distinct, "distinct fingerprint"), comma(extra), number(r.Len(), "cluster"))
	if extra > 0 {
		msg += fmt.Sprintf(", at most %d bits from what is kept", farthest)
	}
	if r.Verified() {
		msg += fmt.Sprintf("; %s more were near by their fingerprints, but not by their texts", comma(r.Rejected))
	}
	if d.against != "" {
		msg += fmt.Sprintf("; %s more were in %s already", comma(len(r.Known)), d.against)
	}
	d.g.log.Info(msg)
}

// giants warns of clusters that may be chains of unlike documents.
func (d *deduping) giants(c *dedup.Corpus, r *dedup.Result, n int, largest dedup.Cluster) string {
	most := 0
	for _, row := range largest.Rows {
		most = max(most, r.Distance(row, largest.Kept))
	}
	var what strings.Builder
	if n > 1 {
		fmt.Fprintf(&what, "%s clusters of %s documents or more, the largest ", humanize.Comma(int64(n)), humanize.Comma(giantCluster))
	} else {
		what.WriteString("a giant cluster ")
	}
	fmt.Fprintf(&what, "of %s, for which %s is kept, up to %d bits away", humanize.Comma(int64(len(largest.Rows))), result.Escape(c.ID(largest.Kept)), most)
	switch {
	case r.Verified():
	case most > d.k:
		what.WriteString(": near pairs may have chained unlike documents together; see --star and --verify")
	default:
		what.WriteString(": empty pages or a site's template? see --verify")
	}
	return what.String()
}
