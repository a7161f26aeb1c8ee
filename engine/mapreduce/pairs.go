package mapreduce

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sort"
	"strconv"

	"ndd/engine/index/radix"
	"ndd/engine/near/cluster"
	"ndd/engine/near/scan"
	"ndd/permute"
)

// A Pairs is the job that finds all pairs of fingerprints within distance k.
//
//	in      fingerprints, in any [Form]
//	shuffle table (1 digit), leading bits (1 to 4 digits)	block of the other bits
//	out     fingerprint (16 hexadecimal digits)	larger fingerprint, distance
//
// The map permutes fingerprints by each table of a design of radius 0, as an index does, and sends
// those of its part that share leading bits together; the reduce joins all of a group (package
// cluster). Pairs that an earlier table finds are dropped, so no pair comes twice. Fingerprints,
// not documents, are paired: equal ones count once.
//
// Few tables make a small shuffle, so the design with the fewest is the default: k + 1 tables.
// Large groups cost memory only, because the join of a group has tables of its own.
type Pairs struct {
	K      int
	Design string // name of a design of radius 0; "": the one with the fewest tables
	Bits   int    // leading bits that a group shares, at most those of the design's tables; 0: 12 or those
}

// groupBitsDefault makes blocks of 256 for a million fingerprints.
const groupBitsDefault = 12

// designSeed is the seed of masks in the whole program.
const designSeed = 1

// A pairing is a design with its permutations and group size.
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

// design returns the design of the job's tables. The default is the one of radius 0 with the fewest
// tables: k + 1 parts, of which k differences leave one unchanged.
func (j Pairs) design() (d permute.Design, err error) {
	if j.K < 0 || j.K > permute.MaxK {
		return d, fmt.Errorf("k = %d: must be 0 to %d", j.K, permute.MaxK)
	}
	exact := func(d permute.Design) bool {
		return !slices.ContainsFunc(d.Tables, func(t permute.Table) bool { return t.Radius > 0 })
	}
	if j.Design == "" {
		designs := permute.Catalogue(j.K, designSeed) // it has one of radius 0 for every k
		return designs[slices.IndexFunc(designs, exact)], nil
	}
	if d, err = permute.Named(j.Design, j.K, designSeed); err == nil && (!exact(d) || len(d.Tables) > len(digits)) {
		err = fmt.Errorf("design %s: pairs need tables of radius 0, at most %d", j.Design, len(digits))
	}
	return d, err
}

// Check returns the error of settings that the job refuses.
func (j Pairs) Check() error {
	_, err := j.pairing()
	return err
}

// sendPrints is the number of fingerprints that are sent together: more make shorter blocks.
const sendPrints = 4 << 20

func (j Pairs) mapPart(ctx context.Context, t *task) error {
	p, err := j.pairing()
	if err != nil {
		return err
	}
	s := &blockSender{t: t, p: p, most: max(int(min(t.Budget.OrMachine().Left()/2/24, sendPrints)), 1<<16)}
	reserved, err := t.reserve("sorting fingerprints", 24*uint64(s.most)+t.readBytes())
	if err != nil {
		return err
	}
	defer reserved.Release()
	if err := t.chunks(ctx, func(c chunk) error { return s.add(ctx, c.prints) }); err != nil {
		return err
	}
	return s.flush(ctx)
}

type blockSender struct {
	t      *task
	p      *pairing
	most   int
	prints []uint64

	sorted     []uint64
	key, value []byte
}

// add adds fingerprints, and sends those that it has whenever there are most.
func (s *blockSender) add(ctx context.Context, all scan.Source) (err error) {
	failed := all(func(c scan.Chunk) bool {
		defer c.Release()
		for prints := c.Fingerprints; len(prints) > 0 && err == nil; {
			n := min(len(prints), s.most-len(s.prints))
			s.prints, prints = append(s.prints, prints[:n]...), prints[n:]
			if len(s.prints) == s.most {
				err = s.flush(ctx)
			}
		}
		return err == nil
	})
	return cmp.Or(err, failed)
}

// flush sends the fingerprints under every table.
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

// send sends the sorted fingerprints of a table, one block per group.
func (s *blockSender) send(table int, sorted []uint64) error {
	shift := 64 - s.p.bits
	for len(sorted) > 0 {
		group := sorted[0] >> shift
		n := sort.Search(len(sorted), func(i int) bool { return sorted[i]>>shift > group })
		for i := range sorted[:n] {
			sorted[i] &= 1<<shift - 1
		}
		s.value = appendBlock(s.value[:0], sorted[:n])
		sorted = sorted[n:]
		s.key = appendNumber(appendNumber(s.key[:0], uint64(table), 1), group, s.p.groupDigits())
		if err := s.t.send(s.t.partition(uint64(table)<<32|group), s.key, s.value); err != nil {
			return err
		}
	}
	return nil
}

func (p *pairing) groupDigits() int { return int(p.bits+5) / 6 }

func (p *pairing) parseKey(key []byte) (table int, group uint64, err error) {
	k := readKey(key)
	table, group = int(k.number(1)), k.number(p.groupDigits())
	if k.err("", 0) != nil || table >= len(p.perms) || group>>p.bits != 0 {
		err = fmt.Errorf("%.40q is no group of %d tables and %d bits: the maps had another design", key, len(p.perms),
			p.bits)
	}
	return table, group, err
}

func (j Pairs) reduce(ctx context.Context, t *task) error {
	p, err := j.pairing()
	if err != nil {
		return err
	}
	g := &joiner{t: t, p: p}
	err = t.sorted(ctx, func(key, value []byte) error {
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

// A joiner joins one group after the other.
type joiner struct {
	t          *task
	p          *pairing
	key        []byte
	rest       []uint64 // the group's fingerprints as blocks have them
	distinct   []uint64
	from, rows []byte // of a result
}

// joinBytes is the memory of a fingerprint of a group: in rest while that grows, in distinct, and
// in the join.
const joinBytes = 16 + 8 + 16

func (g *joiner) add(block []byte) (err error) {
	before := len(g.rest)
	if g.rest, err = parseBlock(g.rest, block); err != nil {
		return err
	}
	g.t.counters.add(fingerprints, int64(len(g.rest)-before))
	return g.t.Budget.Check(g.what(), joinBytes*uint64(len(g.rest)))
}

// what names the group in messages.
func (g *joiner) what() string {
	return fmt.Sprintf("joining the %d fingerprints of key %s", len(g.rest), g.key)
}

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

// bruteMax is the size of the largest group whose fingerprints are compared directly.
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
	g.from = appendPrint(g.from[:0], a)
	g.rows = strconv.AppendInt(append(appendPrint(g.rows[:0], b), ' '), int64(bits.OnesCount64(a^b)), 10)
	return g.t.result(g.from, g.rows)
}
