package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/cmd/ndd/server/strict"
	"example.org/ndd/engine"
	"example.org/ndd/engine/index/live"
)

// A newDocument is a document to add. It needs an ID, except in an index of raw fingerprints, which only numbers its
// documents.
type newDocument struct {
	subject
	ID  *newID   `json:"id"`
	TTL lifetime `json:"ttl"` // 0: not given
}

// A newID is the id of a document to add.
type newID string

// UnmarshalText reads an ID, and refuses one that is not allowed.
func (id *newID) UnmarshalText(text []byte) error {
	*id = newID(text)
	return checkID(string(text))
}

// A lifetime is the time to live of a document.
type lifetime time.Duration

// UnmarshalText reads a time such as 90d.
func (l *lifetime) UnmarshalText(text []byte) error {
	ttl, err := cli.ParseTTL(string(text))
	*l = lifetime(ttl)
	return err
}

// An insertRequest is the body of /v1/insert: one document, or a list.
type insertRequest struct {
	newDocument
	Documents  strict.List[newDocument] `json:"documents"` // nil for one
	OnConflict conflict                 `json:"on_conflict"`
}

// dropID drops the ID of the parameter, which belongs to a document that is the whole body.
func (in *insertRequest) dropID() { in.ID = nil }

// A checkRequest is the body of /v1/check-and-insert.
type checkRequest struct {
	insertRequest
	K     *bitCount `json:"k"`
	Limit *idLimit  `json:"limit"`
}

// An item is one document of a request in the form of the engine, or the reason why it cannot be stored.
type item struct {
	doc  engine.Doc
	fail *problem
}

// An itemResult is the status of one document of a list.
type itemResult struct {
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

// result returns the status of the item. It is empty for a request of a single document.
func (i *item) result(list bool) itemResult {
	switch {
	case !list:
		return itemResult{}
	case i.fail != nil:
		return itemResult{Status: i.fail.Status, Error: i.fail.Detail}
	}
	return itemResult{Status: http.StatusOK}
}

// items returns the documents of a request. It returns a problem with a single document or with the whole list. In a
// list, each document has its own problem.
func (s documents) items(ctx context.Context, c *call, in *insertRequest) ([]item, *problem) {
	if in.Documents == nil {
		d, p := s.item(ctx, c, in, &in.newDocument, "body")
		return []item{{doc: d}}, p
	}
	if in.ID != nil || in.Fingerprint != nil || in.Text != nil || in.HTML != nil {
		return nil, fieldProblem("body.documents", "give either documents or the fields of one document, not both")
	}
	list := make([]item, len(in.Documents))
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, errorProblem(err)
		}
		list[i].doc, list[i].fail = s.item(ctx, c, in, &in.Documents[i], fmt.Sprintf("body.documents[%d]", i))
	}
	return list, nil
}

// item returns a document in the form of the engine. With on_conflict=error, the engine keeps the stored document,
// and conflictProblem reports an error.
func (s documents) item(ctx context.Context, c *call, in *insertRequest, d *newDocument, place string) (doc engine.Doc,
	p *problem) {
	switch ids := live.Unwrap(c.index).Config().IDs; {
	case ids && d.ID == nil && d.isWholeBody:
		return doc, fieldProblem("query.id", "a document that is the whole body needs an id: ?id=...")
	case ids && d.ID == nil:
		return doc, fieldProblem(place+".id", "a document needs an id")
	case !ids && d.ID != nil:
		return doc, fieldProblem(place+".id",
			"the index was built from raw fingerprints and keeps no ids: leave it out, the answer has the document's number")
	case ids:
		doc.ID = string(*d.ID)
	}
	doc.TTL, doc.OnConflict = time.Duration(cmp.Or(d.TTL, in.TTL)), engine.OnConflict(in.OnConflict)
	if in.keepsTaken(c) {
		doc.OnConflict = engine.Keep
	}
	parsed, p := s.summarize(ctx, c.index.Recipe(), &d.subject, place)
	doc.Fingerprint, doc.Sketch = parsed.fingerprint, parsed.sketch
	return doc, p
}

// keepsTaken reports whether a document whose ID is taken is an error.
func (in *insertRequest) keepsTaken(c *call) bool {
	return cmp.Or(engine.OnConflict(in.OnConflict), engine.OnConflict(live.Unwrap(c.index).Config().OnConflict)) == engine.Refuse
}

// conflictProblem returns the error of a document that was not inserted because its ID is taken. It returns nil if
// that is no error.
func (in *insertRequest) conflictProblem(c *call, d engine.Doc, o *engine.Outcome) *problem {
	if o.Inserted || len(o.Near) > 0 || !in.keepsTaken(c) {
		return nil
	}
	return newProblem(http.StatusConflict, fmt.Sprintf("%v: %q is document %d", engine.ErrConflict, d.ID, o.Doc))
}

// storable returns the documents of the items that can be stored.
func storable(list []item) []engine.Doc {
	docs := make([]engine.Doc, 0, len(list))
	for i := range list {
		if list[i].fail == nil {
			docs = append(docs, list[i].doc)
		}
	}
	return docs
}

// An answerList has an answer for each document of a list, in order.
type answerList[T any] struct {
	Results []T `json:"results"`
}

// replyFor returns the reply for one document, or for each of a list.
func replyFor[T any](in *insertRequest, list []item, results []T, done effect) (reply, *problem) {
	if in.Documents != nil {
		return reply{value: answerList[T]{results}, effect: done}, nil
	}
	return reply{value: &results[0], effect: done}, list[0].fail
}

