package mapreduce

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"ndd/engine/index/radix"
	"ndd/engine/near/cluster"
	"ndd/engine/near/scan"
	"ndd/permute"
)

// A Pairs is the job that finds all pairs of fingerprints within distance k of a corpus.
//
//	in      fingerprints, in any [Form]
//	shuffle table (1 digit), leading bits (1 to 4 digits)	block of the other bits
//	out     fingerprint (16 hexadecimal digits)	larger fingerprint, distance
//
// The map permutes fingerprints by each table of a design of radius 0, as an index does, and sends each with those of its
// map that share some leading bits; the reduce brings all of these together and joins them (package cluster). What is found
// by a table before is not reported, so no pair comes twice. Fingerprints, not documents, are paired: equal ones
// are one.
//
// Few tables make a small shuffle, so the design with the fewest is the default: k + 1 tables. The join of a group
// has tables of its own, so large groups cost memory only.
type Pairs struct {
	K      int
	Design string // name of a design of radius 0; "": the one with the fewest tables
	Bits   int    // leading bits that a group shares, at most those of the design's tables; 0: 12 or those
}

// groupBitsDefault make blocks of 256 of a chunk of a million fingerprints.
const groupBitsDefault = 12

// designSeed mixes bits into masks as everywhere in the program.
const designSeed = 1

// A pairing is the design of a job and how its groups are made.
type pairing struct {
	design permute.Design
	perms  []permute.Permutation
	bits   uint // leading bits of a group
}

func (j Pairs) pairing() (*pairing, error) {
	d, err := j.design()
	if err != nil {
		return nil, err
	}
	p := &pairing{design: d, bits: uint(j.Bits)}
	least, _ := d.Leading()
	if j.Bits < 0 || j.Bits > least || j.Bits > 24 {
		return nil, fmt.Errorf("%d leading bits: design %s has %d, and groups share at most 24", j.Bits, d.Name, least)
	}
	if j.Bits == 0 {
		p.bits = uint(min(least, groupBitsDefault))
	}
	for _, t := range d.Tables {
		p.perms = append(p.perms, permute.New(t.Mask))
	}
	return p, nil
}

// design returns the design of the job's tables.
func (j Pairs) design() (permute.Design, error) {
	if j.K < 0 || j.K > permute.MaxK {
		return permute.Design{}, fmt.Errorf("k = %d: must be 0 to %d", j.K, permute.MaxK)
	}
	if j.Design == "" {
		return j.fewest(), nil
	}
	d, err := permute.Named(j.Design, j.K, designSeed)
	if err == nil && (!exact(&d) || len(d.Tables) > len(digits)) {
		err = fmt.Errorf("design %s: pairs need tables of radius 0, at most %d", j.Design, len(digits))
	}
	return d, err
}

// fewest returns the design of radius 0 that has the fewest tables: k + 1 parts, of which k differences leave one as it is.
func (j Pairs) fewest() permute.Design {
	for _, d := range permute.Catalogue(j.K, designSeed) {
		if exact(&d) {
			return d
		}
	}
	panic("no design of radius 0") // the catalogue has one for every k
}

// exact reports whether all tables have radius 0.
func exact(d *permute.Design) bool {
	return !slices.ContainsFunc(d.Tables, func(t permute.Table) bool { return t.Radius > 0 })
}

// sendPrints is how many fingerprints a map sends at a time: the more, the shorter are their codes.
const sendPrints = 4 << 20

func (j Pairs) mapPart(ctx context.Context, t *task) error {
	p, err := j.pairing()
	if err != nil {
		return err
	}
	most := int(min(t.Budget.Here().Left()/2/24, sendPrints))
	reserved, err := t.reserve("sorting fingerprints", 24*uint64(max(most, 1<<16))+t.readBytes())
	if err != nil {
		return err
	}
	defer reserved.Release()
	s := &blockSender{t: t, p: p, most: max(most, 1<<16)}
	if err := t.chunks(ctx, func(c chunk) error { return s.addAll(ctx, c.prints) }); err != nil {
		return err
	}
	return s.flush(ctx)
}

// A blockSender sends fingerprints in blocks.
type blockSender struct {
	t      *task
	p      *pairing
	most   int
	prints []uint64

	sorted     []uint64
	key, value []byte
	scratch    []byte
}

func (s *blockSender) addAll(ctx context.Context, all scan.Source) (err error) {
	failed := all(func(c scan.Chunk) bool {
		err = s.add(ctx, c.Fingerprints)
		c.Release()
		return err == nil
	})
	return cmp.Or(err, failed)
}

