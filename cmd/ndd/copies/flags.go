package copies

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/copies"
	"ndd/engine/copies/postings"
	"ndd/engine/copies/spotsigs"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/memory"
)

// signatureFlags say how documents are read and signatures made: of ndd copies and ndd copies
// build.
type signatureFlags struct {
	docs         cli.DocumentFlags
	method, site string
	file         *methodFile
	memory       string
}

func (f *signatureFlags) register(cmd *cobra.Command, g *cli.Globals) {
	f.docs.RegisterReading(cmd)
	g.Skipped.Register(cmd)
	g.RegisterForce(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", "auto", "auto, spotsigs, ccdet, winnow or shingles")
	f.file.register(cmd)
	fl.StringVar(&f.site, "site", "", "field with the site of a document, or its URL, whose host counts; 'id' when "+
		"the IDs are URLs")
	registerMemory(cmd, &f.memory)
}

func registerMemory(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "memory", "", "memory limit, such as 4GiB (default: what is available)")
}

// options reads --method-file and returns the options of signatures: those of an index, or zero ones, but for
// what the command line and the file give.
func (f *signatureFlags) options(g *cli.Globals, o copies.Options) (copies.Options, error) {
	if err := f.file.read(); err != nil {
		return o, err
	}
	method, err := copies.ParseMethod(f.method)
	if err != nil {
		return o, cli.Usagef("--method %q: %w", f.method, err)
	}
	s := f.file
	for of, names := range map[copies.Method][]string{
		copies.SpotSigs: {"spots", "spot-distance", "chain"},
		copies.CCDet:    {"ends"},
	} {
		if method == of || method == copies.Auto {
			continue
		}
		if i := slices.IndexFunc(names, s.set.Changed); i >= 0 {
			return o, cli.Usagef("%s: %s applies to the method %s, not to %s", s.path, names[i], of, method)
		}
	}
	o.Threads = g.Threads
	if g.Given["method"] || o.Method == "" {
		o.Method = method
	}
	for name, set := range map[string]func(){
		"spots":         func() { o.SpotSigs.Lists, err = readSpots(s.path, s.spots) },
		"spot-distance": func() { o.SpotSigs.Distance = int(s.distance) },
		"chain":         func() { o.SpotSigs.Chain = int(s.chain) },
		"ends":          func() { o.Ends = s.ends },
		"bags":          func() { o.Bags = s.bags },
		"min-features":  func() { o.MinFeatures = int(s.minFeatures) },
	} {
		if s.set.Changed(name) {
			set()
		}
	}
	return o, err
}

// readSpots returns the lists of stop words of a name, or of a file.
func readSpots(of, path string) (*spotsigs.Lists, error) {
	if lists, err := spotsigs.ByName(path); err == nil {
		return lists, nil
	}
	if path == "auto" {
		return nil, cli.Usagef("%s: spots = auto is gone: name a file with the commonest words of the language", of)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("spots: %w; the lists are paper and wide", err)
	}
	defer file.Close()
	return spotsigs.ReadLists(file, path)
}

func (f *signatureFlags) config(g *cli.Globals) (ingest.Config, error) {
	c, err := f.docs.Config(g, nil)
	if f.site != "" && f.site != "id" {
		c.Document.ValueFields = [][]string{{f.site}}
	}
	return c, err
}

// siteOf returns the number of a document's site, 0 where it has none.
func (f *signatureFlags) siteOf(doc *document.Document) uint64 {
	if f.site == "" {
		return 0
	}
	name := ""
	if len(doc.Values) > 0 {
		name = doc.Values[0].Text
	}
	if f.site == "id" {
		name = doc.ID
	}
	return copies.SiteOf(name)
}

// room divides the memory: the sets of each of up to three methods, one slice while it is joined, and pairs. The rest is for
// IDs. The garbage collector keeps the whole within the limit.
func room(g *cli.Globals, limit string, o *copies.Options) (*memory.Budget, error) {
	const setsShare, sliceShare, pairsShare = 12, 4, 4
	const pairBytes = postings.PairBytes + 48 // and the pair of two methods
	budget, err := g.Budget(limit)
	if err != nil {
		return nil, err
	}
	left := budget.Left()
	debug.SetMemoryLimit(int64(left))
	o.Room.Bytes, o.Join.MemoryBytes = max(left/setsShare, 1), max(left/sliceShare, 1)
	o.Join.MaxPairs = max(left/pairsShare/pairBytes, 1)
	o.Room.Disk = g.Disk
	return budget, nil
}

// join adds to options of signatures those of which pairs are found.
func (f *copiesFlags) join(g *cli.Globals, o *copies.Options) error {
	s := f.signatures.file
	if g.Given["threshold"] && !(f.threshold > 0 && f.threshold <= 1) {
		return cli.Usagef("--threshold %g: must be above 0 and at most 1", f.threshold)
	}
	o.Threshold = f.threshold
	o.Join = postings.Options{MaxDocuments: int(s.maxDocuments)}
	if o.OtherSites = s.sameSite == "skip"; !o.OtherSites && s.sameSite != "keep" {
		return cli.Usagef("%s: same-site %q: must be keep or skip", s.path, s.sameSite)
	}
	if o.OtherSites && f.signatures.site == "" {
		return cli.Usagef("%s: same-site needs the field that has the site: --site FIELD", s.path)
	}
	return nil
}