// An insertAnswer is the result for one document of /v1/insert.
type insertAnswer struct {
	itemResult
	Inserted    bool    `json:"inserted"`
	ID          string  `json:"id,omitempty"`
	Number      *uint64 `json:"number,omitempty"`
	Fingerprint string  `json:"fingerprint,omitempty"`
	Replaced    bool    `json:"replaced,omitempty"`
	Kept        bool    `json:"kept,omitempty"`
}

// insert handles /v1/insert. It adds all valid documents in one call of the engine.
func (s documents) insert(ctx context.Context, c *call, in *insertRequest) (reply, *problem) {
	list, p := s.items(ctx, c, in)
	if p != nil {
		return reply{}, p
	}
	docs := storable(list)
	outcomes, err := c.index.Insert(ctx, docs...)
	if err != nil {
		return reply{}, errorProblem(err)
	}
	var done effect
	results := make([]insertAnswer, len(list))
	for i := range list {
		if list[i].fail != nil {
			results[i].itemResult = list[i].result(true)
			continue
		}
		o, d, number := &outcomes[0], docs[0], uint64(outcomes[0].Doc)
		list[i].fail = in.conflictProblem(c, d, o)
		results[i] = insertAnswer{list[i].result(in.Documents != nil), o.Inserted, idOf(d, o.Doc), &number,
			d.Fingerprint.String(), o.Replaced, !o.Inserted}
		s.metrics.note(&done, results[i].ID, o)
		outcomes, docs = outcomes[1:], docs[1:]
	}
	return replyFor(in, list, results, done)
}

// A checkAnswer is the result for one document of /v1/check-and-insert. An invalid document of a list has no
// neighbours.
type checkAnswer struct {
	itemResult
	Inserted bool    `json:"inserted"`
	Before   bool    `json:"before,omitempty"`
	ID       string  `json:"id,omitempty"`
	Number   *uint64 `json:"number,omitempty"`
	Replaced bool    `json:"replaced,omitempty"`
	Kept     bool    `json:"kept,omitempty"`
	*Neighbours
}

// checkAndInsert handles /v1/check-and-insert. It adds, in order, the documents that are not near a stored one.
func (s documents) checkAndInsert(ctx context.Context, c *call, in *checkRequest) (reply, *problem) {
	// Read the arguments and the documents.
	k, p := c.distance(in.K)
	if p != nil {
		return reply{}, p
	}
	list, p := s.items(ctx, c, &in.insertRequest)
	if p != nil {
		return reply{}, p
	}
	// Insert the valid documents. An error may leave the rest of a list undecided.
	single, limit := in.Documents == nil, 1
	if single {
		limit = limitDefault
	}
	limit = limitOr(in.Limit, limit)
	docs := storable(list)
	s.metrics.queried.WithLabelValues("/v1/check-and-insert").Add(float64(len(docs)))
	outcomes, err := c.index.CheckAndInsert(ctx, engine.QueryOptions{K: k, Docs: limit}, docs...)
	var done effect
	if err != nil {
		if done.unprocessed = errorProblem(err); len(outcomes) == 0 {
			return reply{}, done.unprocessed
		}
	}
	// Merge the outcomes with the reasons of invalid and undecided documents.
	results, room := make([]checkAnswer, len(list)), s.answerBytes
	for i := range list {
		switch {
		case list[i].fail != nil:
		case len(outcomes) == 0:
			list[i].fail = done.unprocessed
		default:
			d, o := docs[0], &outcomes[0]
			l := newHitList(nil, c.index.IDs(), summary{d.Fingerprint, d.Sketch}, k, limit, room)
			if single { // a list must not be refused after some documents were inserted
				l.memory = c.memory
			}
			if results[i], err = describe(l, d, o); err != nil {
				return reply{effect: done}, errorProblem(err)
			}
			room = l.room
			s.metrics.note(&done, d.ID, o)
			list[i].fail = in.conflictProblem(c, d, o)
			outcomes, docs = outcomes[1:], docs[1:]
		}
		results[i].itemResult = list[i].result(!single)
	}
	return replyFor(&in.insertRequest, list, results, done)
}

// describe returns the result for a document. It adds the neighbours to l, which is empty.
func describe(l *hitList, d engine.Doc, o *engine.Outcome) (checkAnswer, error) {
	n, err := l.Neighbours, l.add(o.Near)
	if errors.Is(err, engine.ErrNoDocument) { // a neighbour was replaced meanwhile, but the nearest one of that time is known
		nearest := o.Near[0]
		n, err = &Neighbours{Fingerprint: d.Fingerprint.String(), K: n.K, Documents: 1, Truncated: true, Hits: []hit{
			{Fingerprint: nearest.Fingerprint.String(), Distance: nearest.Distance, Documents: 1,
				IDs: []string{cmp.Or(o.ID, idOf(engine.Doc{}, nearest.Docs[0]))}}}}, nil
	}
	if err != nil {
		return checkAnswer{}, err
	}
	a := checkAnswer{Inserted: o.Inserted, Before: o.Repeated, Replaced: o.Replaced, Kept: !o.Inserted && len(o.Near) == 0,
		Neighbours: n}
	if o.Inserted || a.Kept {
		number := uint64(o.Doc)
		a.ID, a.Number = idOf(d, o.Doc), &number
	}
	return a, nil
}

// idOf returns the ID of a document, or else its number.
func idOf(d engine.Doc, number engine.DocID) string {
	return cmp.Or(d.ID, strconv.FormatUint(uint64(number), 10))
}
