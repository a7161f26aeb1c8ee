package dedup

import (
	"math/bits"
	"slices"
	"sort"
	"sync/atomic"

	"ndd/engine/memory"
)

// A rareIndex finds the kept documents of a cluster for which a document may be dropped, if very many are near, such as
// pages of one template that all stay. It lists kept documents by their rare shingles:
//
//	pages  | template template own1 | template template own2 | ...
//	lists  | own1: page 1 | own2: page 2 | ...                   no list is searched for the template's shingles
//
// The rule asks that a document of a shingles shares at least t of them with a kept one of b shingles. In any order of
// all shingles, the first common one is among the first a-t+1 of the one document and the first b-t+1 of the other.
// The order begins with shingles that are rare in a sample of the cluster. So a document is looked up by its own
// shingles, in short lists. Since t depends on b, each class of sizes has its lists. The sizes in a class differ by
// less than a sixteenth.
//
// Lists are chained in one table by a hash of shingle and class. An entry that has the same hash by chance is one more
// candidate and changes no result. When the postings are full, the remaining documents are compared with the listed
// ones, and the lists begin anew.
//
// Many goroutines may search it while nothing is added.
type rareIndex struct {
	rule    Rule
	counts  []uint32 // how often a sample has each shingle, by hash
	sought  []uint64 // bits: shingles that documents are looked up by, by hash
	arena   memory.Arena
	heads   []uint32 // first postings of the lists, from 1
	posts   []uint64 // the next posting of the list, from 1, in the upper half; a kept document's number
	used    int      // postings
	classes []int    // classes of sizes with documents
	from    int      // number of the first kept document that is listed
	to      int      // number of the first kept document after the listed ones

	tried, failed atomic.Int64 // searches, and those that found too many
}

const (
	rareSample   = 1 << 14  // documents
	rareCounts   = 1 << 18  // counters: a shingle of one document is mostly alone in its one
	rarePatience = 256      // comparisons for each document left, until an index costs less
	rareFrom     = 1 << 10  // documents left from which on there may be an index
	rarePosts    = 12       // postings for each document left
	rareMost     = 16 << 20 // postings
	rareTries    = 1 << 10  // searches, until the lists are not searched if half of them found too many
)

// isHopeless reports whether the lists are not worth their search: where documents share their shingles
// with many others, such as forms with a few values for each field.
func (x *rareIndex) isHopeless() bool {
	return x.failed.Load() > max(rareTries, x.tried.Load())/2
}

// newRareIndex returns an empty index for a number of documents.
func newRareIndex(rule Rule, left int) (x *rareIndex, err error) {
	posts := min(rarePosts*left, rareMost)
	x = &rareIndex{rule: rule, counts: make([]uint32, min(rareCounts, 64<<bits.Len(uint(left)))),
		sought: make([]uint64, 1<<bits.Len(uint(left)))}
	x.posts = memory.In[uint64](&x.arena, posts, &err)
	x.heads = memory.In[uint32](&x.arena, 1<<(bits.Len(uint(posts))-1), &err)
	return x, err
}

// counters returns the two counters of a shingle.
func (x *rareIndex) counters(s uint64) (a, b *uint32) {
	return &x.counts[s&uint64(len(x.counts)-1)], &x.counts[s>>32&uint64(len(x.counts)-1)]
}

// level returns the power of two of how often a shingle is in the sample.
func (x *rareIndex) level(s uint64) int {
	a, b := x.counters(s)
	return bits.Len32(min(*a, *b))
}

// A rareOrder orders the shingles of documents. It belongs to one goroutine.
type rareOrder struct {
	levels [33]int
	order  []uint64
}

// sort returns the shingles of a set in the order of all: by the powers of two of their counts, and
// by their hashes.
func (x *rareIndex) sort(o *rareOrder, set []uint64) []uint64 {
	o.order = slices.Grow(o.order[:0], len(set))[:len(set)]
	o.levels = [33]int{}
	for _, s := range set {
		o.levels[x.level(s)]++
	}
	end := 0
	for i, n := range o.levels {
		o.levels[i], end = end, end+n
	}
	for _, s := range set {
		at := &o.levels[x.level(s)]
		o.order[*at] = s
		*at++
	}
	return o.order
}

