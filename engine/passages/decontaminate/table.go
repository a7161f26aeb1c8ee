package decontaminate

import (
	"iter"
	"math/bits"
	"slices"

	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/index/radix"
)

// A table finds n-grams by their hashes.
//
//	filter: 2 bits of one word ──► starts[leading bits of the hash] ──► keys ──► first ──► places
type table struct {
	lengths []int // values of n, descending

	filter      []uint64
	filterShift uint
	starts      []uint32 // for each value of the leading bits, the index of its first key
	startShift  uint
	keys        []uint64 // distinct hashes, ascending
	firstPlaces []uint32 // for each key, the index of its first place; one more element at the end
	places      []uint32 // positions in Items.tokens where n-grams begin, ascending for each key
	items       []uint32 // for each key, the number of items with it
}

const (
	sharedMax  = 32 // maximum number of occurrences of a seed in the items
	filterBits = 16 // bits for each n-gram
)

// grams yields the beginning and the hash of each n-gram of some tokens. The hash of an n-gram is the sum of
// token i times token.Base^(n-1-i).
func grams(tokens []uint64, n int) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		top, h := token.Power(n), uint64(0)
		for i, t := range tokens {
			if h = h*token.Base + t; i >= n {
				h -= tokens[i-n] * top
			}
			if i >= n-1 && !yield(i-n+1, h) {
				return
			}
		}
	}
}

// mask returns the bits of a hash in its word of the filter. The low bits of the hash select them. The high
// bits select the word.
func mask(h uint64) uint64 { return 1<<(h&63) | 1<<(h>>6&63) }

// sortedGrams returns the hashes of n-grams of all items, ascending, and the places where they begin. The function
// length returns the n of an item.
func (x *Items) sortedGrams(threads int, length func(*Item) int) (hashes []uint64, places []uint32) {
	var keys []uint64
	var begins []uint32
	for i := range x.items {
		it := &x.items[i]
		for j, h := range grams(x.tokens[it.from:it.to], length(it)) {
			keys, begins = append(keys, h), append(begins, it.from+uint32(j))
		}
	}
	hashes, places = make([]uint64, len(keys)), make([]uint32, len(keys))
	radix.Rows(hashes, places, keys, ^uint64(0), threads)
	for i, row := range places {
		places[i] = begins[row]
	}
	return hashes, places
}

// build makes the table of the items, and counts the items that share each n-gram.
func (x *Items) build(threads int) {
	t := &x.table
	for i := range x.items {
		if n := x.items[i].n; !slices.Contains(t.lengths, n) {
			t.lengths = append(t.lengths, n)
		}
	}
	slices.Sort(t.lengths)
	slices.Reverse(t.lengths)
	t.fill(x.sortedGrams(threads, func(it *Item) int { return it.n }))
	x.share()
	x.countRows(threads)
}

// fill fills the table, given the sorted hashes and their places.
func (t *table) fill(hashes []uint64, places []uint32) {
	for i, h := range hashes {
		if i == 0 || h != hashes[i-1] {
			t.keys = append(t.keys, h)
			t.firstPlaces = append(t.firstPlaces, uint32(i))
		}
	}
	t.places, t.firstPlaces = places, append(t.firstPlaces, uint32(len(hashes)))

	words := bits.Len(uint(len(t.keys)*filterBits/64 | 1))
	t.filter, t.filterShift = make([]uint64, 1<<words), uint(64-words)
	leading := bits.Len(uint(len(t.keys) | 1))
	t.starts, t.startShift = make([]uint32, 1<<leading+1), uint(64-leading)
	for _, h := range t.keys {
		t.filter[h>>t.filterShift] |= mask(h)
		t.starts[h>>t.startShift+1]++
	}
	for i := range t.starts[1:] {
		t.starts[i+1] += t.starts[i]
	}
}

// A window is a position in a document where an n-gram may begin, with its hash.
type window struct {
	start int
	hash  uint64
}

// windows appends the windows of n tokens that pass the filter.
func (t *table) windows(dst []window, tokens []uint64, n int) []window {
	for start, h := range grams(tokens, n) {
		if bits := mask(h); t.filter[h>>(t.filterShift&63)]&bits == bits {
			dst = append(dst, window{start, h})
		}
	}
	return dst
}

// find returns the number of the n-gram with hash h, or noGram.
func (t *table) find(h uint64) uint32 {
	bucket := h >> t.startShift
	for i := t.starts[bucket]; i < t.starts[bucket+1]; i++ {
		if t.keys[i] == h {
			return i
		}
	}
	return noGram
}

// placesOf returns the places in the items where an n-gram begins.
func (t *table) placesOf(gram uint32) []uint32 {
	return t.places[t.firstPlaces[gram]:t.firstPlaces[gram+1]]
}

// countRows counts, for each row of rareTokens tokens, the items that have it.
func (x *Items) countRows(threads int) {
	hashes, places := x.sortedGrams(threads, func(*Item) int { return rareTokens })
	x.sharing = make([]uint32, len(x.tokens))
	for from := 0; from < len(hashes); {
		to := from + 1
		for to < len(hashes) && hashes[to] == hashes[from] {
			to++
		}
		items := x.countItems(places[from:to])
		for _, place := range places[from:to] {
			x.sharing[place] = items
		}
		from = to
	}
}

// countItems returns the number of items at some places, which ascend.
func (x *Items) countItems(places []uint32) (n uint32) {
	n = 1
	for i, p := range places[1:] {
		if x.owner[p] != x.owner[places[i]] {
			n++
		}
	}
	return n
}

// share counts the items of each n-gram. For each set it counts the items without a seed: all their n-grams
// occur too often.
func (x *Items) share() {
	x.gram = make([]uint32, len(x.tokens))
	for i := range x.gram {
		x.gram[i] = noGram
	}
	seeded := make([]bool, len(x.items)) // the item has a seed
	for g := range uint32(len(x.table.keys)) {
		places := x.table.placesOf(g)
		x.table.items = append(x.table.items, x.countItems(places))
		for _, p := range places {
			item := x.owner[p]
			x.gram[p] = g
			seeded[item] = seeded[item] || len(places) <= sharedMax
		}
	}
	for i, ok := range seeded {
		if !ok {
			x.Sets[x.items[i].Set].Shared++
		}
	}
}
