package copies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/copies/ccdet"
	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/memory"
)

// A signRun reads documents and makes their signatures.
type signRun struct {
	g          *cli.Files
	flags      *signatureFlags
	options    copies.Options
	readConfig ingest.Config
	budget     *memory.Budget
}

// newSignRun returns the signing of the flags. Its options are the recipe of the signature files, if there are any.
func newSignRun(g *cli.Files, f *signatureFlags, files []*copies.File) (*signRun, error) {
	o, err := f.options(g, files)
	if err != nil {
		return nil, err
	}
	reading, err := f.docs.Config(g, nil)
	return &signRun{g: g, flags: f, options: o, readConfig: reading}, err
}

// limitMemory divides the memory: shares for the sets of up to three methods, one slice of a join, and pairs. The rest
// is for IDs. The garbage collector keeps the whole within the limit.
func (s *signRun) limitMemory() (err error) {
	const setsShare, sliceShare, pairsShare = 12, 4, 4
	const pairBytes = postings.PairBytes + 48 // two methods may find a pair
	if s.budget, err = s.g.Budget(s.flags.memory); err != nil {
		return err
	}
	available := s.budget.Free()
	debug.SetMemoryLimit(int64(available))
	o := &s.options
	o.Room.Bytes, o.Join.MemoryBytes = max(available/setsShare, 1), max(available/sliceShare, 1)
	o.Join.MaxPairs = max(available/pairsShare/pairBytes, 1)
	o.Room.Disk = s.g.Disk
	return nil
}

// documentBytes is the memory of a document without its ID. Its signatures are moved to a file if they do not fit.
const documentBytes = 32

// run signs the documents on all threads and adds them in order, after a number of known documents. The error wraps
// cli.ErrPartly if input was lost.
func (s *signRun) run(ctx context.Context, inputs []string, purpose string, known uint64,
	add func(id string, sets copies.Sets) error) error {
	type documentSets struct {
		id   string
		sets copies.Sets
	}
	bytes, documents := known*documentBytes, 0
	// Workers sign documents. Emit adds them in order, and checks the memory from time to time.
	report, err := cli.Extract(ctx, s.g, inputs, s.readConfig, ingest.Steps[documentSets]{
		Worker: func(ctx context.Context) (func(int, *format.Document) (documentSets, error), error) {
			signer, err := copies.NewSigner(ctx, s.options)
			return func(_ int, doc *format.Document) (documentSets, error) {
				return documentSets{doc.ID, signer.Sign(doc.Text)}, nil
			}, err
		},
		Emit: func(d documentSets) error {
			bytes += documentBytes + 2*(uint64(len(d.id))+16)
			if documents++; documents%1000 == 1 {
				if err := s.budget.Check(fmt.Sprintf("%s %s and more", purpose, cli.Number(documents, "document")), bytes); err != nil {
					return err
				}
			}
			return add(d.id, d.sets)
		},
	})
	if err != nil {
		return memory.Advise(err, "give it more with --memory, or take fewer documents at a time")
	}
	return s.g.Report(report)
}

// failed reports whether an error is more than lost input.
func failed(err error) bool { return err != nil && !errors.Is(err, cli.ErrPartly) }

// warnNone warns of documents that are not compared.
func (s *signRun) warnNone(documents int) {
	text := " had too few signatures to be compared"
	if o := &s.options; o.Method == copies.CCDet {
		ends := cmp.Or(o.Ends, ccdet.PaperEnds)
		text = fmt.Sprintf(" had fewer than %d different sentences that end with %s, too few to be compared",
			o.MinFeaturesOf(o.Method), strings.Join(strings.Split(ends, ""), " or "))
	}
	cli.LogCount(s.g.Log.Warn, documents, "document", text)
}
