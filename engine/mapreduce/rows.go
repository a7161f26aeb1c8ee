package mapreduce

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/copies/postings"
	"example.org/ndd/engine/result"
)

// CopyRows makes [Collect] write pairs of copies as package copies lists them. Pairs are in order of the documents,
// and the earlier document comes first. If more than MaxEqual documents have equal signatures,
// the first of them replaces the others in their pairs, and each of them has a pair with the first.
type CopyRows struct {
	Signatures string         // file with the results of the job signatures, in order of the inputs
	Options    copies.Options // limits of relations
}

// copyRows are pairs of documents, with numbers instead of IDs. They are held in memory.
type copyRows struct {
	t       *task
	method  copies.Method
	numbers map[string]uint32 // number of a document by its escaped ID
	ids     []string
	sets    []uint64 // hash of the signatures of a document; 0 for none
	sizes   []int32  // number of its signatures
	firsts  []uint32 // first of more than MaxEqual documents with its signatures, otherwise the document itself
	pairs   []copies.Pair
	idBytes int
}

// idBytes is the memory of an ID without its text. rowBytes is the memory of a pair.
const (
	idBytes  = 80 + 32
	rowBytes = 2 * 56
)

func newCopyRows(ctx context.Context, t *task) (*copyRows, error) {
	c := &copyRows{t: t, numbers: map[string]uint32{}}
	if err := t.side(ctx, t.Copies.Signatures, c.document); err != nil {
		return nil, err
	}
	method, _, _ := strings.Cut(t.read.Recipe, "-")
	if _, err := copies.ParseMethod(method); err != nil {
		return nil, fmt.Errorf("%s: no results of the job signatures", t.Copies.Signatures)
	}
	c.method = copies.Method(method)
	c.joinEqual()
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
	c.sets, c.sizes = append(c.sets, set), append(c.sizes, int32(len(r.value)/printDigits))
	c.ids, c.idBytes = append(c.ids, id), c.idBytes+len(id)+idBytes
	return c.t.Budget.Check(fmt.Sprintf("the IDs of %d documents", len(c.ids)), uint64(c.idBytes))
}

// add adds a pair: a result that [task.writeCopy] wrote.
func (c *copyRows) add(r record) error {
	var other string
	p := postings.Pair{}
	if _, err := fmt.Sscan(string(r.value), &other, &p.SizeA, &p.SizeB, &p.Shared); err != nil {
		return fmt.Errorf("%.80q is no pair of copies", r.value)
	}
	a, okA := c.numbers[string(r.key)]
	b, okB := c.numbers[other]
	if !okA || !okB {
		return fmt.Errorf("%w: the pair %s, %s is of a document that %s does not have", ErrLost, r.key, other,
			c.t.Copies.Signatures)
	}
	if p.A, p.B = c.firsts[a], c.firsts[b]; p.A == p.B {
		return nil
	}
	c.pair(p)
	return c.t.Budget.Check(fmt.Sprintf("the IDs of %d documents and %d pairs", len(c.ids), len(c.pairs)),
		uint64(c.idBytes+rowBytes*len(c.pairs)))
}

func (c *copyRows) pair(p postings.Pair) {
	if p.A > p.B {
		p.A, p.B, p.SizeA, p.SizeB = p.B, p.A, p.SizeB, p.SizeA
	}
	c.pairs = append(c.pairs, c.t.Copies.Options.NewPair(c.method, p, 0))
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

// joinEqual finds the groups of more than MaxEqual documents with equal signatures. It adds the pairs of their first
// documents with the others.
func (c *copyRows) joinEqual() {
	counts, firsts := map[uint64]int{}, map[uint64]uint32{}
	for doc, set := range c.sets {
		if counts[set]++; counts[set] == 1 {
			firsts[set] = uint32(doc)
		}
	}
	delete(counts, 0)
	for doc, set := range c.sets {
		first := uint32(doc)
		if counts[set] > cmp.Or(c.t.Copies.Options.Join.MaxEqual, postings.MaxEqual) {
			first = firsts[set]
		}
		if c.firsts = append(c.firsts, first); first == uint32(doc) {
			continue
		}
		c.t.counters.add(unlistedDocuments, 1)
		size := c.sizes[doc]
		c.pair(postings.Pair{A: first, B: uint32(doc), SizeA: size, SizeB: size, Shared: size})
	}
}
