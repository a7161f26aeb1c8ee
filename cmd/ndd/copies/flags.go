package copies

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/copies"
	"ndd/engine/copies/postings"
	"ndd/engine/corpus/ingest"
	"ndd/engine/memory"
)

// signatureFlags say how documents are read and signatures made: of ndd copies and ndd copies
// build.
type signatureFlags struct {
	docs   cli.DocumentFlags
	method string
	site   cli.SiteField
	file   *cli.MethodFile
	memory string
}

func (f *signatureFlags) register(cmd *cobra.Command, g *cli.Files) {
	f.docs.RegisterReading(cmd)
	g.Skipped.Register(cmd)
	g.RegisterForce(cmd)
	cmd.Flags().StringVar(&f.method, "method", "auto", "auto, spotsigs, ccdet, winnow or shingles")
	f.file.Register(cmd)
	f.site.Register(cmd)
	registerMemory(cmd, &f.memory)
}

func registerMemory(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "memory", "", "memory limit, such as 4GiB (default: what is available)")
}

// options reads --method-file and returns the options of signatures: those of an index, or zero ones, but for
// what the command line and the file give.
func (f *signatureFlags) options(g *cli.Files, o copies.Options) (copies.Options, error) {
	method, err := copies.ParseMethod(f.method)
	if err != nil {
		return o, cli.Usagef("--method %q: %w", f.method, err)
	}
	o.Threads = g.Threads
	if g.Given["method"] || o.Method == "" {
		o.Method = method
	}
	return f.file.Signatures(method, o)
}

func (f *signatureFlags) config(g *cli.Files) (ingest.Config, error) {
	c, err := f.docs.Config(g, nil)
	f.site.Read(&c.Document)
	return c, err
}

// room divides the memory: the sets of each of up to three methods, one slice while it is joined, and pairs. The rest is for
// IDs. The garbage collector keeps the whole within the limit.
func room(g *cli.Files, limit string, o *copies.Options) (*memory.Budget, error) {
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

// join adds to options of signatures those of a join.
func (f *copiesFlags) join(g *cli.Files, o *copies.Options) error {
	if g.Given["threshold"] && !(f.threshold > 0 && f.threshold <= 1) {
		return cli.Usagef("--threshold %g: must be above 0 and at most 1", f.threshold)
	}
	o.Threshold = f.threshold
	return f.signatures.file.Join(o, f.signatures.site != "")
}
