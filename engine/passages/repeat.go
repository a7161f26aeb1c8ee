package passages

// A repeat is windows in a row, as many as windows says, of which the first stands at atom at, and the
// same ones in a row at atom first, before it or there. Its last word has the number of windows above
// the number of places at which each of them stands.
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

// next returns the repeat of one window that is behind another one, and has as many places.
func (r *repeat) next() repeat { return newRepeat(r.at()+1, r.first()+1, 1, r.count()) }

// words returns the repeat with only those of its windows that begin at a multiple of width bytes.
func (r *repeat) words(width uint64) repeat {
	skipped := min(-r.at()%width, r.windows())
	return newRepeat(r.at()+skipped, r.first()+skipped, int((r.windows()-skipped+width-1)/width), r.count())
}

// from returns the repeat without its first windows, each of which begins width bytes after the one before.
func (r *repeat) from(n, width uint64) repeat {
	return newRepeat(r.at()+n*width, r.first()+n*width, int(r.windows()-n), r.count())
}
