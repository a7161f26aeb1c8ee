package permute

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// ErrUnproven is wrapped by the error of Validate if the search reached its limit. The designs of the catalogue need
// less than a ten-thousandth of that limit.
var ErrUnproven = errors.New("the design is too complex to prove")

// proofBudget limits the work of a proof, as a number of examined tables: some tenths of a second. Deciding validity
// means deciding whether a hypergraph has a small transversal, which is NP-hard. A design may come from a hostile
// file.
const proofBudget = 1 << 27

// A Gap is the error for a design that is not valid: no table finds fingerprints that differ in exactly the bits of
// Errors, at most K of them.
type Gap struct {
	Name   string
	K      int
	Errors uint64
}

func (g *Gap) Error() string {
	return fmt.Sprintf("design %q, k = %d: no table finds a difference in the %d bits 0x%016x",
		g.Name, g.K, bits.OnesCount64(g.Errors), g.Errors)
}

// Validate checks the form of a design: name, k, radii and masks. A JSON file may contain anything. Then it proves
// that the design is valid: for every set E of at most K of the 64 bits there is a table with |E & Mask| <= Radius.
// If not, the error is a *[Gap] with such an E.
//
// The proof is exhaustive, but it does not enumerate bits. Bits that are in exactly the same masks form a block, and
// only the number of errors in a block matters. E is built error by error. While some table still finds E, a
// counterexample must have one more error in that table's mask, so only blocks of that mask are tried. Each
// distribution of errors over blocks is visited at most once. Cost: 1 to 30 microseconds for designs of the
// catalogue, 1 ms for choose-12-4 with 495 tables.
func (d *Design) Validate() error {
	if err := d.checkForm(); err != nil {
		return err
	}
	return d.prove()
}

// prove does the proof of Validate for a design whose form is valid.
func (d *Design) prove() error {
	p := newProof(d)
	gap, found := p.search(^uint64(0)>>(64-uint(len(p.blocks))), d.K)
	switch {
	case found:
		return &Gap{d.Name, d.K, gap}
	case p.budget < 0:
		return fmt.Errorf("design %q, k = %d, %d tables, %d blocks: %w",
			d.Name, d.K, len(d.Tables), len(p.blocks), ErrUnproven)
	}
	return nil
}

func (d *Design) checkForm() error {
	if n := len(d.Name); n < 1 || n > 64 || strings.Trim(d.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("design name %.80q: want 1 to 64 of a-z, 0-9 and -", d.Name)
	}
	if d.K < 0 || d.K > MaxK {
		return fmt.Errorf("design %q: k = %d: want 0 to %d", d.Name, d.K, MaxK)
	}
	if len(d.Tables) == 0 || len(d.Tables) > MaxTables {
		return fmt.Errorf("design %q: %d tables: want 1 to %d", d.Name, len(d.Tables), MaxTables)
	}
	seen := make(map[uint64]int, len(d.Tables))
	for i, t := range d.Tables {
		if t.Radius < 0 || t.Radius > d.K {
			return fmt.Errorf("design %q, table %d: radius %d: want 0 to k = %d", d.Name, i, t.Radius, d.K)
		}
		if t.Mask == 0 {
			return fmt.Errorf("design %q, table %d: empty mask", d.Name, i)
		}
		if j, previous := seen[t.Mask]; previous {
			return fmt.Errorf("design %q, table %d: mask 0x%016x is that of table %d", d.Name, i, t.Mask, j)
		}
		seen[t.Mask] = i
	}
	return nil
}

// proof is the state of one search for a counterexample.
type proof struct {
	blocks []uint64 // bits with the same membership in all masks
	errs   []int    // number of errors in each block so far
	inMask []uint64 // for each table, the set of blocks in its mask, as bits
	need   []int    // for each table, number of further errors in its mask until it no longer finds E
	budget int
}

func newProof(d *Design) *proof {
	p := &proof{blocks: blocksOf(d.Tables), budget: proofBudget}
	p.errs = make([]int, len(p.blocks))
	for _, t := range d.Tables {
		mask := uint64(0)
		for b, block := range p.blocks {
			if block&t.Mask != 0 {
				mask |= 1 << b
			}
		}
		p.inMask = append(p.inMask, mask)
		p.need = append(p.need, t.Radius+1)
	}
	return p
}

// blocksOf divides the 64 bits into classes, at most 64. Bits of one class are in the same masks.
func blocksOf(tables []Table) []uint64 {
	blocks := []uint64{^uint64(0)}
	for _, t := range tables {
		for i, b := range blocks {
			if part, out := b&t.Mask, b&^t.Mask; part != 0 && out != 0 {
				blocks[i] = part
				blocks = append(blocks, out)
			}
		}
	}
	return blocks
}

// search looks for a counterexample that adds at most limit errors to p.errs, all in open blocks.
func (p *proof) search(open uint64, limit int) (gap uint64, found bool) {
	table, isBounded := p.hardestTable(open, limit)
	if isBounded {
		return p.errors(), true
	}
	if table < 0 {
		return 0, false
	}
	// A counterexample has another error in this table's mask. Let b be the first block that gets one. Blocks before
	// b get none, so each b closes the blocks before it, and no set is visited twice.
	for remaining := open & p.inMask[table]; remaining != 0; remaining &= remaining - 1 {
		b := bits.TrailingZeros64(remaining)
		p.put(b, 1)
		stillOpen := open
		if p.errs[b] == bits.OnesCount64(p.blocks[b]) {
			stillOpen &^= 1 << b
		}
		gap, found = p.search(stillOpen, limit-1)
		p.put(b, -1)
		if found || p.budget < 0 {
			return gap, found
		}
		open &^= 1 << b
	}
	return 0, false
}

// hardestTable returns the table with the fewest open blocks among the tables that still find E. It returns -1 if the
// remaining errors cannot prevent one of them from finding E, so that this branch has no counterexample.
// isBounded is true if no table finds E: E is a counterexample.
func (p *proof) hardestTable(open uint64, limit int) (table int, isBounded bool) {
	p.budget -= len(p.need)
	if p.budget < 0 {
		return -1, false
	}
	table, isBounded = -1, true
	minimum := 65
	for i, need := range p.need {
		if need <= 0 {
			continue
		}
		if need > limit {
			return -1, false
		}
		isBounded = false
		if ways := bits.OnesCount64(open & p.inMask[i]); ways < minimum {
			table, minimum = i, ways
		}
	}
	return table, isBounded
}

// put adds delta errors to a block.
func (p *proof) put(block, delta int) {
	p.errs[block] += delta
	for i, masks := range p.inMask {
		p.need[i] -= delta * int(masks>>block&1)
	}
}

// errors returns p.errs as bits: the lowest bits of each block.
func (p *proof) errors() (set uint64) {
	for b, n := range p.errs {
		block := p.blocks[b]
		for range n {
			set |= block & -block
			block &= block - 1
		}
	}
	return set
}
