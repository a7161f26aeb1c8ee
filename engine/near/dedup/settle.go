package dedup

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/near/cluster"
	"example.org/ndd/engine/near/shingle"
)

// A group is a kept document and the documents that are dropped for it.
type group struct {
	kept    Row
	members []member // including the kept one
}

// A member is a row of a group with its likeness to the one kept.
type member struct {
	row      Row
	likeness Likeness
}

// A judge compares a document with a kept one, and reports whether the document may be dropped for it. Many goroutines
// may call it, each with its own buffers.
type judge func(row, kept Row, bufs *shingle.Buffers) (Likeness, bool)

// A settler chooses the kept documents of a cluster, whose near pairs may chain. It belongs to one goroutine.
//
// It compares the documents in order of preference. Each is compared with the documents kept so far within k of it. It
// is dropped for the nearest one that is alike, and kept if none is alike. So
//
//   - a dropped document is within k of the document kept for it, is less preferred, and was compared with it;
//   - if two kept documents are within k of each other, they are not alike.
//
// Protected documents come first and are always kept.
//
// Only one choice has both properties, because the choices of the preferred documents determine the choice of each
// document.
//
// First, many goroutines compare a part of the documents with the documents kept before the part. Then one goroutine
// compares each document of the part with the documents kept since.
type settler struct {
	corpus  *Corpus
	o       Options
	prefer  func(a, b int) int
	judge   judge    // nil means that sketches are compared
	set     setOf    // nil if the judge compares no sets of shingles
	self    Likeness // likeness of a kept document to itself
	threads int
	part    int // number of documents that a goroutine compares at a time

	rows     []Row // rows of the cluster, by preference
	choices  []choice
	reps     cluster.Representatives
	kept     []Row       // rows of reps
	sketches sketch.List // sketches of kept
	parities parities    // parities of kept, if sets are compared

	sizes   []uint32 // size of the group of each kept document, then the index of the group in list + 2
	list    []group
	members []member // members of all groups of list, one group after the other

	own       scratch
	scratches sync.Pool // scratches of other goroutines
}

// A scratch holds the buffers of a goroutine that compares documents.
type scratch struct {
	query      sketch.Query
	hits       cluster.Hits
	neighbours []uint64
	bufs       shingle.Buffers
	room       parityRoom
}

// A choice is the kept document for which a document is dropped, or none.
type choice struct {
	neighbour uint64 // distance of the kept document, and its number in the lower 32 bits
	likeness  Likeness
}

// none is the neighbour of a choice that drops nothing.
const none = math.MaxUint64

const (
	settlePart  = 64       // number of documents that a goroutine compares at a time
	settleLarge = 1024     // number of documents in a cluster from which all goroutines settle it together
	settleBytes = 32 << 20 // memory limit for tables of kept documents
)

// settle returns the groups of a cluster that have at least two documents. They are valid until the next call.
func (s *settler) settle(ctx context.Context, rows []Row) ([]group, error) {
	s.rows = append(s.rows[:0], rows...)
	if s.prefer != nil {
		slices.SortStableFunc(s.rows, func(a, b Row) int { return s.prefer(int(a), int(b)) })
	}
	s.reps.Reset(s.o.K, settleBytes)
	s.sketches.Reset(s.o.Rule.threshold())
	s.parities.reset(0)
	if s.set != nil && len(rows) >= parityFrom {
		s.parities.reset(max(len(s.set(s.rows[0], &s.own.bufs[0])), 1))
	}
	s.kept, s.choices = s.kept[:0], slices.Grow(s.choices[:0], len(s.rows))[:len(s.rows)]
	for i := range s.choices {
		s.choices[i] = choice{neighbour: none}
	}
	for start := 0; start < len(s.rows); {
		part := s.rows[start:min(start+s.part*s.threads, len(s.rows))]
		choices, before := s.choices[start:start+len(part)], len(s.kept)
		if err := s.look(ctx, part, choices); err != nil {
			return nil, err
		}
		for i, row := range part {
			if s.find(row, before, &choices[i], &s.own); choices[i].neighbour == none {
				choices[i] = choice{uint64(len(s.kept)), s.self}
				s.keep(row)
			}
		}
		start += len(part)
	}
	return s.groups(), nil
}

// keep adds a kept document.
func (s *settler) keep(row Row) {
	s.reps.Add(s.corpus.fingerprint(row))
	s.kept = append(s.kept, row)
	switch {
	case s.judge == nil:
		s.sketches.Append(s.corpus.sketch(row))
	case s.parities.words > 0:
		s.parities.keep(s.set(row, &s.own.bufs[0]))
	}
}

