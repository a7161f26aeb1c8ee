package dedup

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// A Place is where a document was read.
type Place struct {
	File string // "" where it is not known
	Row  int64  // line, record or row of the file, from 1; 0 where the file is the document
}

// places are those of rows that come in the order of the inputs: 4 bytes each, and their files.
type places struct {
	rows  []uint32 // less the base of their part
	parts []part
}

// A part is rows of one file that are written less a base.
type part struct {
	first uint32 // row
	file  string
	base  int64
}

// append adds the place of the next row.
func (p *places) append(at Place) {
	last := len(p.parts) - 1
	if last < 0 || p.parts[last].file != at.File || at.Row < p.parts[last].base || at.Row-p.parts[last].base > math.MaxUint32 {
		base := int64(0)
		if at.Row > math.MaxUint32 {
			base = at.Row
		}
		p.parts = append(p.parts, part{uint32(len(p.rows)), at.File, base})
		last++
	}
	p.rows = append(p.rows, uint32(at.Row-p.parts[last].base))
}

// at returns the place of a row.
func (p *places) at(row uint32) Place {
	i, found := slices.BinarySearchFunc(p.parts, row, func(q part, row uint32) int { return cmp.Compare(q.first, row) })
	if !found {
		i--
	}
	return Place{p.parts[i].file, p.parts[i].base + int64(p.rows[row])}
}

// Place returns where the document of a row was read; nothing for one that came by [Corpus.Append] without a place.
func (c *Corpus) Place(row uint32) Place {
	if len(c.places.rows) > 0 {
		return c.places.at(row)
	}
	i, found := slices.BinarySearchFunc(c.files, row, func(p part, row uint32) int { return cmp.Compare(p.first, row) })
	switch {
	case len(c.files) == 0:
		return Place{}
	case !found:
		i--
	}
	return Place{c.files[i].file, int64(row-c.files[i].first) + 1}
}

// A Short is a document with too few features for a fingerprint: it is compared with none, and kept.
type Short struct {
	ID string
	Place
	Before uint32 // the row that follows it
}

// shorts are all of them.
type shorts struct {
	ids    idColumn
	places places
	before []uint32
}

// bytes returns the memory that they take.
func (s *shorts) bytes() uint64 { return s.ids.bytes + uint64(len(s.before))*(8+4+4)*2 }

// NumShort returns the number of documents that are too short for a fingerprint.
func (c *Corpus) NumShort() int { return len(c.shorts.before) }

// Short returns the documents that are too short for a fingerprint, in the order of the inputs.
func (c *Corpus) Short() iter.Seq[Short] {
	return func(yield func(Short) bool) {
		for i, before := range c.shorts.before {
			if !yield(Short{string(c.shorts.ids.id(uint32(i))), c.shorts.places.at(uint32(i)), before}) {
				return
			}
		}
	}
}

// appendShort adds one of them. The error is a [memory.TooLargeError].
func (c *Corpus) appendShort(id string, at Place) error {
	s := &c.shorts
	s.ids.append(id)
	s.places.append(at)
	s.before = append(s.before, uint32(len(c.prints)))
	return c.grown()
}
