package copies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/cmd/ndd/index"
	"ndd/engine"
	"ndd/engine/copies"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/index/live/rows"
	"ndd/engine/memory"
	"ndd/engine/result"
)

func newCopiesBuild(g *cli.Globals) *cobra.Command {
	f := signatureFlags{file: newMethodFile()}
	var out, add string
	var onConflict rows.OnConflict
	cmd := &cobra.Command{
		Use:   "build -o INDEX | --add INDEX INPUT...",
		Short: "Build an index of documents to find copies of",
		Long: `Build an index, a folder, of the signatures of documents: 'ndd copies --against
INDEX' finds the documents in it that others are copies of. It appears when it is
complete. Documents with too few signatures are in it, and are in no pair.

--add adds documents to an index that exists, all or none of them, by the recipe
of the index. A document whose ID is taken replaces the one that has it, unless
--on-conflict says otherwise. 'ndd copies merge' makes the index as small and fast as
one that was built at once. A server sees what was added after SIGHUP.`,
		Example: `  ndd copies build -o library library.jsonl.zst
  ndd copies build --add library more.jsonl.zst
  ndd copies --against library new.jsonl`,
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (out == "") == (add == "") {
				return cli.Usagef("give -o INDEX for a new index, or --add INDEX for one that exists")
			}
			if out == document.Stdin {
				return cli.Usagef("-o -: an index is a folder, and cannot be written to standard output")
			}
			return buildCopies(cmd.Context(), g, args, out, add, onConflict, &f)
		},
	}
	f.register(cmd, g)
	cmd.Flags().StringVarP(&out, "output", "o", "", "folder to create for the index; must not exist")
	cmd.Flags().StringVar(&add, "add", "", "index to add the documents to, instead of -o")
	index.RegisterConflict(cmd, &onConflict)
	return cmd
}

func buildCopies(ctx context.Context, g *cli.Globals, inputs []string, out, add string,
	onConflict rows.OnConflict, f *signatureFlags) error {
	o, config, err := f.optionsOf(g, add)
	if err != nil {
		return err
	}
	o.OnConflict = onConflict
	budget, err := room(g, f.memory, &o)
	if err != nil {
		return err
	}
	var w *copies.IndexWriter
	if add != "" {
		w, err = copies.AppendIndex(ctx, add, o)
	} else {
		w, err = copies.CreateIndex(out, o, g.Force)
	}
	if err != nil {
		return err
	}
	defer w.Abort()
	partly := signAll(ctx, g, inputs, config, o, f, func(s *signed) error { return w.Add(s.id, s.sets) },
		checkMemory(budget, "indexing", w.NeedBytes))
	if partly != nil && !errors.Is(partly, cli.ErrPartly) {
		return partly
	}
	bar := g.Progress.NewBar("building", 0, cli.CountUnit)
	report, err := w.Commit(ctx)
	bar.End()
	if err != nil {
		return err
	}
	g.Log.Info(fmt.Sprintf("%s: %s added", out+add, cli.Number(report.Documents, "document")))
	sayTaken(g, &report, onConflict)
	sayLeftOut(g, &report)
	return partly
}

// sayTaken says which documents had an ID that was taken, and what became of them.
func sayTaken(g *cli.Globals, r *copies.Report, conflict rows.OnConflict) {
	if r.Taken == 0 {
		return
	}
	became := " replaced by a new one with the same ID: "
	if conflict == engine.Keep {
		became = " left out, as their IDs are taken: "
	}
	names := strings.Join(r.TakenIDs, ", ")
	if r.Taken > len(r.TakenIDs) {
		names += ", ..."
	}
	g.Log.Warn(cli.Number(r.Taken, "document") + became + result.Escape(names))
}

// optionsOf returns the options by which the documents that are compared with an index, or
// added to it, are signed: the index's own, from which the flags must not differ. Where index is empty
// they are those of the flags.
func (f *signatureFlags) optionsOf(g *cli.Globals, index string) (o copies.Options, c ingest.Config, err error) {
	if c, err = f.config(g); err != nil {
		return o, c, err
	}
	var m *copies.Manifest
	if index != "" {
		if m, err = copies.ReadManifest(index); err != nil {
			return o, c, err
		}
		if o, err = m.Recipe.Options(); err != nil {
			return o, c, fmt.Errorf("%s: %w", index, err)
		}
	}
	if o, err = f.options(g, o); err != nil {
		return o, c, err
	}
	if _, err := copies.NewSigner(o); err != nil {
		return o, c, cli.Usagef("%w", err)
	}
	if m != nil {
		err = o.Recipe().Compatible("the flags", m.Recipe, index)
	}
	return o, c, err
}

