package live

import (
	"context"
	"slices"

	"ndd/engine/storage/wal"
)

// admitDocs are decided upon under one lock.
const admitDocs = 1024

// CheckAndInsert adds each of the documents unless something within distance k of it is there
// already, one of those before it among them. It returns an outcome for each, in order, with what
// was there when it was searched for, each hit with the first most of its documents. Of two near-duplicates that arrive
// together, by one call or by two, exactly one is added; who is told so is told of a document that
// is as durable as his own would be. It waits as [Index.Insert] does. After an error the outcomes
// of the first documents come with it, of those that were decided upon and are as durable as that.
func (x *Index) CheckAndInsert(ctx context.Context, docs []Doc, k, most int) ([]Outcome, error) {
	c := x.Searcher()
	defer c.Done()
	c.Until(ctx)
	var out []Outcome
	for len(out) < len(docs) {
		chunk := docs[len(out):min(len(out)+admitDocs, len(docs))]
		if err := x.insertable(chunk); err != nil {
			return out, err
		}
		more, err := c.admit(ctx, chunk, k, most)
		if out == nil {
			out = more
		} else {
			out = append(out, more...)
		}
		if err != nil {
			return out, err
		}
	}
	return out, ctx.Err()
}

// admit decides upon some documents, the first of docs and as many more as it can: it ends behind one
// that takes the place of another, since what is deleted may have been near those that follow. What the index holds is searched without a lock; under it
// only what came in since.
//
//	view --search--> near: out      ... others insert ...      lock --scan since--> near: out
//	                 not near                                                      not near: add
func (c *Searcher) admit(ctx context.Context, docs []Doc, k, most int) ([]Outcome, error) {
	queries := c.queries[:0]
	for _, d := range docs {
		queries = c.index.config.prints(queries, d)
	}
	c.queries = queries
	c.lengthsOf(docs)
	near := make([]Outcome, len(docs))
	clear(near) // it is new memory, which is there when it is written to: now, and not under the lock
	seen, err := c.near(near, queries, k, most)
	if err != nil {
		return nil, err
	}
	return c.conclude(ctx, docs, near, seen, k, most)
}

// conclude inserts the documents that a search found nothing near, unless something near came in
// since, and waits until what is told of is durable.
func (c *Searcher) conclude(ctx context.Context, docs []Doc, near []Outcome, seen DocID, k, most int) ([]Outcome, error) {
	x := c.index
	if slices.IndexFunc(near, func(o Outcome) bool { return o.Near == nil }) < 0 {
		if err := x.sync(ctx, wal.Position(x.logged.Load())); err != nil {
			return nil, err
		}
		if c.refused != x.refused.Load() { // what was near may be no more
			return c.admit(ctx, docs, k, most)
		}
		return near, nil
	}
	if err := x.lockToInsert(ctx); err != nil {
		return nil, err
	}
	p, n, err := c.decide(docs, near, seen, k, most)
	var at wal.Position
	if err == nil {
		at, err = x.commit(&p.change)
	}
	x.writer.mu.Unlock()
	if err != nil {
		return nil, err
	}
	x.index(c.slot)
	if at == 0 { // what kept all of them out must be durable, too
		at = wal.Position(x.logged.Load())
	}
	if err := x.sync(ctx, at); err != nil {
		return nil, err
	}
	return near[:n], nil
}

// decide looks at what came in since the search, and prepares the insert of what is admitted. It
// returns that, and of how many documents near has the outcomes then. It needs x.mu.
func (c *Searcher) decide(docs []Doc, near []Outcome, seen DocID, k, most int) (_ *pending, decided int, err error) {
	x := c.index
	v := x.current.Load()
	if c.refused != x.refused.Load() { // what was near may be no more
		clear(near)
	}
	if seen < v.memtables[0].first || c.added != x.added.Load() || c.refused != x.refused.Load() { // some of what came in is in segments
		if seen, err = c.near(near, c.queries, k, most); err != nil {
			return nil, 0, err
		}
	}
	p := x.prepare(&c.pending)
	w := View{index: x, version: v, clock: v.end(), now: x.wall.now()}
	for i, d := range docs {
		if near[i].Near == nil {
			if err := c.since(&near[i], w, p, seen, i, k, most); err != nil {
				return nil, 0, err
			}
			if near[i].Near == nil {
				if near[i], err = p.add(d); err != nil {
					return nil, 0, err
				}
			}
		}
		if decided++; len(p.delete) > 0 {
			break
		}
	}
	return p, decided, nil
}

