package dedup

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// idColumn is the IDs by row, in blocks of memory, 8 bytes each beside their own: a third
// of what a slice of strings takes, and nothing for the collector to follow.
type idColumn struct {
	blocks [][]byte
	at     []uint64 // block<<32 | offset of the ID's length
	bytes  uint64   // of all blocks
}

// idBlockBytes is the size of a block.
const idBlockBytes = 1 << 20

// append adds the ID of the next row.
func (c *idColumn) append(s string) {
	need := binary.MaxVarintLen64 + len(s)
	last := len(c.blocks) - 1
	if last < 0 || cap(c.blocks[last])-len(c.blocks[last]) < need {
		c.blocks = append(c.blocks, make([]byte, 0, max(idBlockBytes, need)))
		last++
		c.bytes += uint64(cap(c.blocks[last]))
	}
	b := c.blocks[last]
	c.at = append(c.at, uint64(last)<<32|uint64(len(b)))
	c.blocks[last] = append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// id returns the ID of a row, which is not to be written.
func (c *idColumn) id(i Row) []byte {
	b := c.blocks[c.at[i]>>32][uint32(c.at[i]):]
	size, k := binary.Uvarint(b)
	return b[k : k+int(size)]
}

// A Place is where a document was read.
type Place struct {
	File string // "" where it is not known
	Row  int64  // line, record or row of the file, from 1; 0 where the file is the document
}

// places are those of rows that come in the order of the inputs: 4 bytes each, and their files. Of
// fingerprint files there are only the parts: their rows come one after the other.
type places struct {
	rows  []uint32 // less the base of their part
	parts []part
}

// A part is rows of one file that are written less a base.
type part struct {
	first Row
	file  string
	base  int64
}

// append adds the place of the next row.
func (p *places) append(at Place) {
	last := len(p.parts) - 1
	if last < 0 || p.parts[last].file != at.File || at.Row < p.parts[last].base ||
		at.Row-p.parts[last].base > math.MaxUint32 {
		base := int64(0)
		if at.Row > math.MaxUint32 {
			base = at.Row
		}
		p.parts = append(p.parts, part{Row(len(p.rows)), at.File, base})
		last++
	}
	p.rows = append(p.rows, uint32(at.Row-p.parts[last].base))
}

// at returns the place of a row.
func (p *places) at(row Row) Place {
	if len(p.parts) == 0 {
		return Place{}
	}
	i, found := slices.BinarySearchFunc(p.parts, row, func(q part, row Row) int { return cmp.Compare(q.first, row) })
	if !found {
		i--
	}
	q := p.parts[i]
	if len(p.rows) == 0 {
		return Place{q.file, q.base + int64(row-q.first)}
	}
	return Place{q.file, q.base + int64(p.rows[row])}
}

// Place returns where the document of a row was read; nothing for one that came by [Corpus.Append]
// without a place.
func (c *Corpus) Place(row Row) Place { return c.places.at(row) }

// shorts are the documents with too few features for a fingerprint: they are compared with none,
// and kept.
type shorts struct {
	ids    idColumn
	places places
	before []Row // the rows that follow them
}

// bytes returns the memory that they take.
func (s *shorts) bytes() uint64 { return s.ids.bytes + uint64(len(s.before))*(8+4+8)*2 }

// NumShort returns the number of documents that are too short for a fingerprint.
func (c *Corpus) NumShort() int { return len(c.shorts.before) }

// appendShort adds one of them. The error is a [memory.TooLargeError].
func (c *Corpus) appendShort(id string, at Place) error {
	s := &c.shorts
	s.ids.append(id)
	s.places.append(at)
	s.before = append(s.before, Row(len(c.prints)))
	return c.grown()
}
