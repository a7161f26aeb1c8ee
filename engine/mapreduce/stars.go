package mapreduce

import (
	"bytes"
	"context"

	"ndd/engine/corpus/simhash"
)

// A Round is a kind of round of the job cluster.
type Round string

// The rounds, in the order in which they alternate.
const (
	LargeStar Round = "large-star"
	SmallStar Round = "small-star"
)

// A Stars is a round of the job cluster: connected components by alternating star operations (R.
// Kiveris, S. Lattanzi, V. Mirrokni, V. Rastogi, S. Vassilvitskii, "Connected Components in
// MapReduce and Beyond", SoCC 2014). Nodes are fingerprints.
//
//	in      fingerprint	another, anything after it: results of the job pairs, or of the round before
//	shuffle a node (11 digits), a neighbour (11)
//	out     fingerprint	the smaller one that it is joined to now
//
// Large-star joins the larger neighbours of a node to the smallest of its neighbours and itself;
// small-star joins its smaller neighbours and itself to the smallest of them. Neither changes which
// nodes are connected. When two rounds, one of each kind, have changed no edge, every edge leads to
// the smallest fingerprint of its component. The end records hold the number of changed edges.
// There are at most O(log^2 n) rounds, and four to eight for near-duplicates, whose components are
// small.
//
// Neighbours come sorted, so a reduce holds one of them at a time.
type Stars struct{ Round Round }

func (j Stars) mapPart(ctx context.Context, t *task) error {
	return t.records(ctx, func(r record) error {
		to, _, _ := bytes.Cut(r.value, []byte(" "))
		a, err := simhash.Parse(string(r.key))
		if err != nil {
			return badf("%w", err)
		}
		b, err := simhash.Parse(string(to))
		if err != nil {
			return badf("%w", err)
		}
		if a == b {
			return nil
		}
		if err := t.sendEdge(uint64(max(a, b)), uint64(min(a, b))); err != nil || j.Round == SmallStar {
			return err
		}
		return t.sendEdge(uint64(min(a, b)), uint64(max(a, b)))
	})
}

func (t *task) sendEdge(node, neighbour uint64) error {
	key := make([]byte, 0, 2*printDigits)
	key = appendNumber(appendNumber(key, node, printDigits), neighbour, printDigits)
	return t.send(t.partition(node), key, nil)
}

func (j Stars) reduce(ctx context.Context, t *task) error {
	s := star{t: t, round: j.Round}
	return t.distinct(ctx, func(key []byte) error {
		k := readKey(key)
		node, neighbour := k.number(printDigits), k.number(printDigits)
		if err := k.err("edge", 0); err != nil {
			return err
		}
		return s.edge(node, neighbour)
	})
}

// A star is a node and its neighbours, which come in order.
type star struct {
	t      *task
	round  Round
	some   bool
	node   uint64
	least  uint64 // of the neighbours and the node
	k, v   []byte
	joined bool // the node itself is joined to the least
}

func (s *star) edge(node, neighbour uint64) error {
	if !s.some || node != s.node {
		s.some, s.node, s.least, s.joined = true, node, min(node, neighbour), false
		s.t.counters.add(groups, 1)
	}
	if s.round == LargeStar {
		if neighbour < node {
			return nil
		}
		return s.join(neighbour, s.least, s.least != node)
	}
	if !s.joined {
		s.joined = true // by the edge to the least, which is there
		return s.join(node, s.least, false)
	}
	return s.join(neighbour, s.least, true)
}

// join writes an edge and counts it if it replaces another.
func (s *star) join(from, to uint64, changed bool) error {
	if changed {
		s.t.results.changed++
		s.t.counters.add(changedEdges, 1)
	}
	s.k, s.v = appendPrint(s.k[:0], from), appendPrint(s.v[:0], to)
	return s.t.result(s.k, s.v)
}
