package server

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"ndd/cmd/ndd/server/strict"
	"ndd/engine"
)

// A newDocument is a document to add. It has an id, unless the index was built from raw
// fingerprints: such an index numbers its documents and keeps no ids.
type newDocument struct {
	subject
	ID  *newID   `json:"id"`
	TTL lifetime `json:"ttl"` // 0: not given
}

// A newID is the id of a document to add.
type newID string

// UnmarshalText refuses an id that would break the lines of an answer.
func (id *newID) UnmarshalText(text []byte) error {
	*id = newID(text)
	if why := badID(string(text)); why != "" {
		return errors.New(why)
	}
	return nil
}

// A lifetime is how long a document is kept.
type lifetime time.Duration

// UnmarshalText reads a time such as 90d.
func (l *lifetime) UnmarshalText(text []byte) error {
	ttl, ok := parseTTL(string(text))
	if *l = lifetime(ttl); !ok {
		return fmt.Errorf(wantTTL, text)
	}
	return nil
}

// An insertRequest is the body of /v1/insert: one document, or a list.
type insertRequest struct {
	newDocument
	Documents strict.List[newDocument] `json:"documents"` // nil for one
}

// A checkRequest is the body of /v1/check-and-insert.
type checkRequest struct {
	insertRequest
	K     *bitCount `json:"k"`
	Limit *idLimit  `json:"limit"`
}

// readInsert reads the documents of a request into a part of its body.
func (s documents) readInsert(v *visit, body any, in *insertRequest) *problem {
	if v.isDocument() {
		if in.ID = (*newID)(v.arguments.id); in.ID == nil && v.index().Live().Config().IDs {
			return misfit("query.id", "a document that is the whole body needs an id: ?id=..., or the header %s", idHeader)
		}
		text, p := v.wholeText()
		in.Text, in.whole = &text, true
		return p
	}
	return v.decode(body)
}

// An item is one document of a request, as the engine stores it, or the reason why it cannot be
// stored.
type item struct {
	doc  engine.Doc
	fail *problem
}

