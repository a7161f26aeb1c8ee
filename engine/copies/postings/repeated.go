package postings

import (
	"math/bits"

	"ndd/engine/memory"
)

// repeated tells which signatures more than one document may have. Of text most are in one document alone, and these need no list, no
// number and no look-up, wherever documents are split. Each signature has one of some counters of two bits, which say whether it was
// seen, and seen again; signatures that share a counter are all taken for repeated, which costs a list and no answer.
//
// The answers are kept as a bit for each place in the sets, in order, so that each signature's counter is touched twice, at random, and
// the answer is read as the sets are.
type repeated struct {
	places []uint64 // a bit for each signature of the builder's sets
	ends   []uint64 // of the sets
}

const (
	// countersPerSignature is how many counters there are for each signature, at least: then one in ten of those of one document is
	// taken for repeated, where 70 % are.
	countersPerSignature = 8
	countersPerWord      = 32

	once, twice = 1, 2
)

// repeated looks at all signatures of documents twice. A counter is read at random, a cache miss each time, of pages of 2 MiB where the system
// has them, so that it is no miss of the translation too.
func (b *Builder) repeated(docs []uint32) (*repeated, error) {
	total := uint64(0)
	for _, d := range docs {
		total += uint64(b.size(d))
	}
	log := max(bits.Len64(countersPerSignature*total), 10)
	counters, err := memory.Make[uint64](1 << log / countersPerWord)
	if err != nil {
		return nil, err
	}
	defer counters.Free()
	words, shift := counters.Data, 64-log
	for _, set := range b.chunks(docs) {
		for _, hash := range set {
			at := spread(hash) >> shift
			word, low := &words[at/countersPerWord], at%countersPerWord*2
			*word |= (once | *word>>low&once<<1) << low
		}
	}
	r := &repeated{places: make([]uint64, b.total()/64+1), ends: b.ends}
	for doc := range b.ends {
		from, _ := r.place(uint32(doc))
		for i, hash := range b.set(uint32(doc)) {
			at := spread(hash) >> shift
			bit := words[at/countersPerWord] >> (at%countersPerWord*2 + 1) & 1
			place := from + uint64(i)
			r.places[place/64] |= bit << (place % 64)
		}
	}
	return r, nil
}

func spread(hash uint64) uint64 { return hash * 0x9e3779b97f4a7c15 }

// place returns where a document's set begins and ends.
func (r *repeated) place(doc uint32) (from, to uint64) {
	if doc > 0 {
		from = r.ends[doc-1]
	}
	return from, r.ends[doc]
}

// count returns how many signatures of a document others may have.
func (r *repeated) count(doc uint32) (n uint64) {
	for from, to := r.place(doc); from < to; {
		next := min((from|63)+1, to)
		word := r.places[from/64] >> (from % 64)
		if next-from < 64 {
			word &= 1<<(next-from) - 1
		}
		n += uint64(bits.OnesCount64(word))
		from = next
	}
	return n
}

// keep appends those signatures of a document's set that others may have; a nil r says so of all.
func (r *repeated) keep(dst []uint64, doc uint32, set []uint64) []uint64 {
	if r == nil {
		return append(dst, set...)
	}
	from, _ := r.place(doc)
	for i, hash := range set {
		if place := from + uint64(i); r.places[place/64]>>(place%64)&1 != 0 {
			dst = append(dst, hash)
		}
	}
	return dst
}
