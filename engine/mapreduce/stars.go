package mapreduce

import (
	"bytes"
	"context"
	"fmt"

	"ndd/engine/corpus/simhash"
)

// A Round is a kind of round of the job cluster.
type Round string

// The rounds, in the order in which they alternate.
const (
	LargeStar Round = "large-star"
	SmallStar Round = "small-star"
)

// ParseRound returns the round of a name.
func ParseRound(name string) (Round, error) {
	if r := Round(name); r == LargeStar || r == SmallStar {
		return r, nil
	}
	return "", fmt.Errorf("%q: must be %s or %s", name, LargeStar, SmallStar)
}

// A Stars is a round of the job cluster: connected components by alternating star operations (R. Kiveris, S. Lattanzi,
// V. Mirrokni, V. Rastogi, S. Vassilvitskii, "Connected Components in MapReduce and Beyond", SoCC 2014). Nodes are fingerprints.
//
//	in      fingerprint	another, anything behind it: what the job pairs writes, or a round before
//	shuffle a node (11 digits), a neighbour (11)
//	out     fingerprint	the smaller one that it is joined to now
//
// Large-star joins the larger neighbours of a node to the smallest of its neighbours and itself; small-star joins its smaller
// neighbours and itself to the smallest of them. Both keep what is connected connected. When neither of two rounds, one of each
// kind, has changed an edge, every edge leads from a fingerprint to the smallest of its component. The end records
// say how many edges a round has changed. Rounds number O(log^2 n) at most; of near-duplicates,
// whose components are small, four to eight are enough.
//
// Neighbours come sorted, so a reduce holds one of them, however many a node has.
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

// sendEdge sends an edge to where the edges of node come together.
func (t *task) sendEdge(node, neighbour uint64) error {
	key := make([]byte, 0, 2*printDigits)
	key = appendNumber(appendNumber(key, node, printDigits), neighbour, printDigits)
	return t.send(t.partition(node), key, nil)
}

// combine drops repetitions of edges.
func (j Stars) combine(ctx context.Context, t *task) error {
	var last []byte
	return t.sorted(ctx, func(partition int, key, value []byte) error {
		if string(key) == string(last) {
			return nil
		}
		last = append(last[:0], key...)
		return t.send(partition, key, value)
	})
}

func (j Stars) reduce(ctx context.Context, t *task) error {
	s := star{t: t, round: j.Round}
	var last []byte
	return t.sorted(ctx, func(_ int, key, _ []byte) error {
		if string(key) == string(last) {
			return nil
		}
		last = append(last[:0], key...)
		if len(key) != 2*printDigits {
			return fmt.Errorf("%.40q is no edge", key)
		}
		node, ok1 := number(key[:printDigits])
		neighbour, ok2 := number(key[printDigits:])
		if !ok1 || !ok2 {
			return fmt.Errorf("%.40q is no edge", key)
		}
		return s.edge(node, neighbour)
	})
}

// A star is a node whose neighbours come in order.
type star struct {
	t      *task
	round  Round
	some   bool
	node   uint64
	least  uint64 // of the neighbours and the node
	k, v   []byte
	joined bool // the node itself is joined to the least
}

// edge takes the next neighbour of a node.
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

// join writes an edge, and counts it if there was another in its place.
func (s *star) join(from, to uint64, changed bool) error {
	if changed {
		s.t.results.changed++
		s.t.counters.add(changedEdges, 1)
	}
	s.k = fmt.Appendf(s.k[:0], "%016x", from)
	s.v = fmt.Appendf(s.v[:0], "%016x", to)
	return s.t.result(s.k, s.v)
}
