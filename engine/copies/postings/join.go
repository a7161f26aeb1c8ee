package postings

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// A Pair is two documents that are alike, A < B in order of [Builder.Add].
type Pair struct {
	A, B         uint32
	SizeA, SizeB int // signatures
	Shared       int
}

// A Report says what a join did and what it left out.
type Report struct {
	Empty      int    // documents without signatures, which are in no pair
	Equal      int    // documents whose set another one had before
	Unlisted   int    // of these, those in groups of more than Options.MaxEqual: each is in one pair, with the first of its group
	Candidates uint64 // pairs that were verified
	Pairs      int

	// Frequent is how many documents had signatures among their rarest that are in more than Options.MaxDocuments documents: pairs of
	// these may be missing that share none but such signatures.
	Frequent int
}

// chunk is how many documents a goroutine takes at a time.
const chunk = 256

// Join returns all pairs of documents that are at least as similar as o says, ordered by A and B; of more equal documents
// than o.MaxEqual each with the first of them alone. The same index and options give the same pairs whatever the threads. The error is of
// ctx, or names the option that is out of range.
func (x *Index) Join(ctx context.Context, o Options) ([]Pair, Report, error) {
	if err := o.check(); err != nil {
		return nil, Report{}, err
	}
	if o.MaxDocuments == 0 {
		o.MaxDocuments = defaultMaxDocuments
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	joins := make([]*join, o.Threads)
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for i := range joins {
		j := &join{index: x, o: &o, seen: make([]uint32, len(x.docs))}
		joins[i] = j
		g.Go(func() error {
			for ctx.Err() == nil {
				from := int(next.Add(chunk)) - chunk
				if from >= len(x.docs) {
					return nil
				}
				for rank := from; rank < min(from+chunk, len(x.docs)); rank++ {
					j.document(rank)
				}
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, Report{}, err
	}
	report := Report{Empty: x.empty}
	var pairs []Pair
	for _, j := range joins {
		pairs = append(pairs, j.pairs...)
		report.Candidates += j.candidates
		report.Frequent += j.frequent
	}
	pairs = x.expand(pairs, cmp.Or(o.MaxEqual, defaultMaxEqual), &report)
	slices.SortFunc(pairs, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	report.Pairs = len(pairs)
	return pairs, report, nil
}

// expand puts the documents of a group of equal ones where its first stands, and adds the pairs of each group.
func (x *Index) expand(pairs []Pair, most int, r *Report) []Pair {
	if len(x.equal) == 0 {
		return pairs
	}
	members := make(map[uint32][]uint32, len(x.equal)) // by first document: those to list
	for _, group := range x.equal {
		members[group[0]] = group
		r.Equal += len(group) - 1
		if len(group) > most {
			members[group[0]] = group[:1]
			r.Unlisted += len(group) - 1
		}
	}
	all := func(doc uint32) []uint32 {
		if group := members[doc]; group != nil {
			return group
		}
		return []uint32{doc}
	}
	expanded := make([]Pair, 0, len(pairs))
	for _, p := range pairs {
		for _, a := range all(p.A) {
			for _, b := range all(p.B) {
				expanded = append(expanded, Pair{a, b, p.SizeA, p.SizeB, p.Shared}.ordered())
			}
		}
	}
	for rank, doc := range x.docs {
		if members[doc] != nil {
			expanded = x.appendGroup(expanded, members[doc], int(x.sizes[rank]))
		}
	}
	return expanded
}

// appendGroup appends the pairs of the group whose documents to list are members: all of these, or the first with each.
func (x *Index) appendGroup(pairs []Pair, members []uint32, size int) []Pair {
	if len(members) == 1 {
		i := slices.IndexFunc(x.equal, func(g []uint32) bool { return g[0] == members[0] })
		for _, doc := range x.equal[i][1:] {
			pairs = append(pairs, Pair{members[0], doc, size, size, size})
		}
		return pairs
	}
	for i, a := range members {
		for _, b := range members[i+1:] {
			pairs = append(pairs, Pair{a, b, size, size, size})
		}
	}
	return pairs
}

// ordered returns the pair with the lower document first.
func (p Pair) ordered() Pair {
	if p.A > p.B {
		return Pair{p.B, p.A, p.SizeB, p.SizeA, p.Shared}
	}
	return p
}

// join is what one goroutine does of a join.
type join struct {
	index      *Index
	o          *Options
	seen       []uint32 // by rank: the last document, by rank + 1, that it was a candidate of
	pairs      []Pair
	candidates uint64
	frequent   int
}

// document finds what is at least as large as a document and similar to it.
func (j *join) document(rank int) {
	x := j.index
	size := int(x.sizes[rank])
	set := x.sets.at(rank)
	single := size - len(set) // signatures of no other document: the rarest of all
	prefix := size - j.o.least(size) + 1 - single
	if prefix <= 0 {
		return
	}
	largest := j.o.largest(size)
	frequent := false
	for _, number := range set[:min(prefix, len(set))] {
		list := x.lists.at(int(number))
		if len(list) > j.o.MaxDocuments {
			frequent = true // and so are all that follow
			break
		}
		from, _ := slices.BinarySearch(list, uint32(rank)+1)
		for _, other := range list[from:] {
			if int(x.sizes[other]) > largest {
				break
			}
			if j.seen[other] != uint32(rank)+1 {
				j.seen[other] = uint32(rank) + 1
				j.verify(rank, int(other))
			}
		}
	}
	if frequent {
		j.frequent++
	}
}

// verify counts what two documents share, and keeps the pair if that is enough.
func (j *join) verify(a, b int) {
	x := j.index
	j.candidates++
	sizeA, sizeB := int(x.sizes[a]), int(x.sizes[b])
	need := j.o.needed(sizeA, sizeB)
	shared := sharedAtLeast(x.sets.at(a), x.sets.at(b), need)
	if shared < need {
		return
	}
	j.pairs = append(j.pairs, Pair{x.docs[a], x.docs[b], sizeA, sizeB, shared}.ordered())
}

// sharedAtLeast counts what two ascending lists share; once that cannot be need any more, it ends with less.
func sharedAtLeast(a, b []uint32, need int) (n int) {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		if n+min(len(a)-i, len(b)-k) < need {
			return 0
		}
		switch u, v := a[i], b[k]; {
		case u == v:
			n++
			i++
			k++
		case u < v:
			i++
		default:
			k++
		}
	}
	return n
}