func (s *blockSender) add(ctx context.Context, prints []uint64) error {
	for len(prints) > 0 {
		n := min(len(prints), s.most-len(s.prints))
		s.prints, prints = append(s.prints, prints[:n]...), prints[n:]
		if len(s.prints) == s.most {
			if err := s.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush sends what has come together under every table.
func (s *blockSender) flush(ctx context.Context) error {
	defer func() { s.prints = s.prints[:0] }()
	s.sorted = slices.Grow(s.sorted[:0], len(s.prints))[:len(s.prints)]
	for table := range s.p.perms {
		if err := ctx.Err(); err != nil {
			return err
		}
		radix.Keys(s.sorted, s.prints, s.p.perms[table].Mask(), s.t.Threads)
		if err := s.send(table, slices.Compact(s.sorted)); err != nil {
			return err
		}
	}
	return nil
}

// send sends the sorted fingerprints of a table, a block a group.
func (s *blockSender) send(table int, sorted []uint64) error {
	shift := 64 - s.p.bits
	for len(sorted) > 0 {
		group := sorted[0] >> shift
		n, _ := slices.BinarySearchFunc(sorted, group, func(f, group uint64) int {
			if f>>shift <= group {
				return -1
			}
			return 1
		})
		n = min(n, blockMax)
		for i := range sorted[:n] {
			sorted[i] &= 1<<shift - 1
		}
		s.value, s.scratch = appendBlock(s.value[:0], sorted[:n], s.scratch)
		sorted = sorted[n:]
		s.key = s.p.appendKey(s.key[:0], table, group)
		if err := s.t.send(s.t.partition(uint64(table)<<32|group), s.key, s.value); err != nil {
			return err
		}
	}
	return nil
}

// groupDigits returns how many digits a group has.
func (p *pairing) groupDigits() int { return int(p.bits+5) / 6 }

func (p *pairing) appendKey(dst []byte, table int, group uint64) []byte {
	return appendNumber(appendNumber(dst, uint64(table), 1), group, p.groupDigits())
}

// parseKey returns the table and the group of a key.
func (p *pairing) parseKey(key []byte) (table int, group uint64, err error) {
	if len(key) == 1+p.groupDigits() {
		t, ok1 := number(key[:1])
		g, ok2 := number(key[1:])
		if ok1 && ok2 && t < uint64(len(p.perms)) && g>>p.bits == 0 {
			return int(t), g, nil
		}
	}
	return 0, 0, fmt.Errorf("%.40q is no group of %d tables and %d bits: the maps had another design", key, len(p.perms), p.bits)
}

func (j Pairs) reduce(ctx context.Context, t *task) error {
	p, err := j.pairing()
	if err != nil {
		return err
	}
	g := &joiner{t: t, p: p}
	err = t.sorted(ctx, func(_ int, key, value []byte) error {
		if string(key) != string(g.key) {
			if err := g.flush(ctx); err != nil {
				return err
			}
			g.key = append(g.key[:0], key...)
		}
		return g.add(value)
	})
	if err != nil {
		return err
	}
	return g.flush(ctx)
}

// A joiner joins the fingerprints of one group after the other.
type joiner struct {
	t          *task
	p          *pairing
	key        []byte
	rest       []uint64 // the group's fingerprints as blocks have them
	scratch    []byte
	distinct   []uint64
	from, rows []byte // of a result
}

// joinBytes is what a fingerprint of a group takes: in rest while that grows, in distinct, and in the join.
const joinBytes = 16 + 8 + 16

func (g *joiner) add(block []byte) (err error) {
	before := len(g.rest)
	if g.rest, g.scratch, err = parseBlock(g.rest, block, g.scratch); err != nil {
		return err
	}
	g.t.counters.add(fingerprints, int64(len(g.rest)-before))
	return g.t.Budget.Check(g.what(), joinBytes*uint64(len(g.rest)))
}

// what names the group in messages.
func (g *joiner) what() string {
	return fmt.Sprintf("joining the %d fingerprints of key %s", len(g.rest), g.key)
}

// flush joins the group.
func (g *joiner) flush(ctx context.Context) error {
	if len(g.rest) == 0 {
		return nil
	}
	table, group, err := g.p.parseKey(g.key)
	if err != nil {
		return err
	}
	reserved, err := g.t.Budget.Reserve(g.what(), joinBytes*uint64(len(g.rest)))
	if err != nil {
		return err
	}
	defer reserved.Release()
	g.t.counters.add(groups, 1)
	g.t.counters.most(largestGroup, int64(len(g.rest)))
	g.distinct = g.distinct[:0]
	for _, v := range g.rest {
		if v>>(64-g.p.bits) != 0 {
			return fmt.Errorf("key %s: %w of %d bits", g.key, errBlock, 64-g.p.bits)
		}
		g.distinct = append(g.distinct, g.p.perms[table].Invert(group<<(64-g.p.bits)|v))
	}
	g.rest = g.rest[:0]
	slices.Sort(g.distinct)
	g.distinct = slices.Compact(g.distinct)
	return g.join(ctx, table)
}

// bruteMax is the most fingerprints that are compared each with each other: a join is made for more.
const bruteMax = 256

// join writes the pairs of a group that its table is the first to find.
func (g *joiner) join(ctx context.Context, table int) (err error) {
	emit := func(a, b uint64) {
		if err == nil && g.p.design.First(a^b) == table {
			err = g.pair(a, b)
		}
	}
	if len(g.distinct) > bruteMax {
		design := cluster.Choose(len(g.distinct), g.p.design.K)
		if e := cluster.Join(ctx, g.distinct, design, g.t.Threads, emit); err == nil {
			err = e
		}
		return err
	}
	for i, a := range g.distinct {
		for _, b := range g.distinct[i+1:] {
			if bits.OnesCount64(a^b) <= g.p.design.K {
				emit(a, b)
			}
		}
	}
	return err
}

// pair writes a pair, the smaller fingerprint first.
func (g *joiner) pair(a, b uint64) error {
	a, b = min(a, b), max(a, b)
	g.t.counters.add(pairs, 1)
	g.from = fmt.Appendf(g.from[:0], "%016x", a)
	g.rows = fmt.Appendf(g.rows[:0], "%016x %d", b, bits.OnesCount64(a^b))
	return g.t.result(g.from, g.rows)
}

// Check returns what is wrong with the job's settings.
func (j Pairs) Check() error {
	_, err := j.pairing()
	return err
}
