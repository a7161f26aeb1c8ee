package eval

import "ndd/engine/corpus/simhash"

// expectation returns a function for the expected share of a pair found within each k.
func (c *Corpus) expectation(r simhash.Recipe) (func(*Pair) Curve, error) { return nil, nil }
