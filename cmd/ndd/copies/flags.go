package copies

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/copies"
	"ndd/engine/copies/postings"
	"ndd/engine/copies/spotsigs"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/memory"
)

// signatureFlags say how documents are read and signatures made: of ndd copies and ndd copies build.
type signatureFlags struct {
	docs                         cli.DocumentFlags
	method, spots, ends, site    string
	minFeatures, distance, chain int
	bags                         bool
	memory                       string
}

// recipeFlags are the flags that say how signatures are made: an index has its own.
var recipeFlags = []string{"method", "spots", "spot-distance", "chain", "ends", "bags", "min-features"}

func (f *signatureFlags) register(cmd *cobra.Command, g *cli.Globals) {
	f.docs.Register(cmd, "document-format")
	g.Skipped.Register(cmd)
	g.RegisterForce(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", "auto", "auto, spotsigs, ccdet, winnow or shingles")
	fl.IntVar(&f.minFeatures, "min-features", 0, "least number of signatures of a document that is compared by its method (default: spotsigs 8, ccdet 1, winnow 3, shingles 4)")
	fl.StringVar(&f.spots, "spots", "wide", "spotsigs: the stop words, called spots: paper, wide, auto (the commonest words of the input, for any language) or a file of words")
	fl.IntVar(&f.distance, "spot-distance", 1, "spotsigs: distance between the content words of a signature, 1 to 16")
	fl.IntVar(&f.chain, "chain", 0, "spotsigs: number of content words in a signature, 1 to 16 (default: 2; with --spots paper 3)")
	fl.StringVar(&f.ends, "ends", "", "ccdet: characters that end a sentence (default 。！？；)")
	fl.BoolVar(&f.bags, "bags", false, "count a signature as often as it occurs, instead of once")
	fl.StringVar(&f.site, "site", "", "field with the site of a document, or its URL, whose host counts; 'id' when the IDs are URLs")
	f.registerMemory(cmd)
}

func (f *signatureFlags) registerMemory(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.memory, "memory", "", "memory limit, such as 4GiB (default: what is available)")
}

// options checks the flags.
func (f *signatureFlags) options(g *cli.Globals) (o copies.Options, err error) {
	o = copies.Options{MinFeatures: f.minFeatures, Ends: f.ends, Bags: f.bags, Threads: g.Threads,
		SpotSigs: spotsigs.Options{Distance: f.distance, Chain: f.chain}}
	if o.Method, err = copies.ParseMethod(f.method); err != nil {
		return o, cli.Usagef("--method %q: %w", f.method, err)
	}
	if err := f.refuseOthers(g, o.Method); err != nil {
		return o, err
	}
	if g.Given["min-features"] && f.minFeatures < 1 {
		return o, cli.Usagef("--min-features %d: must be at least 1", f.minFeatures)
	}
	if g.Given["ends"] && f.ends == "" {
		return o, cli.Usagef("--ends needs at least one character")
	}
	for _, flag := range []struct {
		name  string
		value int
	}{{"spot-distance", f.distance}, {"chain", f.chain}} {
		if g.Given[flag.name] && (flag.value < 1 || flag.value > spotsigs.Longest) {
			return o, cli.Usagef("--%s %d: must be 1 to %d", flag.name, flag.value, spotsigs.Longest)
		}
	}
	switch f.spots {
	case "auto": // learned from the inputs, later
	case spotsigs.Paper.Name(), spotsigs.Wide.Name():
		o.SpotSigs.Lists, err = spotsigs.ByName(f.spots)
	default:
		o.SpotSigs.Lists, err = readSpots(f.spots)
	}
	return o, err
}

// refuseOthers returns an error if a flag is about another method than the one that was asked for.
func (f *signatureFlags) refuseOthers(g *cli.Globals, m copies.Method) error {
	for method, names := range map[copies.Method][]string{
		copies.SpotSigs: {"spots", "spot-distance", "chain", "idf"},
		copies.CCDet:    {"ends", "site-features"},
	} {
		if m == method || m == copies.Auto {
			continue
		}
		if err := g.Refuse(fmt.Sprintf("applies to the method %s, not to %s", method, m), names...); err != nil {
			return err
		}
	}
	return nil
}

// fill puts what no flag says of an index's own options into others.
func (f *signatureFlags) fill(g *cli.Globals, o, own *copies.Options) {
	given := func(name string) bool { return g.Given[name] }
	if !given("method") {
		o.Method = own.Method
	}
	if !given("spots") {
		o.SpotSigs.Lists = own.SpotSigs.Lists
	}
	if !given("spot-distance") {
		o.SpotSigs.Distance = own.SpotSigs.Distance
	}
	if !given("chain") {
		o.SpotSigs.Chain = own.SpotSigs.Chain
	}
	if !given("ends") {
		o.Ends = own.Ends
	}
	if !given("bags") {
		o.Bags = own.Bags
	}
	if !given("min-features") {
		o.MinFeatures = own.MinFeatures
	}
}

func readSpots(path string) (*spotsigs.Lists, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--spots: %w; the lists are paper, wide and auto", err)
	}
	defer file.Close()
	return spotsigs.ReadLists(file, path)
}

