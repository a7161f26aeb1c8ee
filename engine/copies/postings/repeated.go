package postings

// repeated tells which signatures more than one document may have. Of text most are in one document alone, and these need no list, no
// number and no look-up, wherever documents are split. It is two bits for each of some hashes of signatures: seen, and
// seen again. Signatures that share such a hash are all taken for repeated, which costs a list and no answer.
type repeated struct {
	once, twice []uint64
	shift       uint
}

// bitsPerSignature is how many bits there are for each signature, at least: then one in ten of those of one document is taken
// for repeated, where 70 % are.
const bitsPerSignature = 8

// repeated looks at all signatures of documents once. A bit is set or read at random, one or two cache misses each.
func (b *Builder) repeated(docs []uint32) *repeated {
	total := uint64(0)
	for _, d := range docs {
		total += uint64(b.size(d))
	}
	r := &repeated{shift: 64 - 10}
	for r.shift > 0 && uint64(1)<<(64-r.shift) < bitsPerSignature*total {
		r.shift--
	}
	words := uint64(1) << (64 - r.shift) / 64
	r.once, r.twice = make([]uint64, words), make([]uint64, words)
	for _, d := range docs {
		for _, hash := range b.set(d) {
			i, bit := r.place(hash)
			r.twice[i] |= r.once[i] & bit
			r.once[i] |= bit
		}
	}
	r.once = nil
	return r
}

func (r *repeated) place(hash uint64) (word, bit uint64) {
	at := hash * 0x9e3779b97f4a7c15 >> r.shift
	return at / 64, 1 << (at % 64)
}

// has reports whether more than one document may have a signature. A nil one says so of all.
func (r *repeated) has(hash uint64) bool {
	if r == nil {
		return true
	}
	i, bit := r.place(hash)
	return r.twice[i]&bit != 0
}

// keep appends those of a set that more than one document may have.
func (r *repeated) keep(dst, set []uint64) []uint64 {
	if r == nil {
		return append(dst, set...)
	}
	for _, hash := range set {
		if r.has(hash) {
			dst = append(dst, hash)
		}
	}
	return dst
}
