package dedup

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"ndd/engine/near/cluster"
	"ndd/engine/near/shingle"
)

// A group is a kept document and the documents that are dropped for it.
type group struct {
	kept    Row
	members []member // including the kept one
}

// A member is a row of a group with its likeness to the one kept.
type member struct {
	row  Row
	like Likeness
}

// A setOf returns the set of shingles of a document, in buf if it has to be read. Many goroutines may call it,
// each with buffers of its own.
type setOf func(row Row, buf *[]uint64) []uint64

// A settler chooses the kept documents of a cluster, whose near pairs may chain. It belongs to one goroutine.
//
// Documents are taken in order of preference. Each is compared with the documents kept so far that are within k of it,
// the nearest first. It is dropped for the first one that the rule allows, and kept if the rule allows none. So
//
//   - a dropped document is within k of the one kept for it, is preferred less, and was compared with it;
//   - if two kept documents are within k of each other, the rule does not allow to drop the less preferred one.
//
// Protected documents come first and are always kept.
//
// Exactly one choice has both properties: the documents before each one are known to be kept or not, and that decides.
//
// Many goroutines compare a part of the documents with those kept before the part. Then they are compared one by one
// with those kept since.
type settler struct {
	corpus *Corpus
	o      Options // with Chains all kept documents are compared, in order, at any distance
	prefer func(a, b int) int
	set    setOf
	bufs   shingle.Buffers
	tuning

	rows     []Row // rows of the cluster, by preference
	choices  []choice
	reps     cluster.Representatives
	kept     []Row    // rows of reps
	sketches sketches // their sketches

	own     sketches // sketches of a part
	scratch sync.Pool

	rare     *rareIndex // nil until it saves time
	compared atomic.Int64
}

// A tuning says how documents are compared.
type tuning struct {
	threads  int
	part     int // documents that a goroutine compares at a time
	patience int // comparisons for each document left until there is an index of rare shingles
	rareFrom int // documents left from which on there may be one
}

// A scratch is memory of a goroutine that compares documents.
type scratch struct {
	rareOrder
	near []uint64
}

// newSettler returns a settler that compares documents by a number of goroutines.
func newSettler(c *Corpus, o Options, threads int, prefer func(a, b int) int, set setOf) *settler {
	s := &settler{corpus: c, o: o, prefer: prefer, set: set,
		tuning: tuning{threads, settlePart, rarePatience, rareFrom}}
	s.scratch.New = func() any { return new(scratch) }
	return s
}

// A choice is the kept document for which a document is dropped: its number and distance, as
// [cluster.Representatives.Near] returns them, or none.
type choice struct {
	near uint64
	like Likeness
}

// none is the near of a document that is not dropped.
const none = math.MaxUint64

const (
	settlePart  = 64       // documents that a goroutine compares at a time
	settleLarge = 1024     // documents of a cluster from which on all goroutines solve it
	settleBytes = 32 << 20 // that tables of kept documents may take, as cluster.Options.StarBytes
)

// settle returns the groups of a cluster that have two documents or more.
func (s *settler) settle(ctx context.Context, rows []Row) ([]group, error) {
	s.rows = append(s.rows[:0], rows...)
	if s.prefer != nil {
		slices.SortStableFunc(s.rows, func(a, b Row) int { return s.prefer(int(a), int(b)) })
	}
	s.reps.Reset(s.o.K, settleBytes)
	s.kept, s.choices = s.kept[:0], slices.Grow(s.choices[:0], len(s.rows))[:len(s.rows)]
	for i := range s.choices {
		s.choices[i] = choice{near: none}
	}
	s.compared.Store(0)
	defer func() {
		if s.rare != nil {
			s.rare.arena.Free()
			s.rare = nil
		}
	}()
	if s.sketches.clear(); len(s.rows) >= sketchFrom {
		s.sketches.begin(s.set(s.rows[0], &s.bufs[0]))
	}
	sc := s.scratch.Get().(*scratch)
	defer s.scratch.Put(sc)
	for at := 0; at < len(s.rows); {
		n, err := s.look(ctx, at)
		if err != nil {
			return nil, err
		}
		before := len(s.kept)
		for i, row := range s.rows[at : at+n] {
			best, own := &s.choices[at+i], s.own.of(i)
			if len(s.kept) > before {
				sc.near = s.nearby(sc.near[:0], row, before)
				s.find(row, own, nil, best, sc, &s.bufs)
			}
			if best.near == none {
				*best = choice{uint64(len(s.kept)), same}
				s.reps.Add(s.corpus.print(row))
				s.kept = append(s.kept, row)
				s.sketches.add(own)
			}
		}
		at += n
		if err := s.listRare(ctx, at); err != nil {
			return nil, err
		}
	}
	return s.groups(), nil
}

// groups returns the groups of the choices that have two documents or more.
func (s *settler) groups() []group {
	sizes, n, members := make([]uint32, len(s.kept)), 0, 0
	for _, c := range s.choices {
		sizes[uint32(c.near)]++
	}
	for _, size := range sizes {
		if size > 1 {
			n, members = n+1, members+int(size)
		}
	}
	groups, all := make([]group, 0, n), make([]member, members)
	for i, size := range sizes {
		if size > 1 {
			sizes[i] = uint32(len(groups)) + 2 // larger than 1, as it was
			groups = append(groups, group{s.kept[i], all[:0:size]})
			all = all[size:]
		}
	}
	for i, c := range s.choices {
		if at := sizes[uint32(c.near)]; at > 1 {
			g := &groups[at-2]
			g.members = append(g.members, member{s.rows[i], c.like})
		}
	}
	for _, g := range groups {
		slices.SortFunc(g.members, func(a, b member) int { return cmp.Compare(a.row, b.row) })
	}
	return groups
}

