package copies

import (
	"fmt"
	"os"

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

func newSignatureFlags() signatureFlags { return signatureFlags{file: newMethodFile()} }

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
	none := "it changes fingerprints only"
	cli.FormerFlags(cmd, map[string]string{"recipe": none, "drop": none, "prints": none})
}

func registerMemory(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "memory", "", "memory limit, such as 4GiB (default: what is available)")
}

// options reads --method-file and returns the options of signatures.
func (f *signatureFlags) options(g *cli.Globals) (o copies.Options, err error) {
	if err := f.file.read(); err != nil {
		return o, err
	}
	s := f.file
	o = copies.Options{MinFeatures: int(s.minFeatures), Ends: s.ends, Bags: s.bags, Threads: g.Threads,
		SpotSigs: spotsigs.Options{Distance: int(s.distance), Chain: int(s.chain)}}
	if o.Method, err = copies.ParseMethod(f.method); err != nil {
		return o, cli.Usagef("--method %q: %w", f.method, err)
	}
	for method, names := range map[copies.Method][]string{
		copies.SpotSigs: {"spots", "spot-distance", "chain"},
		copies.CCDet:    {"ends"},
	} {
		if o.Method == method || o.Method == copies.Auto {
			continue
		}
		if err := s.refuse(fmt.Sprintf("applies to the method %s, not to %s", method, o.Method), names...); err != nil {
			return o, err
		}
	}
	switch s.spots {
	case "auto":
		return o, cli.Usagef("%s: spots = auto is gone: name a file with the commonest words of the language", s.path)
	case spotsigs.Paper.Name(), spotsigs.Wide.Name():
		o.SpotSigs.Lists, err = spotsigs.ByName(s.spots)
	default:
		o.SpotSigs.Lists, err = readSpots(s.spots)
	}
	return o, err
}

// givesRecipe reports whether the command line or the file says something of how signatures are
// made.
func (f *signatureFlags) givesRecipe(g *cli.Globals) bool {
	given := g.Given["method"]
	for _, name := range signatureSettings {
		given = given || f.file.set.Changed(name)
	}
	return given
}

// fill sets options that neither the command line nor the file gives to those of an index.
func (f *signatureFlags) fill(g *cli.Globals, o, own *copies.Options) {
	if !g.Given["method"] {
		o.Method = own.Method
	}
	for name, set := range map[string]func(){
		"spots":         func() { o.SpotSigs.Lists = own.SpotSigs.Lists },
		"spot-distance": func() { o.SpotSigs.Distance = own.SpotSigs.Distance },
		"chain":         func() { o.SpotSigs.Chain = own.SpotSigs.Chain },
		"ends":          func() { o.Ends = own.Ends },
		"bags":          func() { o.Bags = own.Bags },
		"min-features":  func() { o.MinFeatures = own.MinFeatures },
	} {
		if !f.file.set.Changed(name) {
			set()
		}
	}
}

func readSpots(path string) (*spotsigs.Lists, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("spots: %w; the lists are paper and wide", err)
	}
	defer file.Close()
	return spotsigs.ReadLists(file, path)
}

// config returns how the documents are read.
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

// room divides the memory between the sets of the largest method and one slice while it is joined.
// The rest is for other sets, IDs and pairs.
func room(g *cli.Globals, limit string, o *copies.Options) (*memory.Budget, error) {
	const setsShare, sliceShare = 4, 3
	budget, err := g.Budget(limit)
	if err != nil {
		return nil, err
	}
	left := budget.Left()
	o.Room.Bytes, o.Join.MemoryBytes = max(left/setsShare, 1), max(left/sliceShare, 1)
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
	o.Join = postings.Options{MaxDocuments: int(s.maxDocuments), MaxEqual: int(s.maxEqual), Slices: int(s.slices)}
	if s.split == "term" {
		o.Join.Split = postings.Terms
	} else if s.split != "doc" {
		return cli.Usagef("%s: split %q: must be doc or term", s.path, s.split)
	}
	if o.OtherSites = s.sameSite == "skip"; !o.OtherSites && s.sameSite != "keep" {
		return cli.Usagef("%s: same-site %q: must be keep or skip", s.path, s.sameSite)
	}
	if o.OtherSites && f.signatures.site == "" {
		return cli.Usagef("%s: same-site needs the field that has the site: --site FIELD", s.path)
	}
	return nil
}
