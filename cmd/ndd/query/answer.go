package query

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/result"
)

// An answerer answers the queries of a batch, one line for each hit in order, or counts the hits.
type answerer interface {
	answer(ctx context.Context, line func(result.Row) error) error
	count(ctx context.Context, t *result.Tally) error
	Name(doc uint64) (string, error)
	keepsSketches() bool
	Close() error
}

// An indexAnswerer answers by the tables of an index.
type indexAnswerer struct {
	*engine.Index
	b     *batch
	names engine.IDs
}

func (b *batch) openIndex(cmd *cobra.Command, q *ndf.File) (answerer, error) {
	x, err := b.index.open(cmd, b.g)
	if err != nil {
		return nil, err
	}
	if err := sameRecipe("the index", x.Recipe(), q); err != nil {
		x.Close()
		return nil, err
	}
	return &indexAnswerer{x, b, x.IDs()}, nil
}

// sameRecipe refuses queries that were made by another recipe. Raw fingerprints have no recipe, so they fit any.
func sameRecipe(name string, r *simhash.Recipe, q *ndf.File) error {
	if r == nil || q.Recipe() == nil {
		return nil
	}
	return simhash.Compatible(name, r, q.Path(), q.Recipe())
}

func (a *indexAnswerer) keepsSketches() bool             { return live.Unwrap(a).Config().Sketches }
func (a *indexAnswerer) Name(doc uint64) (string, error) { return a.names.ID(engine.DocID(doc)) }

func (a *indexAnswerer) answer(ctx context.Context, line func(result.Row) error) error {
	docs := engine.AllDocs
	if a.b.tally.Unique {
		docs = 1
	}
	return a.eachHit(ctx, docs, func(r result.Row, h *engine.Hit) error {
		for i, doc := range h.Docs {
			r.DocID = uint64(doc)
			if h.Similarities != nil {
				r.Similarity = h.Similarities[i]
			}
			if err := line(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// count looks up no documents: the fingerprint of an empty page may have millions, for every query.
func (a *indexAnswerer) count(ctx context.Context, t *result.Tally) error {
	return a.eachHit(ctx, 1, func(r result.Row, h *engine.Hit) error {
		t.Count(r, h.Documents)
		return nil
	})
}

// eachHit calls yield with every hit in order. The hit has its first docs documents; the row has no document.
func (a *indexAnswerer) eachHit(ctx context.Context, docs int, yield func(result.Row, *engine.Hit) error) error {
	bar := a.b.g.Progress.NewBar("answering", int64(len(a.b.queries)), cli.CountUnit)
	defer bar.End()
	o, err := a.plan(engine.BatchOptions{K: a.b.index.k, Sketches: a.b.sketches, Docs: docs, Threads: a.b.g.Threads,
		MatchBytes: a.b.memory})
	if err != nil {
		return err
	}
	return a.Index.Batch(ctx, simhash.Fingerprints(a.b.queries), o, func(query int, hits []engine.Hit) error {
		bar.Set(int64(query))
		for i := range hits {
			if err := yield(result.Row{Query: a.b.first + query, Fingerprint: hits[i].Fingerprint,
				Distance: hits[i].Distance}, &hits[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// plan fits the batch into the free memory of the machine, and logs the memory it uses.
func (a *indexAnswerer) plan(o engine.BatchOptions) (engine.BatchOptions, error) {
	o.Budget = memory.ForProgram(a.b.g.Machine.Limit(0))
	p, err := a.Index.PlanBatch(len(a.b.queries), o)
	if err != nil {
		return o, memory.Advise(err, "give a lower --memory than "+humanize.IBytes(p.Matches)+", or answer a part of the "+
			"queries with --shard i/N")
	}
	log := a.b.g.Log
	if p.Threads < a.b.g.Threads {
		log.Info("memory allows " + cli.Number(p.Threads, "thread"))
	}
	log.Debug(fmt.Sprintf("memory at most %s without the index and the queries: sorted queries %s, matches %s (fewer "+
		"queries at a time if there are more), answers %s, the program %s",
		humanize.IBytes(o.Budget.Total(p.Bytes())), humanize.IBytes(p.Orders), humanize.IBytes(p.Matches),
		humanize.IBytes(p.Answers), humanize.IBytes(memory.Program)))
	return o, nil
}
