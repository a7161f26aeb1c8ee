package server

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"ndd/engine/copies"
)

// copySource holds the index to find copies in that is served now. SIGHUP has it opened again; requests that are under way go on
// with the one that they began with, which is closed when the last of them ends.
type copySource struct {
	open func(context.Context) (*copies.Index, error)

	reloading sync.Mutex // held while the index is opened

	mu      sync.Mutex
	current *copyIndex
}

// A copyIndex is an index to find copies in, with what searches it.
type copyIndex struct {
	index     *copies.Index
	searchers sync.Pool // of *copySearcher

	// Of copySource, and guarded by its mu:
	users int // one is the source itself
}

// A copySearcher belongs to one request at a time.
type copySearcher struct {
	signer   *copies.Signer
	searcher *copies.Searcher
}

// openCopies opens the index, for the first time.
func openCopies(ctx context.Context, open func(context.Context) (*copies.Index, error)) (*copySource, error) {
	c := &copySource{open: open}
	_, _, err := c.reload(ctx)
	return c, err
}

// reload opens the index again, unless it is the one that is served, and returns how many documents it has. After an error all
// is as before.
func (c *copySource) reload(ctx context.Context) (documents uint64, changed bool, err error) {
	c.reloading.Lock()
	defer c.reloading.Unlock()
	x, err := c.open(ctx)
	if err != nil {
		return 0, false, err
	}
	documents = x.Documents()
	if old := c.acquire(); old != nil {
		same := x.Same(old.index)
		if err := c.release(old); same || err != nil {
			return documents, false, errors.Join(err, x.Close())
		}
	}
	next, err := newCopyIndex(x)
	if err != nil {
		return 0, false, errors.Join(err, x.Close())
	}
	return documents, true, c.replace(next)
}

// replace puts an index, or nil, in the place of the one that is served.
func (c *copySource) replace(next *copyIndex) error {
	c.mu.Lock()
	old := c.current
	c.current = next
	c.mu.Unlock()
	return c.release(old)
}

// close closes the index when no request uses it any more.
func (c *copySource) close() error { return c.replace(nil) }

// acquire returns the index that is served, to be released; nil where there is none.
func (c *copySource) acquire() *copyIndex {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil {
		c.current.users++
	}
	return c.current
}

// release gives an index back, and closes it with its last user.
func (c *copySource) release(x *copyIndex) error {
	if x == nil {
		return nil
	}
	c.mu.Lock()
	x.users--
	last := x.users == 0
	c.mu.Unlock()
	if last {
		return x.index.Close()
	}
	return nil
}

// newCopyIndex returns an index with one user.
func newCopyIndex(x *copies.Index) (*copyIndex, error) {
	o, err := x.Recipe().Options()
	if err != nil {
		return nil, err
	}
	c := &copyIndex{index: x, users: 1}
	searcher := func() (*copySearcher, error) {
		signer, err := copies.NewSigner(o)
		if err != nil {
			return nil, err
		}
		s, err := x.Searcher(o)
		return &copySearcher{signer, s}, err
	}
	first, err := searcher()
	if err != nil {
		return nil, err
	}
	c.searchers.New = func() any {
		s, err := searcher()
		if err != nil {
			panic(fmt.Sprintf("server: a second searcher of an index: %v", err)) // of what the first was made of
		}
		return s
	}
	c.searchers.Put(first)
	return c, nil
}
