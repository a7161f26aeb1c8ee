package server

import (
	"context"

	"example.org/ndd/cmd/ndd/server/admit"
	"example.org/ndd/engine"
	"example.org/ndd/engine/result"
)

// queries handles the requests that search the index.
type queries struct {
	*summarizer
	metrics     *metrics
	answerBytes int64 // maximum size of the ids of an answer
	threads     int   // threads of a batch
}

// A queryRequest is the body of /v1/query.
type queryRequest struct {
	subject
	K     *bitCount `json:"k"`
	Limit *idLimit  `json:"limit"`
}

// query is /v1/query.
func (s queries) query(ctx context.Context, c *call, in *queryRequest) (reply, *problem) {
	f, p := s.summarize(ctx, c.index.Recipe(), &in.subject, "body")
	if p != nil {
		return reply{}, p
	}
	k, p := c.distance(in.K)
	if p != nil {
		return reply{}, p
	}
	neighbours, p := s.neighbours(ctx, c, f, k, limitOr(in.Limit, limitDefault))
	return reply{value: neighbours}, p
}

// Neighbours are the stored fingerprints near one, nearest first. It has an exported name because
// encoding/json skips other embedded pointers.
type Neighbours struct {
	Fingerprint string `json:"fingerprint"`
	K           int    `json:"k"`
	Documents   int    `json:"documents"`
	Truncated   bool   `json:"truncated"`
	Hits        []hit  `json:"hits"`
}

// A hit is a stored fingerprint with its documents.
type hit struct {
	Fingerprint string   `json:"fingerprint"`
	Distance    int      `json:"distance"`
	Documents   int      `json:"documents"`
	IDs         []string `json:"ids"`

	// Similarities are the estimated Jaccard similarities to the documents of IDs. A value is 0 if one of the two
	// documents has no sketch. The list is missing if nothing was verified.
	Similarities []float64 `json:"similarities,omitempty"`
}

// neighbours returns the neighbours of a document in a snapshot of the index. It holds only the hits of the answer in
// memory.
func (s queries) neighbours(ctx context.Context, c *call, f summary, k, limit int) (*Neighbours, *problem) {
	s.metrics.queried.WithLabelValues("/v1/query").Inc()
	view, err := c.index.View()
	if err != nil {
		return nil, errorProblem(err)
	}
	defer view.Release()
	l := newHitList(c.memory, view.IDs(), f, k, limit, s.answerBytes)
	if err := view.QueryEach(ctx, f.fingerprint, engine.QueryOptions{K: k, Docs: limit, Sketch: f.sketch}, l.add); err != nil {
		return nil, errorProblem(err)
	}
	return l.Neighbours, nil
}

// A hitList collects the hits of an answer, with the IDs of documents up to a number and a size. It only counts the
// documents beyond that.
type hitList struct {
	*Neighbours
	ids       engine.IDs
	limit     int   // number of IDs that may still be added
	room      int64 // bytes of IDs that may still be added
	listedIDs int
	memory    *admit.Transfer // account of their memory; nil means that it is not counted
	unpaid    uint64          // bytes that are not reserved yet
}

const (
	// idWork is the memory of an ID for each of its bytes: the ID, and the answer, whose buffer grows by copying.
	idWork = 4
	// idEach is the additional memory of each ID.
	idEach = 32
	// payBytes is the amount that is reserved at a time.
	payBytes = 64 << 10
)

// pay reserves the memory of an ID, in portions of payBytes.
func (l *hitList) pay(id string) error {
	if l.unpaid += idWork*uint64(len(id)) + idEach; l.unpaid < payBytes || l.memory == nil {
		return nil
	}
	err := l.memory.Grow(l.unpaid)
	l.unpaid = 0
	return err
}

// newHitList returns an empty list. room is the maximum number of bytes of its IDs.
func newHitList(memory *admit.Transfer, ids engine.IDs, f summary, k, limit int, room int64) *hitList {
	return &hitList{Neighbours: &Neighbours{Fingerprint: f.fingerprint.String(), K: k, Hits: []hit{}}, memory: memory,
		ids: ids, limit: limit, room: room}
}

// add adds hits, or the next documents of the last one. The error wraps [engine.ErrNoDocument] if one of them was
// deleted.
func (l *hitList) add(hits []engine.Hit) error {
	// Count the documents of each hit, and list IDs while there is space.
	for i := range hits {
		h := &hits[i]
		if h.Offset == 0 {
			l.Documents += int(h.Documents)
		}
		begun := h.Offset > 0
		for j, doc := range h.Docs {
			if l.limit <= 0 || l.room <= 0 {
				break
			}
			// Begin the hit with its first listed document.
			if !begun {
				l.Hits = append(l.Hits, hit{Fingerprint: h.Fingerprint.String(), Distance: h.Distance,
					Documents: int(h.Documents), IDs: []string{}})
				begun = true
			}
			l.limit, l.listedIDs = l.limit-1, l.listedIDs+1
			if doc == engine.NoDoc {
				continue // the index stores only fingerprints
			}
			// Look up the ID, and reserve its memory.
			id, err := l.ids.ID(doc)
			if err != nil {
				return err
			}
			if err := l.pay(id); err != nil {
				return err
			}
			last := &l.Hits[len(l.Hits)-1]
			last.IDs = append(last.IDs, id)
			if h.Similarities != nil {
				last.Similarities = append(last.Similarities, result.Rounded(float64(h.Similarities[j])))
			}
			l.room -= int64(len(id))
		}
	}
	l.Truncated = l.listedIDs < l.Documents
	return nil
}
