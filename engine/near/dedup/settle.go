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

// A judge compares the texts of a document and of one that is kept, and reports whether the
// document may go. Many goroutines may call it, each with buffers of its own.
type judge func(dropped, kept Row, bufs *[2][]uint64) (Likeness, bool, error)

// A settler chooses what is kept of the documents of a cluster, whose near pairs may chain. It
// belongs to one goroutine.
//
// Documents are taken in order of preference. Each is compared with the documents kept so far that
// are within k of it, the nearest first, and goes for the first that the judge lets it go for; if
// there is none, it is kept. So
//
//   - whatever goes is within k of what is kept for it, is preferred less, and has been compared with it;
//   - of two kept documents that are within k, neither may go for the one preferred.
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
	judge   judge
	bufs    *[2][]uint64

	reps cluster.Representatives
	kept []Row    // rows of reps
	best []choice // of a part
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
func (r *Result) settle(ctx context.Context, clusters []Cluster, o Options, prefer func(a, b int) int, j judge) (
	[]group, error) {
	groups := make([][]group, len(clusters))
	var idle sync.Pool // of settlers of small clusters
	err := shingle.Each(ctx, o.Threads, len(clusters), func(i int, bufs *[2][]uint64) (err error) {
		if len(clusters[i].Rows) >= settleLarge {
			return nil
		}
		s, ok := idle.Get().(*settler)
		if !ok {
			s = &settler{k: o.K, chains: o.Chains, threads: 1, prefer: prefer, print: r.corpus.print, judge: j}
		}
		s.bufs = bufs
		groups[i], err = s.settle(ctx, clusters[i])
		idle.Put(s)
		return err
	})
	s := &settler{k: o.K, chains: o.Chains, threads: threads(o), prefer: prefer, print: r.corpus.print, judge: j,
		bufs: new([2][]uint64)}
	for i, c := range clusters {
		if err == nil && len(c.Rows) >= settleLarge {
			groups[i], err = s.settle(ctx, c)
		}
	}
	return slices.Concat(groups...), err
}

// settle returns the groups of a cluster, those of one document, too.
func (s *settler) settle(ctx context.Context, c Cluster) ([]group, error) {
	rows := slices.Clone(c.Rows)
	if s.prefer != nil {
		slices.SortStableFunc(rows, func(a, b Row) int { return s.prefer(int(a), int(b)) })
	}
	s.reps.Reset(s.k, settleBytes)
	s.kept = s.kept[:0]
	var groups []group
	for len(rows) > 0 {
		part := rows[:min(len(rows), settlePart*s.threads)]
		if err := s.look(ctx, part); err != nil {
			return nil, err
		}
		before := len(s.kept)
		for i, row := range part {
			best := s.best[i]
			if len(s.kept) > before {
				if err := s.find(row, before, &best, &s.near, s.bufs); err != nil {
					return nil, err
				}
			}
			if best.near == none {
				best = choice{uint64(len(groups)), same}
				groups = append(groups, group{kept: row})
				s.reps.Add(s.print(row))
				s.kept = append(s.kept, row)
			}
			g := &groups[uint32(best.near)]
			g.members = append(g.members, member{row, best.like})
		}
		rows = rows[len(part):]
	}
	for _, g := range groups {
		slices.SortFunc(g.members, func(a, b member) int { return cmp.Compare(a.row, b.row) })
	}
	return groups, nil
}

// look finds the choice of each of some documents among those kept so far.
func (s *settler) look(ctx context.Context, rows []Row) error {
	s.best = slices.Grow(s.best[:0], len(rows))[:len(rows)]
	for i := range s.best {
		s.best[i] = choice{near: none}
	}
	if len(s.kept) == 0 {
		return ctx.Err()
	}
	if s.threads == 1 {
		for i := range rows {
			if err := s.find(rows[i], 0, &s.best[i], &s.near, s.bufs); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	return shingle.Each(ctx, s.threads, len(rows), func(i int, bufs *[2][]uint64) error {
		var near []uint64
		return s.find(rows[i], 0, &s.best[i], &near, bufs)
	})
}

// find replaces best by a better choice among the documents kept from a number on, if there is one.
func (s *settler) find(row Row, from int, best *choice, near *[]uint64, bufs *[2][]uint64) error {
	if *near = (*near)[:0]; s.chains {
		for i := from; i < len(s.kept); i++ {
			*near = append(*near, uint64(i))
		}
	} else {
		*near = s.reps.Near(*near, s.print(row), from)
	}
	for _, n := range *near {
		if n >= best.near {
			break
		}
		like, ok, err := s.judge(row, s.kept[uint32(n)], bufs)
		if err != nil {
			return err
		}
		if ok {
			*best = choice{n, like}
			break
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