// checkMemory returns a function that checks, from time to time, that documents fit.
func checkMemory(b *memory.Budget, doing string, need func() uint64) func(documents int, idBytes uint64) error {
	return func(documents int, idBytes uint64) error {
		if documents%1000 > 0 {
			return nil
		}
		return b.Check(fmt.Sprintf("%s %s and more", doing, cli.Number(documents, "document")), need()+idBytes)
	}
}

// findIn compares documents with those of an index and writes the pairs, in order of the documents.
func findIn(ctx context.Context, g *cli.Globals, inputs []string, f *copiesFlags) error {
	o, config, err := f.options(g)
	if err != nil {
		return err
	}
	budget, err := room(g, f.signatures.memory, &o)
	if err != nil {
		return err
	}
	x, err := copies.OpenIndex(ctx, f.against, max(g.Threads, 1))
	if err != nil {
		return err
	}
	defer x.Close()
	if err := budget.Check("searching "+f.against, x.NeedBytes()*uint64(max(g.Threads, 1)+1)); err != nil {
		return memory.Advise(err, "give it more with --memory, or search with fewer --threads")
	}
	var partly error
	s := copySearch{g: g, index: x, o: o, flags: f}
	err = g.WriteTable(f.out, f.format.Format, copies.Columns, func(t *result.TableWriter) (err error) {
		if partly, err = s.run(ctx, inputs, config, t); errors.Is(err, cli.ErrPartly) {
			partly, err = err, nil
		}
		return err
	})
	if err != nil {
		return err
	}
	s.say()
	return partly
}

// A copySearch is documents that are compared with an index.
type copySearch struct {
	g     *cli.Globals
	index *copies.Index
	o     copies.Options
	flags *copiesFlags

	report        copies.Report
	sites, itself int
}

// hits are what one document is a copy of.
type hits struct {
	id     string
	hits   []copies.Hit
	itself int           // documents of its ID that were found and left out
	report copies.Report // None, SameSite and Frequent
	site   bool          // it has a site
}

func (s *copySearch) run(ctx context.Context, inputs []string, c ingest.Config, t *result.TableWriter) (partly,
	err error) {
	report, err := cli.Extract(ctx, s.g, inputs, c, ingest.Steps[hits]{
		Worker: func() (func(int, *document.Document) (hits, error), error) { return s.worker(ctx) },
		Emit: func(h hits) error {
			r := &s.report
			r.Documents++
			r.None += h.report.None
			r.SameSite += h.report.SameSite
			r.Frequent += h.report.Frequent
			r.Pairs += len(h.hits)
			s.itself += h.itself
			if h.site {
				s.sites++
			}
			for i := range h.hits {
				if err := h.hits[i].Write(t, h.id, h.hits[i].ID); err != nil {
					return err
				}
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return s.g.Ingested(report), nil
}

func (s *copySearch) worker(ctx context.Context) (func(int, *document.Document) (hits, error), error) {
	signer, err := copies.NewSigner(s.o)
	if err != nil {
		return nil, err
	}
	searcher, err := s.index.Searcher(s.o)
	if err != nil {
		return nil, err
	}
	return func(_ int, doc *document.Document) (h hits, err error) {
		sets := signer.Sign(doc.Text)
		sets.Site = s.flags.signatures.siteOf(doc)
		sameSite, frequent := searcher.SameSite, searcher.Frequent
		h.id, h.site = doc.ID, sets.Site != 0
		if !searcher.Compared(&sets) {
			h.report.None = 1
		}
		h.hits, err = searcher.Search(ctx, &sets)
		h.report.SameSite, h.report.Frequent = searcher.SameSite-sameSite, searcher.Frequent-frequent
		found := len(h.hits)
		h.hits = slices.DeleteFunc(h.hits, func(x copies.Hit) bool { return x.ID == doc.ID })
		h.itself = found - len(h.hits)
		return h, err
	}, nil
}

func (s *copySearch) say() {
	s.g.Log.Info(fmt.Sprintf("%s of %s with %s in %s", cli.Number(s.report.Pairs, "pair"),
		cli.Number(s.report.Documents, "document"), cli.Number(s.index.Documents(), "document"), s.flags.against))
	saySites(s.g, &s.flags.signatures, s.report.Documents, s.sites)
	cli.SaySome(s.g.Log.Info, s.itself, "pair", " of a document with itself, by its ID, left out")
	sayCopies(s.g, &s.report)
}