// config returns how the documents are read.
func (f *signatureFlags) config(g *cli.Globals) (ingest.Config, error) {
	c, err := f.docs.Config(g, nil)
	if f.site != "" && f.site != "id" {
		c.Document.ValueFields = []string{f.site}
	}
	return c, err
}

// learn learns the stop words from the inputs, if that is asked for.
func (f *signatureFlags) learn(ctx context.Context, g *cli.Globals, inputs []string, c ingest.Config, o *copies.Options) (err error) {
	if f.spots == "auto" {
		o.SpotSigs.Lists, err = learnSpots(ctx, g, inputs, c)
	}
	return err
}

// siteOf returns the number of a document's site, 0 where it has none.
func (f *signatureFlags) siteOf(doc *document.Document) uint64 {
	if f.site == "" {
		return 0
	}
	name := doc.Value.Text
	if f.site == "id" {
		name = doc.ID
	}
	return copies.SiteOf(name)
}

// room divides the memory: for the sets of the method that has most of them, and one slice while it is joined. The rest is
// for other sets, ids and pairs.
func (f *signatureFlags) room(g *cli.Globals, o *copies.Options) (*memory.Budget, error) {
	const setsShare, sliceShare = 4, 3
	bytes, err := cli.ParseMemory(f.memory)
	if err != nil {
		return nil, err
	}
	budget := memory.ForProgram(g.Machine.Limit(0))
	if bytes > 0 {
		budget = memory.ForProgram(memory.Set(bytes))
	}
	left := budget.Left()
	o.Room.Bytes, o.Join.MemoryBytes = max(left/setsShare, 1), max(left/sliceShare, 1)
	o.Room.Disk = g.Disk
	return budget, nil
}

// joinFlags say which pairs are found: of ndd copies.
type joinFlags struct {
	threshold              float64
	maxDocuments, maxEqual int
	split                  string
	slices                 int
	sameSite, idf          string
	siteFeatures           int
}

func (f *joinFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Float64Var(&f.threshold, "threshold", 0, "lowest score of a reported pair, above 0 and at most 1 (default: each method's own)")
	fl.IntVar(&f.maxDocuments, "max-df", postings.MaxDocuments, "ignore signatures that more documents have when looking for candidates; the number of documents concerned is reported")
	fl.IntVar(&f.maxEqual, "max-equal", postings.MaxEqual, "if more documents have equal signatures, pair each with the first of them only")
	fl.StringVar(&f.sameSite, "same-site", "keep", "pairs of documents of one --site: keep or skip")
	fl.IntVar(&f.siteFeatures, "site-features", 0, "ccdet: ignore features that more than so many documents of one --site share (0: none)")
	fl.StringVar(&f.idf, "idf", "", "spotsigs: use only signatures whose normalised inverse document frequency is in this range, such as 0.2,0.9")
	fl.StringVar(&f.split, "split", "doc", "divide the work by documents (doc) or by signatures (term); the result is the same")
	fl.IntVar(&f.slices, "slices", 0, "number of parts to divide it in (default: as many as --memory needs)")
}

// complete checks the flags and puts them into the options.
func (f *joinFlags) complete(g *cli.Globals, o *copies.Options, site string) (err error) {
	if g.Given["threshold"] && !(f.threshold > 0 && f.threshold <= 1) {
		return cli.Usagef("--threshold %g: must be above 0 and at most 1", f.threshold)
	}
	if f.maxEqual < 1 {
		return cli.Usagef("--max-equal %d: must be at least 1", f.maxEqual)
	}
	if f.maxDocuments < 1 {
		return cli.Usagef("--max-df %d: must be at least 1", f.maxDocuments)
	}
	if f.slices < 0 {
		return cli.Usagef("--slices %d: must not be negative", f.slices)
	}
	if f.siteFeatures < 0 {
		return cli.Usagef("--site-features %d: must not be negative", f.siteFeatures)
	}
	o.Threshold, o.SiteFeatures = f.threshold, f.siteFeatures
	o.Join = postings.Options{MaxDocuments: f.maxDocuments, MaxEqual: f.maxEqual, Slices: f.slices}
	switch f.split {
	case "doc":
	case "term":
		o.Join.Split = postings.Terms
	default:
		return cli.Usagef("--split %q: must be doc or term", f.split)
	}
	switch f.sameSite {
	case "keep":
	case "skip":
		o.OtherSites = true
	default:
		return cli.Usagef("--same-site %q: must be keep or skip", f.sameSite)
	}
	if (o.OtherSites || o.SiteFeatures > 0) && site == "" {
		return cli.Usagef("--same-site skip and --site-features need the field that has the site: --site FIELD")
	}
	o.IDF, err = parseIDF(f.idf)
	return err
}

// parseIDF reads two numbers with a comma between them.
func parseIDF(text string) (r copies.IDFRange, err error) {
	if text == "" {
		return r, nil
	}
	least, most, _ := strings.Cut(text, ",")
	if r.Least, err = strconv.ParseFloat(least, 64); err == nil {
		r.Most, err = strconv.ParseFloat(most, 64)
	}
	if err != nil {
		return r, cli.Usagef("--idf %q: must be two numbers such as 0.2,0.9", text)
	}
	return r, nil
}