// look finds the choices of a part of the documents, from a number on, among those kept so far, and makes their
// sketches. It returns the number of documents.
func (s *settler) look(ctx context.Context, at int) (n int, err error) {
	rows := s.rows[at:min(at+s.part*s.threads, len(s.rows))]
	s.own.resize(s.sketches.words, len(rows))
	do := func(i int, bufs *shingle.Buffers) error {
		var set []uint64
		own := s.own.of(i)
		if own != nil || s.rare != nil {
			set = s.set(rows[i], &bufs[0])
		}
		if own != nil {
			sketch(own, set)
		}
		if len(s.kept) == 0 {
			return nil
		}
		sc := s.scratch.Get().(*scratch)
		defer s.scratch.Put(sc)
		from, ok := 0, false
		if sc.near = sc.near[:0]; s.rare != nil && !s.rare.isHopeless() {
			if sc.near, ok = s.rare.near(sc.near, &sc.rareOrder, set); ok {
				sc.near, from = s.within(sc.near, rows[i]), s.rare.to
			} else {
				sc.near, from = sc.near[:0], s.rare.from
				s.rare.failed.Add(1)
			}
			s.rare.tried.Add(1)
		} else if s.rare != nil {
			from = s.rare.from
		}
		sc.near = s.nearby(sc.near, rows[i], from)
		s.find(rows[i], own, set, &s.choices[at+i], sc, bufs)
		return nil
	}
	if s.threads > 1 {
		return len(rows), shingle.Each(ctx, s.threads, len(rows), do)
	}
	for i := range rows {
		do(i, &s.bufs)
	}
	return len(rows), ctx.Err()
}

// nearby appends the nears of the documents kept from a number on that a document is compared with.
func (s *settler) nearby(dst []uint64, row Row, from int) []uint64 {
	if !s.o.Chains {
		return s.reps.Near(dst, s.corpus.print(row), from)
	}
	for i := from; i < len(s.kept); i++ {
		dst = append(dst, uint64(i))
	}
	return dst
}

// within replaces numbers of kept documents by their nears, and removes documents farther than k.
func (s *settler) within(numbers []uint64, row Row) []uint64 {
	if s.o.Chains {
		return numbers
	}
	left, print := numbers[:0], s.corpus.print(row)
	for _, n := range numbers {
		if d := bits.OnesCount64(print ^ s.reps.At(int(n))); d <= s.o.K {
			left = append(left, uint64(d)<<32|n)
		}
	}
	return left
}

// find replaces best by a better choice among the near documents of sc, if one is better. A set that is nil is read.
func (s *settler) find(row Row, own, set []uint64, best *choice, sc *scratch, bufs *shingle.Buffers) {
	if s.corpus.sources.Protects(int(row)) {
		return
	}
	s.compared.Add(int64(len(sc.near)))
	rule, left := s.o.Verify.Rule, sc.near
	if own != nil {
		left = s.sketches.likely(rule, own, left, best.near)
	}
	slices.Sort(left)
	for _, n := range slices.Compact(left) {
		if n >= best.near {
			return
		}
		if set == nil {
			set = s.set(row, &bufs[0])
		}
		if like, ok := rule.Judge(set, s.set(s.kept[uint32(n)], &bufs[1])); ok {
			*best = choice{n, like}
			return
		}
	}
}

// listRare creates the lists of rare shingles if they save time for the documents from a number on, and lists the
// documents kept since.
func (s *settler) listRare(ctx context.Context, at int) (err error) {
	x, rule, left := s.rare, s.o.Verify.Rule, s.rows[at:]
	if x == nil {
		if len(left) < max(s.rareFrom, 1) || s.compared.Load() < int64(s.patience*len(left)) || len(rule) == 0 {
			return nil
		}
		if x, err = newRareIndex(rule, len(left)); err != nil {
			return err
		}
		s.rare = x
		if err := s.countRare(ctx, left); err != nil {
			return err
		}
	}
	var o rareOrder
	for x.to < len(s.kept) {
		if x.add(&o, s.set(s.kept[x.to], &s.bufs[0])) {
			continue
		}
		for from := at; from < len(s.rows); {
			n, err := s.look(ctx, from)
			if err != nil {
				return err
			}
			from += n
		}
		x.restart(len(s.kept))
	}
	return nil
}

// countRare counts the shingles of a sample of documents, and marks those by which all of them are looked up.
func (s *settler) countRare(ctx context.Context, rows []Row) error {
	step := 1 + len(rows)/rareSample
	if err := shingle.Each(ctx, s.threads, len(rows)/step, func(i int, bufs *shingle.Buffers) error {
		s.rare.count(s.set(rows[i*step], &bufs[0]))
		return nil
	}); err != nil {
		return err
	}
	return shingle.Each(ctx, s.threads, len(rows), func(i int, bufs *shingle.Buffers) error {
		sc := s.scratch.Get().(*scratch)
		defer s.scratch.Put(sc)
		s.rare.mark(&sc.rareOrder, s.set(rows[i], &bufs[0]))
		return nil
	})
}
