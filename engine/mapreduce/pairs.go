package mapreduce

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"example.org/ndd/permute"
)

// A Pairs is the job that compares documents whose fingerprints are within distance k.
//
//	in      results of the job fingerprint, or of the job dedup
//	shuffle table (1 digit), leading bits (1 to 4), rank (6), name, space, hash of the text	fingerprint, state, sketch
//	out     hash of the text	see [group.write]
//
// The map sends each document once for each table of a design of radius 0, with the leading bits of its permuted
// fingerprint. The reduce compares the documents with the same leading bits, in order of preference. Each pair is found
// once: by the first table in which both documents have the same leading bits.
//
// A document is compared with preferred ones. A pair is confirmed if the estimated Jaccard similarity of both
// sketches is at least Threshold. Without sketches, or with the threshold 0, pairs are unverified, and the results
// say so.
//
// If documents have equal fingerprints and sketches, only the first is paired with other documents. Each of the rest
// has one pair, with the first. If a document has more than PairsMax pairs in a table, only the nearest one is
// written. The counter pairs_left_out counts the rest. So the number of pairs in a large group grows with the number
// of documents, not with its square. Results of the job dedup have only the decided documents that other documents
// still need.
type Pairs struct {
	K         int
	Threshold float64
	PairsMax  int // maximum pairs of a document in a table; if there are more, only the nearest one is written
	Bits      int // number of leading bits that a group shares; 0: 12, or less if a table of the design fixes less
}

// groupBitsDefault makes groups of 256 for a million fingerprints.
const groupBitsDefault = 12

// designSeed is the seed of masks in the whole program.
const designSeed = 1

// A pairTables is a design with its permutations and group size.
type pairTables struct {
	design permute.Design
	perms  []permute.Permutation
	bits   uint // leading bits of a group
}

func (j Pairs) pairing() (*pairTables, error) {
	if j.K < 0 || j.K > permute.MaxK {
		return nil, fmt.Errorf("k = %d: must be 0 to %d", j.K, permute.MaxK)
	}
	d := exactDesign(j.K)
	p := &pairTables{design: d, bits: uint(j.Bits)}
	if !(j.Threshold >= 0 && j.Threshold <= 1) || j.PairsMax < 0 {
		return nil, fmt.Errorf("threshold %g and at most %d pairs: must be 0 to 1, and positive", j.Threshold, j.PairsMax)
	}
	leading, _ := d.Leading()
	if j.Bits < 0 || j.Bits > leading || j.Bits > 24 {
		return nil, fmt.Errorf("%d leading bits: design %s has %d, and groups share at most 24", j.Bits, d.Name, leading)
	}
	if j.Bits == 0 {
		p.bits = uint(min(leading, groupBitsDefault))
	}
	for _, t := range d.Tables {
		p.perms = append(p.perms, permute.New(t.Mask))
	}
	return p, nil
}

// exactDesign returns the design of radius 0 with the fewest tables. It divides a fingerprint into k + 1 parts, so k
// differences leave at least one part unchanged.
func exactDesign(k int) permute.Design {
	designs := permute.Catalogue(k, designSeed) // the catalogue has a design of radius 0 for every k
	return designs[slices.IndexFunc(designs, func(d permute.Design) bool {
		return !slices.ContainsFunc(d.Tables, func(t permute.Table) bool { return t.Radius > 0 })
	})]
}

// Check returns an error if the settings are invalid.
func (j Pairs) Check() error {
	_, err := j.pairing()
	return err
}

func (j Pairs) mapPart(ctx context.Context, t *task) error {
	p, err := j.pairing()
	if err != nil {
		return err
	}
	var key, value []byte
	return t.records(ctx, func(r record) error {
		// Skip documents that are not compared.
		if string(r.key) == unmarkedKey {
			t.counters.add(unmarked, 1)
			return nil
		}
		if len(r.key) == hashDigits && len(r.value) > 0 && bytes.IndexByte([]byte{equal, dropped}, r.value[0]) >= 0 {
			return nil
		}
		// Parse the document.
		d, err := parseDocument(r)
		if err != nil {
			return badf("%w", err)
		}
		t.counters.add(fingerprints, 1)
		if j.Threshold <= 0 {
			d.sketch = []byte(noSketch)
		}
		// Send it once for each table.
		value = append(appendNumber(value[:0], d.fingerprint, printDigits), d.state, ' ')
		value = append(value, d.sketch...)
		for table := range p.perms {
			group := p.perms[table].Apply(d.fingerprint) >> (64 - p.bits)
			key = appendNumber(appendNumber(key[:0], uint64(table), 1), group, p.groupDigits())
			key = append(append(append(appendNumber(key, d.rank, rowDigits), d.name...), ' '), d.text...)
			if err := t.send(t.partition(uint64(table)<<32|group), key, value); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *pairTables) groupDigits() int { return int(p.bits+5) / 6 }

func (j Pairs) reduce(ctx context.Context, t *task) error {
	p, err := j.pairing()
	if err != nil {
		return err
	}
	g := newGroup(t, j, p)
	err = t.distinct(ctx, func(key, value []byte) error {
		head := key[:min(1+p.groupDigits(), len(key))]
		if !bytes.Equal(head, g.key) {
			if err := g.flush(); err != nil {
				return err
			}
			if err := g.begin(head); err != nil {
				return err
			}
		}
		return g.add(key[len(head):], value)
	})
	if err != nil {
		return err
	}
	if a := t.arrived[0]; a != nil {
		t.results.Pairs = a.end.Documents
	}
	return g.flush()
}
