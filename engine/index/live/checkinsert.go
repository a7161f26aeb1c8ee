package live

import (
	"context"
	"slices"

	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/storage/wal"
)

// checkDocs is the maximum number of documents that are decided under one lock.
const checkDocs = 1024

// A checker is the state of a call of [Index.CheckAndInsert]. Its memory is reused.
type checker struct {
	writer  *writer
	search  *search.Searcher
	ctx     context.Context
	k       int // distance
	maxDocs int // maximum number of documents of each hit

	docs        []rows.Doc    // documents that are decided together
	queries     []uint64      // their fingerprints
	verifier    rows.Verifier // has their sketches if the index keeps sketches
	near        []Outcome     // their outcomes
	firstUnseen rows.DocID    // first document that the search did not see
	added       uint64        // writer.added when the search began
	refused     uint64        // writer.refused when the search began

	pending   pendingInsert
	matches   []rows.Match // may include documents of the pending insert
	positions []uint32
}

// run is [Index.CheckAndInsert].
func (c *checker) run(ctx context.Context, docs []rows.Doc, k, maxDocs int) ([]Outcome, error) {
	c.search.SetContext(ctx)
	defer c.search.SetContext(context.Background())
	c.ctx, c.k, c.maxDocs = ctx, k, maxDocs
	var out []Outcome
	for len(out) < len(docs) {
		chunk := docs[len(out):min(len(out)+checkDocs, len(docs))]
		if err := checkRecord(chunk, &c.writer.config); err != nil {
			return out, err
		}
		ok, err := c.check(chunk)
		if out == nil {
			out = ok
		} else {
			out = append(out, ok...)
		}
		if err != nil {
			return out, err
		}
	}
	return out, ctx.Err()
}

// check decides docs and returns their outcomes. The search of the whole index takes no lock. Only documents that were
// inserted since are compared under the lock. Readers see all its inserts at once.
//
//	view --search--> near: out      ... others insert ...      lock --compare the new--> near: out
//	                 not near                                                        not near: insert
func (c *checker) check(docs []rows.Doc) ([]Outcome, error) {
	if err := c.begin(docs); err != nil {
		return nil, err
	}
	return c.conclude()
}

// begin searches the whole index for documents.
func (c *checker) begin(docs []rows.Doc) error {
	c.docs, c.queries = docs, c.queries[:0]
	sketches := c.verifier.Queries[:0]
	for i := range docs {
		c.queries = append(c.queries, uint64(docs[i].Fingerprint))
		if c.writer.config.Sketches {
			sketches = append(sketches, docs[i].Sketch)
		}
	}
	c.verifier = c.writer.config.Verifier(sketches)
	c.near = make([]Outcome, len(docs))
	clear(c.near) // touches the new memory now, not under the lock
	return c.find()
}

// find searches the whole index and sets the outcomes of documents with near-duplicates.
func (c *checker) find() error {
	c.matches = c.matches[:0] // drops documents of an earlier pending insert
	c.added, c.refused = c.writer.added.Load(), c.writer.refused.Load()
	w, err := c.search.View()
	if err != nil {
		return err
	}
	defer w.Release()
	c.firstUnseen = w.Clock
	a, err := c.search.Search(w, c.queries, c.k, c.maxDocs, search.SweepResult{}, c.verifier)
	if err != nil {
		return err
	}
	return a.Each(0, func(i int, hits []search.Hit) error { return c.refuse(i, w, hits) })
}

// refuse sets the outcome of document i, which has near-duplicates.
func (c *checker) refuse(i int, w version.View, hits []search.Hit) (err error) {
	o := &c.near[i]
	o.Near = hits
	switch docs := hits[0].Docs; {
	case len(docs) == 0 || !c.writer.config.IDs:
	case len(c.matches) > 0 && docs[0] >= c.pending.first:
		o.ID = c.pending.docs[docs[0]-c.pending.first].ID
	default:
		o.ID, err = c.search.ID(w, docs[0])
	}
	return err
}

// conclude inserts the documents without near-duplicates, unless one was inserted since the search. It waits until all
// documents of the outcomes are durable.
func (c *checker) conclude() ([]Outcome, error) {
	w := c.writer
	if !slices.ContainsFunc(c.near, func(o Outcome) bool { return o.Near == nil }) {
		if err := c.repeated(); err != nil {
			return nil, err
		}
		if err := w.sync(c.ctx, wal.Position(w.logged.Load())); err != nil {
			return nil, err
		}
		if c.refused != w.refused.Load() { // a neighbour may have been undone
			return c.check(c.docs)
		}
		return c.near, nil
	}
	// Insert the documents without near-duplicates.
	if err := w.lockToInsert(c.ctx); err != nil {
		return nil, err
	}
	n, position, failed := c.insert()
	w.mu.Unlock()
	if n == 0 {
		return nil, failed
	}
	// Wait until the inserts, or the documents that prevented them, are durable.
	w.index(c.search.Slot())
	if position == 0 { // the documents that kept all others out must be durable, too
		position = wal.Position(w.logged.Load())
	}
	if err := w.sync(c.ctx, position); err != nil {
		return nil, err
	}
	return c.near[:n], failed
}

