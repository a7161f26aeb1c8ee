package main

import (
	"fmt"

	"ndd/engine/near/scan"
	"ndd/engine/oracle"
)

// A tally counts the lines of an answer, which come in order, or takes what was counted without
// lines.
type tally struct {
	scan.Totals
	unique bool // a line a distinct fingerprint of each query
	last   row
	some   bool
}

// add counts a row so many times, one for each document. false: it is none, but a repetition.
func (t *tally) add(r row, times uint64) bool {
	again := t.some && r.query == t.last.query
	if t.unique {
		if again && r.fingerprint == t.last.fingerprint {
			return false
		}
		times = 1
	}
	if !again {
		t.WithHits++
	}
	t.Hits += times
	t.Sum += times * oracle.Term(r.query, uint64(r.fingerprint))
	t.last, t.some = r, true
	return true
}

// of are the totals of so many queries.
func (t *tally) of(queries int) totals {
	return totals{queries, t.WithHits, t.Hits, fmt.Sprintf("%016x", t.Sum)}
}
