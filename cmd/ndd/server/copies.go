package server

import (
	"context"
	"errors"
	"sync"
	"unicode/utf8"

	"ndd/engine/copies"
)

// copiesFinder handles the requests for copies.
type copiesFinder struct{ *service }

// A copiesRequest is the body of /v1/copies.
type copiesRequest struct {
	Text      *string  `json:"text"`
	HTML      *string  `json:"html"`
	Threshold *float64 `json:"threshold"` // nil: each method's own
	Limit     *idLimit `json:"limit"`
	Site      *string  `json:"site"`
	SameSite  *string  `json:"same_site"` // keep or skip: documents of the same site
}

// check refuses values that make no sense.
func (in *copiesRequest) check() *problem {
	switch {
	case in.Threshold != nil && (*in.Threshold <= 0 || *in.Threshold > 1):
		return misfit("body.threshold", "must be above 0 and at most 1")
	case in.SameSite != nil && *in.SameSite != "keep" && *in.SameSite != "skip":
		return misfit("body.same_site", "must be keep or skip")
	case in.Site != nil && utf8.RuneCountInString(*in.Site) > idMax:
		return misfit("body.site", "expected length <= %d", idMax)
	}
	return oneOf("body", "text and html", in.Text != nil, in.HTML != nil)
}

// copiesAnswer are the documents that have text in common with one.
type copiesAnswer struct {
	Compared  bool        `json:"compared"`
	Documents int         `json:"documents"`
	Truncated bool        `json:"truncated"`
	Copies    []foundCopy `json:"copies"`
}

// foundCopy is one of them.
type foundCopy struct {
	ID       string  `json:"id"`
	Relation string  `json:"relation"`
	Method   string  `json:"method"`
	Score    float64 `json:"score"`
	AInB     float64 `json:"a_in_b"`
	BInA     float64 `json:"b_in_a"`
	SizeA    int     `json:"size_a"`
	SizeB    int     `json:"size_b"`
	Shared   int     `json:"shared"`
	Flags    string  `json:"flags"`
}

// find is /v1/copies.
func (s copiesFinder) find(v *visit) (any, *problem) {
	in := new(copiesRequest)
	if v.isDocument() {
		text, p := v.wholeText()
		if p != nil {
			return nil, p
		}
		in.Text = &text
	} else if p := v.decode(in); p != nil {
		return nil, p
	}
	if p := in.check(); p != nil {
		return nil, p
	}
	var text string
	var err error
	if in.HTML != nil {
		if text, err = s.textOf(v, []byte(*in.HTML), mediaHTML); err != nil {
			return nil, broken(err)
		}
	} else {
		text = *in.Text
	}
	index := s.copies.acquire()
	if index == nil {
		return nil, broken(errors.New("the index of copies is closed"))
	}
	defer index.users.Done()
	c, err := index.searcher()
	if err != nil {
		return nil, broken(err)
	}
	defer index.searchers.Put(c)
	var threshold float64
	if in.Threshold != nil {
		threshold = *in.Threshold
	}
	if err := c.searcher.Configure(threshold, in.SameSite != nil && *in.SameSite == "skip"); err != nil {
		return nil, misfit("body.threshold", "%v", err)
	}
	sets := c.signer.Sign(text)
	if in.Site != nil {
		sets.Site = copies.SiteOf(*in.Site)
	}
	hits, total, err := c.searcher.Best(v, &sets, v.limit(in.Limit, limitDefault))
	if err != nil {
		return nil, broken(err)
	}
	return s.describe(hits, total, c.searcher.Compared(&sets)), nil
}

// describe lists hits, as far as an answer has room.
func (s copiesFinder) describe(hits []copies.Hit, total int, compared bool) *copiesAnswer {
	a := &copiesAnswer{Compared: compared, Documents: total, Copies: make([]foundCopy, 0, len(hits))}
	room := s.limits.Answer
	for i := range hits {
		h := &hits[i]
		if room -= int64(len(h.ID)); room < 0 {
			break
		}
		p := &h.Pair
		a.Copies = append(a.Copies, foundCopy{ID: h.ID, Relation: string(h.Relation), Method: string(h.Method),
			Score: h.Score,
			AInB:  p.ContainmentA(), BInA: p.ContainmentB(), SizeA: h.SizeA, SizeB: h.SizeB, Shared: h.Shared,
			Flags: h.Flags.String()})
	}
	a.Truncated = len(a.Copies) < total
	return a
}

// A copySource holds the index of copies. SIGHUP opens it again; a request keeps the index that it
// began with, which is closed when the last of its requests ends.
type copySource struct {
	open func(context.Context) (*copies.Index, error)

	changing sync.Mutex // held while the index is opened or closed

	mu      sync.Mutex
	current *copyIndex
}

// A copyIndex is an index of copies with its searchers.
type copyIndex struct {
	index     *copies.Index
	searchers sync.Pool      // of *copySearcher
	users     sync.WaitGroup // requests
}

// A copySearcher belongs to one request at a time.
type copySearcher struct {
	signer   *copies.Signer
	searcher *copies.Searcher
}

// reload opens the index, again or for the first time, and returns its number of documents. One
// that cannot be opened changes nothing.
func (c *copySource) reload(ctx context.Context) (documents uint64, err error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	x, err := c.open(ctx)
	if err != nil {
		return 0, err
	}
	next, err := newCopyIndex(x)
	if err != nil {
		return 0, errors.Join(err, x.Close())
	}
	return x.Documents(), c.replace(next)
}

// replace serves another index, or none for nil, and closes the one before when no request uses it
// any more.
func (c *copySource) replace(next *copyIndex) error {
	c.mu.Lock()
	old := c.current
	c.current = next
	c.mu.Unlock()
	if old == nil {
		return nil
	}
	old.users.Wait()
	return old.index.Close()
}

// close closes the index.
func (c *copySource) close() error {
	c.changing.Lock()
	defer c.changing.Unlock()
	return c.replace(nil)
}

// acquire returns the index for a request, which it counts among its users, or nil if there is
// none.
func (c *copySource) acquire() *copyIndex {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil {
		c.current.users.Add(1)
	}
	return c.current
}

// newCopyIndex returns an index that can be searched, as the first searcher shows.
func newCopyIndex(x *copies.Index) (*copyIndex, error) {
	c := &copyIndex{index: x}
	first, err := c.searcher()
	if err == nil {
		c.searchers.Put(first)
	}
	return c, err
}

// searcher returns one that no other request uses; it goes back to c.searchers.
func (c *copyIndex) searcher() (*copySearcher, error) {
	if s, ok := c.searchers.Get().(*copySearcher); ok {
		return s, nil
	}
	o, err := c.index.Recipe().Options()
	if err != nil {
		return nil, err
	}
	signer, err := copies.NewSigner(o)
	if err != nil {
		return nil, err
	}
	s, err := c.index.Searcher(o)
	return &copySearcher{signer, s}, err
}
