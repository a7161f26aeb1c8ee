package passages

// A repeat describes windows that follow each other and occur in the same order at an earlier atom, or at this
// atom for the first time. It has three words: the atom of the first window, the atom of its first occurrence, and
// two numbers. The low countBits bits are the number of occurrences of each window. The high bits are the number of
// windows.
type repeat [3]uint64

const (
	countBits = 40
	countMax  = 1<<countBits - 1
)

func newRepeat(atom, first uint64, windows int, count uint64) repeat {
	return repeat{atom, first, uint64(windows)<<countBits | min(count, countMax)}
}

func (r *repeat) position() uint64 { return r[0] }
func (r *repeat) first() uint64    { return r[1] }
func (r *repeat) windows() uint64  { return r[2] >> countBits }
func (r *repeat) count() uint64    { return r[2] & countMax }

// words returns the repeat with only the windows that begin at a multiple of width bytes.
func (r *repeat) words(width uint64) repeat {
	skipped := min(-r.position()%width, r.windows())
	return newRepeat(r.position()+skipped, r.first()+skipped, int((r.windows()-skipped+width-1)/width), r.count())
}

// dropWindows returns the repeat without its first n windows. A window begins width bytes after the previous one.
func (r *repeat) dropWindows(n, width uint64) repeat {
	return newRepeat(r.position()+n*width, r.first()+n*width, int(r.windows()-n), r.count())
}