// An itemResult says what happened to one document, in an answer that has one for each.
type itemResult struct {
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

// result returns an item's part of an answer.
func (i *item) result(list bool) itemResult {
	switch {
	case !list:
		return itemResult{}
	case i.fail != nil:
		return itemResult{Status: i.fail.Status, Error: i.fail.Detail}
	}
	return itemResult{Status: http.StatusOK}
}

// items returns the documents of a request: a single one, which the problem is about, or those of a
// list, each of which has a problem of its own.
func (s documents) items(v *visit, in *insertRequest) ([]item, *problem) {
	ttl := cmp.Or(time.Duration(in.TTL), v.arguments.ttl)
	if in.Documents == nil {
		d, p := s.item(v, &in.newDocument, ttl, "body")
		return []item{{doc: d}}, p
	}
	if in.ID != nil || in.Fingerprint != nil || in.Text != nil || in.HTML != nil {
		return nil, misfit("body.documents", "give either documents or the fields of one document, not both")
	}
	list := make([]item, len(in.Documents))
	for i := range list {
		if err := v.Err(); err != nil {
			return nil, broken(err)
		}
		list[i].doc, list[i].fail = s.item(v, &in.Documents[i], ttl, fmt.Sprintf("body.documents[%d]", i))
	}
	return list, nil
}

// item returns what the engine stores of a document. With on_conflict=error a document whose ID is
// taken is kept out, and conflict makes an error of that.
func (s documents) item(v *visit, d *newDocument, ttl time.Duration, place string) (doc engine.Doc, p *problem) {
	switch ids := v.index().Live().Config().IDs; {
	case ids && d.ID == nil:
		return doc, misfit(place+".id", "a document needs an id")
	case !ids && d.ID != nil:
		return doc, misfit(place+".id",
			"the index was built from raw fingerprints and keeps no ids: leave it out, the answer has the document's number")
	case ids:
		doc.ID = string(*d.ID)
	}
	doc.TTL, doc.OnConflict = cmp.Or(time.Duration(d.TTL), ttl), v.arguments.onConflict
	if s.refusesTaken(v) {
		doc.OnConflict = engine.Keep
	}
	of, p := s.sketch(v, &d.subject, place)
	doc.Fingerprint, doc.TextBytes = of.print, of.textBytes
	return doc, p
}

// refusesTaken reports whether a document whose ID is taken is an error.
func (s documents) refusesTaken(v *visit) bool {
	return cmp.Or(v.arguments.onConflict, v.index().Live().Config().OnConflict) == engine.Refuse
}

// conflict returns the error of a document that was kept out because its ID is taken, nil if that
// is none.
func (s documents) conflict(v *visit, d engine.Doc, o *engine.Outcome) *problem {
	if o.Inserted || len(o.Near) > 0 || !s.refusesTaken(v) {
		return nil
	}
	return refusal(http.StatusConflict, fmt.Sprintf("%v: %q is document %d", engine.ErrConflict, d.ID, o.Doc))
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

// answerFor returns the answer for one document, or for each of a list.
func answerFor[T any](in *insertRequest, list []item, results []T) (any, *problem) {
	switch {
	case in.Documents != nil:
		return answerList[T]{results}, nil
	case list[0].fail != nil:
		return nil, list[0].fail
	}
	return &results[0], nil
}

// An insertAnswer says what happened to a document.
type insertAnswer struct {
	itemResult
	Inserted    bool    `json:"inserted"`
	ID          string  `json:"id,omitempty"`
	Number      *uint64 `json:"number,omitempty"`
	Fingerprint string  `json:"fingerprint,omitempty"`
	Replaced    bool    `json:"replaced,omitempty"`
	Kept        bool    `json:"kept,omitempty"`
}

// insert is /v1/insert. It adds the documents that can be added, all together.
func (s documents) insert(v *visit) (any, *problem) {
	in := new(insertRequest)
	if p := s.readInsert(v, in, in); p != nil {
		return nil, p
	}
	list, p := s.items(v, in)
	if p != nil {
		return nil, p
	}
	docs := storable(list)
	outcomes, err := v.index().Insert(v, docs...)
	if err != nil {
		return nil, broken(err)
	}
	results := make([]insertAnswer, len(list))
	for i := range list {
		if list[i].fail != nil {
			results[i].itemResult = list[i].result(true)
			continue
		}
		o, d, number := &outcomes[0], docs[0], uint64(outcomes[0].Doc)
		list[i].fail = s.conflict(v, d, o)
		results[i] = insertAnswer{list[i].result(in.Documents != nil), o.Inserted, idOf(d, o.Doc), &number,
			d.Fingerprint.String(), o.Replaced, !o.Inserted}
		v.note(results[i].ID, o)
		outcomes, docs = outcomes[1:], docs[1:]
	}
	return answerFor(in, list, results)
}

// A checkAnswer says what happened to one document. A document of a list that could not be checked
// has no neighbours.
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

// checkAndInsert is /v1/check-and-insert. It adds the documents that are not near a stored one, in
// order.
func (s documents) checkAndInsert(v *visit) (any, *problem) {
	in := new(checkRequest)
	if p := s.readInsert(v, in, &in.insertRequest); p != nil {
		return nil, p
	}
	k, p := v.distance(in.K)
	if p != nil {
		return nil, p
	}
	list, p := s.items(v, &in.insertRequest)
	if p != nil {
		return nil, p
	}
	limit := limitDefault
	if in.Documents != nil {
		limit = 1
	}
	limit = v.limit(in.Limit, limit)
	docs := storable(list)
	s.metrics.asked.WithLabelValues("/v1/check-and-insert").Add(float64(len(docs)))
	outcomes, err := v.index().CheckAndInsertAll(v, docs, k, limit)
	var brokenOff *problem // the problem of the documents that were not reached
	if err != nil {
		if brokenOff = broken(err); len(outcomes) == 0 {
			return nil, brokenOff
		}
		s.notice(brokenOff.cause)
		v.noted.brokenOff = true
	}
	results, room := make([]checkAnswer, len(list)), s.limits.Answer
	for i := range list {
		switch {
		case list[i].fail != nil:
		case len(outcomes) == 0:
			list[i].fail = brokenOff
		default:
			if results[i], err = s.outcome(v, in.Documents == nil, docs[0], outcomes[0], k, limit, &room); err != nil {
				return nil, broken(err)
			}
			list[i].fail = s.conflict(v, docs[0], &outcomes[0])
			outcomes, docs = outcomes[1:], docs[1:]
		}
		results[i].itemResult = list[i].result(in.Documents != nil)
	}
	return answerFor(&in.insertRequest, list, results)
}

// outcome describes what happened to a document. That of a document alone reserves memory for its
// neighbours, and may be refused; those of a list must not be, once some were inserted. Room is the
// bytes of ids that the answer may still have.
func (s documents) outcome(v *visit, alone bool, d engine.Doc, o engine.Outcome, k, limit int,
	room *int64) (checkAnswer, error) {
	var pays *visit
	if alone {
		pays = v
	}
	l := newListing(pays, v.index().IDs(), sketch{d.Fingerprint, d.TextBytes}, k, limit, *room)
	n, err := l.Neighbours, l.add(o.Near)
	*room = l.room
	if errors.Is(err, engine.ErrNoDocument) { // a neighbour was replaced since: the nearest one at the time is known
		nearest := o.Near[0]
		n, err = &Neighbours{Fingerprint: d.Fingerprint.String(), K: k, Documents: 1, Truncated: true, Hits: []hit{
			{Fingerprint: nearest.Fingerprint.String(), Distance: nearest.Distance, Documents: 1,
				IDs: []string{cmp.Or(o.ID, idOf(engine.Doc{}, nearest.Docs[0]))}}}}, nil
	}
	if err != nil {
		return checkAnswer{}, err
	}
	a := checkAnswer{Inserted: o.Inserted, Before: o.Before, Replaced: o.Replaced, Kept: !o.Inserted && len(o.Near) == 0,
		Neighbours: n}
	v.note(d.ID, &o)
	if o.Inserted || a.Kept {
		number := uint64(o.Doc)
		a.ID, a.Number = idOf(d, o.Doc), &number
	}
	return a, nil
}

// idOf returns the id of a document that was added under a number.
func idOf(d engine.Doc, number engine.DocID) string {
	return cmp.Or(d.ID, strconv.FormatUint(uint64(number), 10))
}
