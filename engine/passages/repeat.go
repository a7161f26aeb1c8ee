package passages

// A repeat is windows in a row, as many as windows says, of which the first stands at atom at, and the
// same ones in a row at atom first, before it or there. Its last word has the number of windows above
// the most places that one of them stands at.
type repeat [3]uint64

const (
	countBits = 40
	countMax  = 1<<countBits - 1
)

func newRepeat(at, first uint64, windows int, count uint64) repeat {
	return repeat{at, first, uint64(windows)<<countBits | min(count, countMax)}
}

func (r *repeat) at() uint64      { return r[0] }
func (r *repeat) first() uint64   { return r[1] }
func (r *repeat) windows() uint64 { return r[2] >> countBits }
func (r *repeat) count() uint64   { return r[2] & countMax }

// from returns the repeat without its first windows, or without any if it has no more.
func (r *repeat) from(n uint64) repeat {
	n = min(n, r.windows())
	return newRepeat(r.at()+n, r.first()+n, int(r.windows()-n), r.count())
}
