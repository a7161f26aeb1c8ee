package postings

import (
	"context"
	"math"
	"slices"
)

// prefixes are the postings by which pairs are found: of each document those of its rarest signatures, signature by signature, the most
// frequent first.
type prefixes struct {
	pieces *numbers
	count  int
	piece  []uint32 // that is being filled
	limits []limit  // by rank

	// counters say how many of a document's signatures were seen, by rank, so that it begins to be found at zero. In their upper halves is
	// limit.finds: they are read at random, and so is what is together.
	counters []uint32
}

// zero is the counter of a document whose signatures it is found by begin.
const zero = 1 << 15

// pieceSize is how many numbers a piece has, or more if it is a single list.
const pieceSize = 1 << 16

// A posting of a list is the rank of a document, and in the last bit whether the signature finds larger documents. Behind the number of
// postings stand these, ascending.
const (
	rankShift = 1
	findsBit  = 1
)

// prefixes takes the postings that find pairs of all those of s. Sizes are those of the documents, by rank.
func (b *Builder) prefixes(ctx context.Context, s *shared, sizes []uint32, o *Options, r *Report) (p *prefixes, err error) {
	p = &prefixes{pieces: &numbers{room: b.scratch(o.share(resultShare))}, limits: limits(sizes, o)}
	p.counters = make([]uint32, len(sizes))
	for rank := range p.counters {
		l := &p.limits[rank]
		p.counters[rank] = uint32(l.finds)<<16 | zero - uint32(l.found)
	}
	defer func() {
		if err != nil {
			p.pieces.close()
		}
	}()
	frequent := &frequentOnes{}
	err = s.each(ctx, func(ranks []uint32) error {
		if len(ranks) > o.MaxDocuments {
			frequent.add(ranks, len(sizes))
			p.see(ranks)
			return nil
		}
		return p.add(ranks)
	})
	if err != nil {
		return p, err
	}
	r.Common, r.Frequent = frequent.signatures, frequent.documents(sizes, o)
	if err := p.flush(); err != nil {
		return p, err
	}
	return p, p.pieces.seal()
}

// see counts a signature of documents.
func (p *prefixes) see(ranks []uint32) {
	for _, rank := range ranks {
		if uint16(p.counters[rank]) < math.MaxUint16 {
			p.counters[rank]++
		}
	}
}

// add takes the documents of the next signature: those that are found by it, if it finds any.
func (p *prefixes) add(ranks []uint32) error {
	if len(p.piece)+1+len(ranks) > cap(p.piece) {
		if err := p.flush(); err != nil {
			return err
		}
		p.piece = make([]uint32, 0, max(pieceSize, 1+len(ranks)))
	}
	at, n, finds, counters := len(p.piece), uint32(0), uint32(0), p.counters
	all := p.piece[at : at+1+len(ranks)]
	list := all[1:]
	for _, rank := range ranks {
		c := counters[rank]
		seen := c & math.MaxUint16
		if seen < math.MaxUint16 {
			counters[rank] = c + 1
		}
		found, bit := seen/zero, uint32(0)
		if seen >= zero+c>>16 {
			bit = findsBit
		}
		list[n] = rank<<rankShift | bit
		n += found
		finds |= bit
	}
	if n >= 2 && finds != 0 {
		sortList(list[:n])
		all[0] = n
		p.piece = p.piece[:at+1+int(n)]
	}
	return nil
}

// flush keeps the piece that was filled.
func (p *prefixes) flush() error {
	if len(p.piece) == 0 {
		return nil
	}
	_, err := p.pieces.add(slices.Clip(p.piece))
	p.count++
	p.piece = nil
	return err
}

// each calls f with the postings of each signature of some pieces.
func (p *prefixes) each(ctx context.Context, pieces span, f func(list []uint32)) error {
	for piece := pieces.from; piece < pieces.to && ctx.Err() == nil; piece++ {
		for all := p.pieces.at(piece); len(all) > 0; {
			n := all[0]
			f(all[1 : 1+n])
			all = all[1+n:]
		}
	}
	return ctx.Err()
}

// sortList puts a list in order, of which most are short.
func sortList(list []uint32) {
	switch len(list) {
	case 2:
		list[0], list[1] = min(list[0], list[1]), max(list[0], list[1])
	case 3:
		a, b, c := list[0], list[1], list[2]
		list[0], list[1], list[2] = min(a, b, c), max(min(a, b), min(max(a, b), c)), max(a, b, c)
	default:
		slices.Sort(list)
	}
}