// insert decides all documents, in several parts if [checker.decide] requires it, and publishes its inserts at once.
// With an error it returns the number of decided documents. The caller holds writer.mu.
func (c *checker) insert() (n int, position wal.Position, err error) {
	w := c.writer
	defer w.versions.Commit()
	for n < len(c.docs) {
		ok, err := c.decide(n)
		if err == nil && len(c.pending.docs) > 0 {
			if position, err = w.write(&c.pending.change); err == nil {
				w.state.apply(&c.pending.change)
			}
		}
		if err != nil {
			return n, position, err
		}
		n += ok
	}
	return n, position, nil
}

// repeated sets the outcomes of documents that are already stored, if all have near-duplicates.
func (c *checker) repeated() error {
	if !slices.ContainsFunc(c.near, mayBeSame) {
		return nil
	}
	w := c.writer
	w.acquire()
	defer w.mu.Unlock()
	if w.closed {
		return version.ErrClosed
	}
	w.prepare(&c.pending)
	view := w.versions.Latest()
	for i := range c.docs {
		if err := c.repeat(i, view); err != nil {
			return err
		}
	}
	return nil
}

// mayBeSame reports whether a document may be stored already.
func mayBeSame(o Outcome) bool { return len(o.Near) > 0 && o.Near[0].Distance == 0 }

// repeat sets the outcome of document i to that of its insert if the stored document with its ID has the same content:
// a caller that got no answer asks again. The caller holds writer.mu.
func (c *checker) repeat(i int, w version.View) error {
	d, p := &c.docs[i], &c.pending
	if !mayBeSame(c.near[i]) || d.ID == "" || !c.writer.config.IDs {
		return nil
	}
	holder, ok, err := p.holder(d.ID)
	if err != nil || !ok {
		return err
	}
	equal := false
	if holder >= p.first {
		equal = p.docs[holder-p.first].SameContent(d)
	} else if equal, err = c.search.Has(w, holder, d); err != nil {
		return err
	}
	if equal {
		c.near[i] = Outcome{Inserted: true, Repeated: true, Doc: holder}
	}
	return nil
}

// decide compares the documents from number first on with those inserted since the search, and prepares the insert of
// the others. It returns the number of decided outcomes. It stops after a document that replaces another one, because
// the replaced one may be near the next. When it continues after a stop, it searches again for documents with
// near-duplicates. The caller holds writer.mu.
func (c *checker) decide(first int) (decided int, err error) {
	w := c.writer
	undone := c.refused != w.refused.Load()
	if undone { // a neighbour may be one of the documents undone
		clear(c.near)
	}
	// Search again if some new documents are in segments now.
	v := w.versions.Current()
	if undone || c.firstUnseen < v.Memtables[0].First || c.added != w.added.Load() { // some new documents are in segments
		if err = c.find(); err != nil {
			return 0, err
		}
	}
	// Decide document by document.
	p := w.prepare(&c.pending)
	view := w.versions.Latest()
	for i := first; i < len(c.docs); i++ {
		d := c.docs[i]
		// After a replacement, the near-duplicates may have been deleted.
		if first > 0 && c.near[i].Near != nil {
			c.near[i] = Outcome{}
			a, err := c.search.Search(view, c.queries[i:i+1], c.k, c.maxDocs, search.SweepResult{}, c.verifier.From(i))
			if err == nil {
				err = a.Each(i, func(i int, hits []search.Hit) error { return c.refuse(i, view, hits) })
			}
			if err != nil {
				return 0, err
			}
		}
		// Compare the document with those inserted since the search.
		if c.near[i].Near == nil {
			if err := c.addNewer(i, view); err != nil {
				return 0, err
			}
			if c.near[i].Near == nil {
				if c.near[i], err = p.add(d); err != nil {
					return 0, err
				}
			}
		}
		// The same content may be stored already.
		if err := c.repeat(i, view); err != nil {
			return 0, err
		}
		if decided++; len(p.delete) > 0 {
			break
		}
	}
	return decided, nil
}

// addNewer adds to outcome i the documents of the pending insert, and those inserted since the search, that are near
// document i. The caller holds writer.mu.
func (c *checker) addNewer(i int, w version.View) error {
	verifier := c.verifier.From(i)
	c.matches = c.pending.near(c.matches[:0], c.positions, c.queries[i], c.k, verifier)
	if c.firstUnseen < w.Clock {
		a := memtable.Search{Moment: w.Moment, Now: w.Now, K: c.k, Verifier: verifier, Positions: c.positions}
		for _, m := range w.Version.Memtables {
			c.matches = m.Since(c.matches, &a, c.firstUnseen, c.queries[i])
		}
	}
	if len(c.matches) == 0 {
		return nil
	}
	a, err := c.search.Hits(w, c.matches, c.maxDocs, verifier)
	if err != nil {
		return err
	}
	return a.Each(0, func(_ int, hits []search.Hit) error { return c.refuse(i, w, hits) })
}