// lengthsOf has those of some documents' texts compared where the index does that.
func (c *Searcher) lengthsOf(docs []Doc) {
	c.lengths = Lengths{Ratio: c.index.config.MaxLengthRatio}
	if c.lengths.Ratio == 0 {
		return
	}
	c.textBytes = c.textBytes[:0]
	for _, d := range docs {
		for range c.index.config.each() {
			c.textBytes = append(c.textBytes, d.TextBytes)
		}
	}
	c.lengths.Of = c.textBytes
}

// near searches what the index holds now for everything within k of queries, and gives those that
// have some to near, with the ID of the nearest. It returns the number of the first document that it did not see.
func (c *Searcher) near(near []Outcome, queries []uint64, k, most int) (DocID, error) {
	c.added, c.refused = c.index.added.Load(), c.index.refused.Load()
	w, err := c.index.view(c.slot)
	if err != nil {
		return 0, err
	}
	defer w.Release()
	a, err := c.Search(w, queries, k, c.rowsOf(most), Swept{}, c.lengths)
	if err != nil {
		return 0, err
	}
	if len(a.Hits) > 0 {
		err = c.give(near, w, a, most)
	}
	return w.clock, err
}

// give gives those that have hits to near, with the ID of the nearest.
func (c *Searcher) give(near []Outcome, w View, a Answers, most int) error {
	return c.eachDocument(&a, most, func(i int, hits []Hit) (err error) {
		near[i].Near = hits
		if len(hits[0].Docs) > 0 && c.index.config.IDs {
			near[i].ID, err = c.ID(w, hits[0].Docs[0]*DocID(c.index.config.each()))
		}
		return err
	})
}

// rowsOf returns how many rows of a hit are looked up for so many documents: all where those of one fingerprint are not those
// of a document.
func (c *Searcher) rowsOf(most int) int {
	if c.index.config.each() > 1 {
		return AllDocs
	}
	return most
}

// eachDocument calls yield with the number of each document that was searched for and has hits, and with those of all of its
// fingerprints, of which a holds the answers by fingerprint.
func (c *Searcher) eachDocument(a *Answers, most int, yield func(i int, hits []Hit) error) error {
	if c.index.config.each() == 1 {
		return a.Each(0, yield)
	}
	j := Joined{Most: most, Emit: yield}
	if err := a.Each(0, j.Add); err != nil {
		return err
	}
	return j.End()
}

// since gives the outcome of document i what is within k of it among the rows from number seen on,
// which are in memtables, and among those of the pending insert. It needs x.mu.
func (c *Searcher) since(o *Outcome, w View, p *pending, seen DocID, i, k, most int) error {
	each := c.index.config.each()
	queries, lengths := c.queries[each*i:each*(i+1)], c.lengths.From(each*i)
	c.matches = p.near(c.matches[:0], c.positions, queries, k, lengths)
	if seen < w.clock {
		a := memSearch{view: w, k: k, lengths: lengths, positions: c.positions}
		for _, m := range w.version.memtables {
			c.matches = m.since(c.matches, &a, seen, queries)
		}
	}
	if len(c.matches) == 0 {
		return nil
	}
	a, err := c.hits(w, c.rowsOf(most))
	if err != nil {
		return err
	}
	return c.eachDocument(&a, most, func(_ int, hits []Hit) (err error) {
		o.Near = hits
		if docs := hits[0].Docs; len(docs) > 0 {
			if row := docs[0] * DocID(each); row >= p.first {
				o.ID = p.docs[row-p.first].ID
			} else {
				o.ID, err = c.ID(w, row)
			}
		}
		return err
	})
}
