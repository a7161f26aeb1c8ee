package dedup

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"ndd/engine/near/cluster"
	"ndd/engine/near/shingle"
)

// A group is a document that is kept and those that go for it.
type group struct {
	kept    Row
	members []member // with the one that is kept
}

// A member is a row of a group with its likeness to the one kept.
type member struct {
	row  Row
	like Likeness
}

// A setOf returns the set of shingles of a document, in buf if it has to be read: then it is
// overwritten when buf is used again. Many goroutines may call it, each with a buffer of its own.
type setOf func(row Row, buf []uint64) (set, newBuf []uint64, err error)

// A settler chooses the kept documents of a cluster, whose near pairs may chain. It
// belongs to one goroutine.
//
// Documents are taken in order of preference. Each is compared with the documents kept so far that
// are within k of it, the nearest first, and goes for the first that the rule lets it go for; if
// there is none, it is kept. So
//
//   - a dropped document is within k of the one kept for it, is preferred less, and was compared with it;
//   - of two kept documents that are within k, neither may go for the one preferred.
//
// Protected documents come first and are kept whatever they are near.
//
// There is exactly one choice for which both hold: of the documents before it, each is known to be
// kept or not, and that decides.
//
// Documents are compared a part at a time with those kept before the part, by many goroutines, and
// then one by one with those kept since.
type settler struct {
	k       int
	chains  bool // all that are kept are compared, in order, whatever their distances
	threads int
	prefer  func(a, b int) int
	print   func(Row) uint64
	rule    Rule
	safe    bitmap // rows that are kept whatever they are near
	set     setOf
	bufs    *[2][]uint64

	rows     []Row // of the cluster, by preference
	choices  []choice
	reps     cluster.Representatives
	kept     []Row    // rows of reps
	sketches sketches // of them

	best []choice // of a part, among those kept before it
	own  sketches // of the part
	near []uint64
}

// A choice is what a document goes for: the number of a kept document under its distance, as
// [cluster.Representatives.Near] returns them, or none.
type choice struct {
	near uint64
	like Likeness
}

// none is the near of a document that goes for none.
const none = math.MaxUint64

const (
	settlePart  = 64       // documents that a goroutine compares at a time
	settleLarge = 1024     // documents of a cluster from which on all goroutines solve it
	settleBytes = 32 << 20 // that tables of kept documents may take, as cluster.Options.StarBytes
)

// settle returns the groups of some clusters: of small ones each goroutine solves one at a time, and
// large ones are solved by all.
func (r *Result) settle(ctx context.Context, clusters []Cluster, o Options, prefer func(a, b int) int, set setOf) (
	[]group, error) {
	groups := make([][]group, len(clusters))
	var idle sync.Pool // of settlers of small clusters
	err := shingle.Each(ctx, o.Threads, len(clusters), func(i int, bufs *[2][]uint64) (err error) {
		if len(clusters[i].Rows) >= settleLarge {
			return nil
		}
		s, ok := idle.Get().(*settler)
		if !ok {
			s = &settler{k: o.K, chains: o.Chains, threads: 1, prefer: prefer, print: r.corpus.print,
				rule: o.Verify.Rule, safe: r.corpus.sources.safe, set: set}
		}
		s.bufs = bufs
		groups[i], err = s.settle(ctx, clusters[i])
		idle.Put(s)
		return err
	})
	s := &settler{k: o.K, chains: o.Chains, threads: threads(o), prefer: prefer, print: r.corpus.print,
		rule: o.Verify.Rule, safe: r.corpus.sources.safe, set: set, bufs: new([2][]uint64)}
	for i, c := range clusters {
		if err == nil && len(c.Rows) >= settleLarge {
			groups[i], err = s.settle(ctx, c)
		}
	}
	return slices.Concat(groups...), err
}

// settle returns the groups of a cluster that have two documents or more.
func (s *settler) settle(ctx context.Context, c Cluster) ([]group, error) {
	s.rows = append(s.rows[:0], c.Rows...)
	if s.prefer != nil {
		slices.SortStableFunc(s.rows, func(a, b Row) int { return s.prefer(int(a), int(b)) })
	}
	s.reps.Reset(s.k, settleBytes)
	s.kept, s.choices = s.kept[:0], s.choices[:0]
	if err := s.beginSketches(); err != nil {
		return nil, err
	}
	for rest := s.rows; len(rest) > 0; {
		part := rest[:min(len(rest), settlePart*s.threads)]
		if err := s.look(ctx, part); err != nil {
			return nil, err
		}
		before := len(s.kept)
		for i, row := range part {
			best, own := s.best[i], s.own.of(i)
			if len(s.kept) > before {
				if err := s.find(row, own, nil, before, &best, &s.near, s.bufs); err != nil {
					return nil, err
				}
			}
			if best.near == none {
				best = choice{uint64(len(s.kept)), same}
				s.reps.Add(s.print(row))
				s.kept = append(s.kept, row)
				s.sketches.all = append(s.sketches.all, own...)
			}
			s.choices = append(s.choices, best)
		}
		rest = rest[len(part):]
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

// look finds the choice of each of some documents among those kept so far, and makes their sketches.
func (s *settler) look(ctx context.Context, rows []Row) error {
	s.best = slices.Grow(s.best[:0], len(rows))[:len(rows)]
	s.own.resize(s.sketches.words, len(rows))
	do := func(i int, near *[]uint64, bufs *[2][]uint64) (err error) {
		s.best[i] = choice{near: none}
		var set []uint64
		own := s.own.of(i)
		if own != nil {
			if set, bufs[0], err = s.set(rows[i], bufs[0]); err != nil {
				return err
			}
			sketch(own, set)
		}
		if len(s.kept) == 0 {
			return nil
		}
		return s.find(rows[i], own, set, 0, &s.best[i], near, bufs)
	}
	if s.threads > 1 {
		return shingle.Each(ctx, s.threads, len(rows), func(i int, bufs *[2][]uint64) error {
			var near []uint64
			return do(i, &near, bufs)
		})
	}
	for i := range rows {
		if err := do(i, &s.near, s.bufs); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// find replaces best by a better choice among the documents kept from a number on, if there is one.
// set is read if it is nil.
func (s *settler) find(row Row, own, set []uint64, from int, best *choice, near *[]uint64, bufs *[2][]uint64) (err error) {
	if s.safe.has(int(row)) {
		return nil
	}
	if *near = (*near)[:0]; s.chains {
		for i := from; i < len(s.kept); i++ {
			*near = append(*near, uint64(i))
		}
	} else {
		*near = s.reps.Near(*near, s.print(row), from)
	}
	left := (*near)[:0]
	for _, n := range *near {
		if n < best.near && (own == nil || s.sketches.may(s.rule, own, int(uint32(n)))) {
			left = append(left, n)
		}
	}
	slices.Sort(left)
	for _, n := range slices.Compact(left) {
		if set == nil {
			if set, bufs[0], err = s.set(row, bufs[0]); err != nil {
				return err
			}
		}
		var other []uint64
		if other, bufs[1], err = s.set(s.kept[uint32(n)], bufs[1]); err != nil {
			return err
		}
		if like, ok := s.rule.Judge(set, other); ok {
			*best = choice{n, like}
			return nil
		}
	}
	return nil
}

func threads(o Options) int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}
