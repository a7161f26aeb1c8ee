package mapreduce

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"

	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/result"
)

// CopyRows makes [Collect] write pairs of copies as package copies lists them. Pairs are in order of the documents,
// and the earlier document comes first. Pairs have the flag common. If more than MaxEqual documents
// have equal signatures, only the first of them is paired with other documents. The jobs use the document with the
// smallest ID instead.
type CopyRows struct {
	Signatures string         // file with the results of the job signatures, in order of the inputs
	Options    copies.Options // limits of relations
}

// copyRows are pairs of documents, with numbers instead of IDs. They are held in memory.
type copyRows struct {
	t       *task
	numbers map[string]uint32 // number of a document by its escaped ID
	ids     []string
	sets    []uint64 // hash of the signatures of a document; 0 for none
	large   map[uint64]*equalGroup
	pairs   []copies.Pair
	idBytes int
}

// An equalGroup has the first document by ID, and the first in order of the inputs, of more than MaxEqual documents
// with equal signatures.
type equalGroup struct{ byID, first uint32 }

// idBytes is the memory of an ID without its text. rowBytes is the memory of a pair.
const (
	idBytes  = 80 + seenBytes
	rowBytes = 2 * 56
)

func newCopyRows(ctx context.Context, t *task) (*copyRows, error) {
	c := &copyRows{t: t, numbers: map[string]uint32{}}
	if err := t.side(ctx, t.Copies.Signatures, c.document); err != nil {
		return nil, err
	}
	c.group()
	return c, nil
}

// document adds the next document of the signatures.
func (c *copyRows) document(r record) error {
	if _, ok := c.numbers[string(r.key)]; ok {
		c.t.counters.add(repeatedIDs, 1)
		return nil
	}
	id := string(r.key)
	c.numbers[id] = uint32(len(c.ids))
	set := uint64(0)
	if string(r.value) != noSignatures {
		set = hashOfSet(r.value)
	}
	c.sets = append(c.sets, set)
	c.ids, c.idBytes = append(c.ids, id), c.idBytes+len(id)+idBytes
	return c.t.Budget.Check(fmt.Sprintf("the IDs of %d documents", len(c.ids)), uint64(c.idBytes))
}

// add adds a pair: a result that [task.copied] wrote.
func (c *copyRows) add(r record) error {
	fields := bytes.Fields(r.value)
	if len(fields) != len(copies.Columns)-1 {
		return fmt.Errorf("%.80q is no pair of copies", r.value)
	}
	a, okA := c.numbers[string(r.key)]
	b, okB := c.numbers[string(fields[0])]
	if !okA || !okB {
		return fmt.Errorf("%w: the pair %s, %s is of a document that %s does not have", ErrLost, r.key, fields[0],
			c.t.Copies.Signatures)
	}
	var counts [3]int // signatures of both, shared ones
	for i := range counts {
		n, err := strconv.Atoi(string(fields[5+i]))
		if err != nil {
			return fmt.Errorf("%.80q is no pair of copies", r.value)
		}
		counts[i] = n
	}
	a, b = c.renamed(a, b)
	if a > b {
		a, b, counts[0], counts[1] = b, a, counts[1], counts[0]
	}
	p := postings.Pair{A: a, B: b, SizeA: int32(counts[0]), SizeB: int32(counts[1]), Shared: int32(counts[2])}
	c.pairs = append(c.pairs, c.t.Copies.Options.NewPair(copies.Method(fields[8]), p, 0))
	return c.t.Budget.Check(fmt.Sprintf("the IDs of %d documents and %d pairs", len(c.ids), len(c.pairs)),
		uint64(c.idBytes+rowBytes*len(c.pairs)))
}

// write writes the rows.
func (c *copyRows) write() error {
	rows := c.t.Copies.Options.Rows(c.pairs)
	w := result.NewTableWriter(c.t.w, result.TSV, copies.Columns...)
	for i := range rows {
		a, errA := unescape([]byte(c.ids[rows[i].A]))
		b, errB := unescape([]byte(c.ids[rows[i].B]))
		if err := cmp.Or(errA, errB); err != nil {
			return err
		}
		if err := rows[i].Write(w, a, b); err != nil {
			return err
		}
	}
	return w.Close()
}

// group finds the groups of more than MaxEqual documents with equal signatures.
func (c *copyRows) group() {
	counts := map[uint64]int{}
	for _, set := range c.sets {
		counts[set]++
	}
	delete(counts, 0)
	c.large = map[uint64]*equalGroup{}
	for doc, set := range c.sets {
		if counts[set] <= cmp.Or(c.t.Copies.Options.Join.MaxEqual, postings.MaxEqual) {
			continue
		}
		g := c.large[set]
		if g == nil {
			c.large[set] = &equalGroup{uint32(doc), uint32(doc)}
			continue
		}
		c.t.counters.add(unlistedDocuments, 1)
		if c.ids[doc] < c.ids[g.byID] {
			g.byID = uint32(doc)
		}
	}
}

// renamed returns a pair of a job with the first documents of large groups instead of the first ones by ID.
func (c *copyRows) renamed(a, b uint32) (uint32, uint32) {
	g := c.large[c.sets[a]]
	if g == nil || c.sets[a] != c.sets[b] {
		return c.firstOf(a), c.firstOf(b)
	}
	if a == g.byID {
		a = b
	}
	if a == g.first {
		a = g.byID
	}
	return g.first, a
}

// firstOf returns the first document of a large group, or the document itself.
func (c *copyRows) firstOf(doc uint32) uint32 {
	if g := c.large[c.sets[doc]]; g != nil {
		return g.first
	}
	return doc
}