// groups returns the groups of the choices that have at least two documents. They are valid until the next call.
func (s *settler) groups() []group {
	// Count the documents of each kept document.
	s.sizes = slices.Grow(s.sizes[:0], len(s.kept))[:len(s.kept)]
	clear(s.sizes)
	sizes, n, members := s.sizes, 0, 0
	for _, c := range s.choices {
		sizes[uint32(c.neighbour)]++
	}
	for _, size := range sizes {
		if size > 1 {
			n, members = n+1, members+int(size)
		}
	}
	// Make the groups, all in one slice of members.
	s.members = slices.Grow(s.members[:0], members)[:members]
	groups, all := slices.Grow(s.list[:0], n), s.members
	for i, size := range sizes {
		if size > 1 {
			sizes[i] = uint32(len(groups)) + 2 // remains larger than 1
			groups = append(groups, group{s.kept[i], all[:0:size]})
			all = all[size:]
		}
	}
	// Put each document into its group.
	for i, c := range s.choices {
		if size := sizes[uint32(c.neighbour)]; size > 1 {
			g := &groups[size-2]
			g.members = append(g.members, member{s.rows[i], c.likeness})
		}
	}
	// Members are in order of preference, so sort them by row.
	s.list = groups
	for _, g := range groups {
		slices.SortFunc(g.members, func(a, b member) int { return cmp.Compare(a.row, b.row) })
	}
	return groups
}

// look finds the choices of some documents among the documents kept so far.
func (s *settler) look(ctx context.Context, part []Row, choices []choice) error {
	if len(s.kept) == 0 {
		return ctx.Err()
	}
	if s.threads == 1 {
		for i, row := range part {
			s.find(row, 0, &choices[i], &s.own)
		}
		return ctx.Err()
	}
	return shingle.Each(ctx, s.threads, len(part), func(i int, _ *shingle.Buffers) error {
		sc, ok := s.scratches.Get().(*scratch)
		if !ok {
			sc = new(scratch)
		}
		s.find(part[i], 0, &choices[i], sc)
		s.scratches.Put(sc)
		return nil
	})
}

// find replaces best if one of the kept documents is a better choice. It starts at the kept document with
// number from.
func (s *settler) find(row Row, from int, best *choice, sc *scratch) {
	if from == len(s.kept) || s.corpus.sources.Protects(int(row)) {
		return
	}
	if s.judge != nil {
		s.judgeNear(row, from, best, sc)
		return
	}
	rowSketch, lowest := s.corpus.sketch(row), uint64(none)
	sc.query.Begin(&s.sketches, rowSketch)
	for first, numbers := range s.reps.Near(&sc.hits, s.corpus.fingerprint(row), from) {
		for _, n := range sc.query.Similar(first, numbers) {
			lowest = min(lowest, s.neighbour(row, uint32(first)+n))
		}
	}
	if lowest < best.neighbour {
		*best = choice{lowest, estimate(rowSketch, s.sketches.At(uint32(lowest)))}
	}
}

// judgeNear is find for a judge. It begins with the nearest document.
func (s *settler) judgeNear(row Row, from int, best *choice, sc *scratch) {
	sc.neighbours = sc.neighbours[:0]
	for first, numbers := range s.reps.Near(&sc.hits, s.corpus.fingerprint(row), from) {
		for _, n := range numbers {
			if distance := s.neighbour(row, uint32(first)+n); distance < best.neighbour {
				sc.neighbours = append(sc.neighbours, distance)
			}
		}
	}
	if s.parities.words > 0 {
		sc.neighbours = s.parities.likely(s.o.Rule, s.set(row, &sc.bufs[0]), sc.neighbours, &sc.room)
	}
	slices.Sort(sc.neighbours)
	for _, neighbour := range sc.neighbours {
		if likeness, ok := s.judge(row, s.kept[uint32(neighbour)], &sc.bufs); ok {
			*best = choice{neighbour, likeness}
			return
		}
	}
}

// neighbour returns the value of choice.neighbour for a row and a kept document.
func (s *settler) neighbour(row Row, number uint32) uint64 {
	return uint64(bits.OnesCount64(s.corpus.fingerprint(row)^s.reps.At(int(number))))<<32 | uint64(number)
}

// estimate returns the likeness of two documents by their sketches. It is zero if one of the sketches is zero.
func estimate(a, b *sketch.Sketch) (l Likeness) {
	if !a.IsZero() && !b.IsZero() {
		jaccard, _ := sketch.Estimate(a, b)
		l.Jaccard = float32(jaccard)
	}
	return l
}
