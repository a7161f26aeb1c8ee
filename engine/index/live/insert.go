package live

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"ndd/engine/corpus/simhash"
)

// A Doc is a document to insert.
type Doc struct {
	Fingerprint simhash.Fingerprint
	ID          string // left out when the index keeps no IDs
}

// An Outcome says what became of a document that was to be inserted.
type Outcome struct {
	Inserted bool
	Doc      DocID // of the document that was inserted
	Near     []Hit // what kept it out, nearest first
}

// writer is the writing side of an Index. Its lock is the outer one: the version's is taken under
// it, never the other way round. A reader takes neither.
type writer struct {
	mu     sync.Mutex    // held by the one writer at a time
	room   chan struct{} // closed when a memtable became a segment, and made anew by who waits
	closed bool
	failed error // of background work; inserts report it

	full chan struct{} // a memtable is full
	done chan struct{}
}

func (w *writer) start(x *Index) {
	w.full = make(chan struct{}, 1)
	w.done = make(chan struct{})
	go x.seal()
}

func (w *writer) stop() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.full)
	}
	w.wake()
	w.mu.Unlock()
	<-w.done
}

// wake lets those who wait for room look again. It needs w.mu.
func (w *writer) wake() {
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
}

// lock takes w.mu once the index may be written to and has room. It waits while too many memtables
// are full, as long as ctx lasts. Without an error the caller unlocks.
func (x *Index) lock(ctx context.Context) error {
	x.writer.mu.Lock()
	for {
		var err error
		switch {
		case x.failed != nil:
			err = x.failed
		case x.closed:
			err = ErrClosed
		case len(x.current.Load().memtables) <= memtablesMax:
			return nil
		}
		if err != nil {
			x.writer.mu.Unlock()
			return err
		}
		if x.room == nil {
			x.room = make(chan struct{})
		}
		room := x.room
		x.writer.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return fmt.Errorf("waiting for room to insert: %w", ctx.Err())
		}
		x.writer.mu.Lock()
	}
}

// Insert adds documents, all or none, under consecutive numbers in their order. They are found by
// every query that begins after Insert has returned. It waits for room, as long as ctx lasts.
func (x *Index) Insert(ctx context.Context, docs []Doc) ([]Outcome, error) {
	if err := x.lock(ctx); err != nil {
		return nil, err
	}
	defer x.writer.mu.Unlock()
	first := x.add(docs)
	out := make([]Outcome, len(docs))
	for i := range out {
		out[i] = Outcome{Inserted: true, Doc: first + DocID(i)}
	}
	return out, nil
}

// add appends documents to memtables, as many as it takes, and returns the first one's number. It
// needs x.mu.
func (x *Index) add(docs []Doc) (first DocID) {
	v := x.current.Load()
	last := v.memtables[len(v.memtables)-1]
	first = last.end()
	for {
		docs = docs[last.add(docs):]
		if len(docs) == 0 {
			return first
		}
		last = newMemtable(last.end(), x.config.IDs)
		x.Apply(Edit{addMemtable: last})
		select {
		case x.full <- struct{}{}:
		default: // the sealer is awake
		}
	}
}

// admitDocs are decided upon under one lock.
const admitDocs = 1024

// CheckAndInsert adds each of the documents unless something within distance k of it is there
// already, one of those before it among them. It returns an outcome for each, in order; what kept
// a document out comes with the first most of its documents. Of two near-duplicates that arrive
// together, by one call or by two, exactly one is added. It waits for room, as long as ctx lasts;
// after an error, what came before in docs may have been added.
func (x *Index) CheckAndInsert(ctx context.Context, docs []Doc, k, most int) ([]Outcome, error) {
	out := make([]Outcome, 0, len(docs))
	c := x.Searcher()
	defer c.Done()
	for chunk := range slices.Chunk(docs, admitDocs) {
		var err error
		if out, err = c.admit(ctx, out, chunk, k, most); err != nil {
			return out, err
		}
	}
	return out, nil
}

// admit decides upon some documents. What the index holds is searched without a lock; under it
// only what came in since.
//
//	view --search--> near: out      ... others insert ...      lock --scan since--> near: out
//	                 not near                                                      not near: add
func (c *Searcher) admit(ctx context.Context, out []Outcome, docs []Doc, k, most int) ([]Outcome, error) {
	first := len(out)
	queries := make([]uint64, len(docs))
	for i, d := range docs {
		queries[i] = uint64(d.Fingerprint)
	}
	out = append(out, make([]Outcome, len(docs))...)
	seen, err := c.near(out[first:], queries, k, most)
	if err != nil {
		return out[:first], err
	}
	x := c.index
	if err := x.lock(ctx); err != nil {
		return out[:first], err
	}
	defer x.writer.mu.Unlock()
	if seen < x.current.Load().memtables[0].first { // some of it is in segments meanwhile
		if seen, err = c.near(out[first:], queries, k, most); err != nil {
			return out[:first], err
		}
	}
	added := make([]Doc, 0, len(docs))
	for i := range docs {
		o := &out[first+i]
		if len(o.Near) > 0 {
			continue
		}
		if o.Near, err = c.since(seen, queries[i], k, most); err != nil {
			return out[:first], err
		}
		if len(o.Near) == 0 {
			o.Inserted, o.Doc = true, x.add(docs[i:i+1])
			added = append(added, docs[i])
		}
	}
	return out, nil
}

// near searches what the index holds now for everything within k of queries, and gives those that
// have some to their outcomes. It returns the number of the first document that it did not see.
func (c *Searcher) near(out []Outcome, queries []uint64, k, most int) (DocID, error) {
	w, err := c.index.view(c.slot)
	if err != nil {
		return 0, err
	}
	defer w.Release()
	tables := w.version.memtables
	seen := tables[len(tables)-1].end()
	a, err := c.Search(w, queries, k, most, Swept{})
	if err != nil {
		return 0, err
	}
	return seen, a.Each(0, func(i int, hits []Hit) error {
		out[i].Near = hits
		return nil
	})
}

// since returns what is within k of a query among the documents from number seen on, which are in
// memtables. It needs x.mu.
func (c *Searcher) since(seen DocID, query uint64, k, most int) ([]Hit, error) {
	v := c.index.current.Load()
	c.query[0] = query
	c.matches = c.matches[:0]
	for _, m := range v.memtables {
		c.matches = m.scan(c.matches, c.positions, seen, c.query[:], k)
	}
	if len(c.matches) == 0 {
		return nil, nil
	}
	a, err := c.hits(v, c.matches, most)
	return a.Hits, err
}
