package postings

import "math"

// Possible reports whether sets with a and b signatures can be similar.
func (o *Options) Possible(a, b int) bool {
	return min(a, b) > 0 && max(a, b) <= o.largest(min(a, b))
}

// Similar reports whether sets with a and b signatures that share some reach the threshold. Both the
// quotient of two integers and the decimal digits of the threshold are rounded to the nearest
// number, so a pair exactly at the threshold, such as 3 of 5 at 0.6, passes.
func (o *Options) Similar(a, b, shared int) bool {
	return o.Measure.Similarity(a, b, shared) >= o.Threshold
}

// neededShared returns the minimum number of shared signatures of similar sets with a and b signatures, at least 1.
func (o *Options) neededShared(a, b int) int {
	t := o.Threshold
	about := t * float64(min(a, b))
	if o.Measure == Jaccard {
		about = t / (1 + t) * float64(a+b)
	}
	return first(int(math.Ceil(about)), func(n int) bool { return n > min(a, b) || o.Similar(a, b, n) })
}

// first returns the smallest number from 1 on with a true result of ok. The results are true for all larger numbers.
// The guess differs from it only by rounding.
func first(guess int, ok func(n int) bool) int {
	n := max(guess, 1)
	for n > 1 && ok(n-1) {
		n--
	}
	for !ok(n) {
		n++
	}
	return n
}

// largest returns the maximum size of a set that can be similar to a set of n signatures.
func (o *Options) largest(n int) int {
	if o.Measure == Containment {
		return math.MaxInt
	}
	return first(int(float64(n)/o.Threshold), func(size int) bool { return !o.Similar(n, size+1, n) })
}

// smallest returns the minimum size of a set that can be similar to a set of n signatures.
func (o *Options) smallest(n int) int {
	if o.Measure == Containment {
		return 1
	}
	return first(int(float64(n)*o.Threshold), func(size int) bool { return size >= n || o.Similar(size, n, size) })
}

// leastShared returns the minimum number of signatures that a set of n signatures shares with a similar one.
func (o *Options) leastShared(n int) int { return o.neededShared(o.smallest(n), n) }
