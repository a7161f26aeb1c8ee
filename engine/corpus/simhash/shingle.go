package simhash

import (
	"ndd/engine/corpus/token"
)

// shingler turns a stream of token hashes into features: every n tokens in a row within a run. Words and
// characters are runs of their own, each with its own n; a change from one to the other ends the run. A run
// shorter than n is one feature, so that short texts and single foreign words are not lost.
type shingler struct {
	size   [2]int     // shingle length by kind
	kind   token.Kind // of this run
	filled int        // tokens in this run so far
	ring   [maxShingle]uint64
	counts *[2]counter // by kind
}

// push adds one token, whose hash is not 0.
func (s *shingler) push(hash uint64, k token.Kind) {
	if k != s.kind {
		s.endRun()
		s.kind = k
	}
	n := s.size[k]
	if n == 1 {
		s.filled++
		s.counts[s.kind].add(hash)
		return
	}
	s.ring[s.filled%maxShingle] = hash
	s.filled++
	if s.filled >= n {
		s.counts[s.kind].add(s.fold(n))
	}
}

// endRun closes the run; called at the end of the text too.
func (s *shingler) endRun() {
	if s.filled > 0 && s.filled < s.size[s.kind] {
		s.counts[s.kind].add(s.fold(s.filled))
	}
	s.filled = 0
}

// fold returns one hash of the last n tokens, oldest first. This rule is part of recipe version 1:
//
//	fold(t1) = t1      fold(t1..tn) = token.Fold(fold(t1..tn-1), tn)
func (s *shingler) fold(n int) uint64 {
	h := s.ring[(s.filled-n)%maxShingle]
	for i := s.filled - n + 1; i < s.filled; i++ {
		h = token.Fold(h, s.ring[i%maxShingle])
	}
	return h
}