// first returns how many of its first shingles a document is looked up by among kept documents of at
// least a size; ok is false if one may be found by none.
func (x *rareIndex) first(size, least int) (n int, ok bool) {
	common := sort.Search(size+1, func(both int) bool {
		_, ok := x.rule.judge(both, size, max(least, both))
		return ok
	})
	return size + 1 - common, common > 0
}

// listed returns how many of its first shingles a kept document is listed by.
func (x *rareIndex) listed(size int) int {
	return size + 1 - sort.Search(size+1, func(both int) bool {
		_, ok := x.rule.judge(both, both, size)
		return both > 0 && ok
	})
}

func classOf(size int) int {
	n := max(bits.Len(uint(size))-5, 0)
	return n<<4 + size>>n
}

// leastOf returns the smallest size of a class.
func leastOf(class int) int {
	n := max(class>>4-1, 0)
	return (class - n<<4) << n
}

func (x *rareIndex) list(s uint64, class int) *uint32 {
	h := (s ^ uint64(class)<<48) * 0x9e3779b97f4a7c15
	return &x.heads[h>>32&uint64(len(x.heads)-1)]
}

// bit returns the word of sought for a shingle, and its bit.
func (x *rareIndex) bit(s uint64) (word *uint64, bit uint64) {
	h := s * 0x9e3779b97f4a7c15
	return &x.sought[h>>32&uint64(len(x.sought)-1)], 1 << (h >> 26 & 63)
}

// add lists the next kept document; ok is false if there is no room for it.
func (x *rareIndex) add(o *rareOrder, set []uint64) (ok bool) {
	class := classOf(len(set))
	for _, s := range x.sort(o, set)[:x.listed(len(set))] {
		word, bit := x.bit(s)
		if *word&bit == 0 {
			continue
		}
		if x.used == len(x.posts) {
			return false
		}
		head := x.list(s, class)
		x.posts[x.used] = uint64(*head)<<32 | uint64(x.to)
		x.used++
		*head = uint32(x.used)
	}
	if at, has := slices.BinarySearch(x.classes, class); !has {
		x.classes = slices.Insert(x.classes, at, class)
	}
	x.to++
	return true
}

// near appends the numbers of the listed documents for which the document of a set may be dropped. Some are there
// several times, and other documents, too. ok is false if there are too many, or if some may not be listed.
func (x *rareIndex) near(dst []uint64, o *rareOrder, set []uint64) (_ []uint64, ok bool) {
	order, most := x.sort(o, set), len(dst)+(x.to-x.from)/4
	for _, class := range x.classes {
		n, ok := x.first(len(set), leastOf(class))
		if !ok {
			return dst, false
		}
		for _, s := range order[:n] {
			for at := *x.list(s, class); at > 0; at = uint32(x.posts[at-1] >> 32) {
				dst = append(dst, uint64(uint32(x.posts[at-1])))
			}
			if len(dst) > most {
				return dst, false
			}
		}
	}
	return dst, true
}

// count counts the shingles of a document of the sample. Many goroutines may call it.
func (x *rareIndex) count(set []uint64) {
	for _, s := range set {
		a, b := x.counters(s)
		atomic.AddUint32(a, 1)
		atomic.AddUint32(b, 1)
	}
}

// mark marks the shingles by which a document will be looked up. Many goroutines may call it.
func (x *rareIndex) mark(o *rareOrder, set []uint64) {
	n, _ := x.first(len(set), 0)
	for _, s := range x.sort(o, set)[:min(n, len(set))] {
		if word, bit := x.bit(s); atomic.LoadUint64(word)&bit == 0 {
			atomic.OrUint64(word, bit)
		}
	}
}

// restart removes all documents. The next one has a number.
func (x *rareIndex) restart(number int) {
	clear(x.heads)
	x.used, x.classes, x.from, x.to = 0, x.classes[:0], number, number
}
