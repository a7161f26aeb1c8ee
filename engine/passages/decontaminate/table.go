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
//	gate of n ──► filter: 2 bits of one word ──► starts[leading bits of the hash] ──► keys ──► first ──► places
//
// For an n of at least 5, the gate has windows with fewer tokens than n. So each n-gram of a document has a
// window at a multiple of the stride, and only these windows are looked up:
//
//	n       13  8  5  less
//	window   8  5  4  n
//	stride   6  4  2  1
//
// The gate is looked up most often. It is small enough for a second-level cache.
type table struct {
	lengths []int    // values of n, descending
	powers  []uint64 // token.Base^n for each length
	gates   []gate

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
	gateBits   = 8  // bits for each window of a gate
)

// A gate tells whether a window may be in the items. It tests 2 bits of one word.
type gate struct {
	window, stride int
	power          uint64 // token.Base^window
	bits           []uint64
	shift          uint
}

// has reports whether a window with hash h may be in the items.
func (g *gate) has(h uint64) bool {
	w := mask(h)
	return g.bits[h>>(g.shift&63)]&w == w
}

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

// sortedGrams returns the hashes of n-grams of all items, ascending, and the places where they begin. The function length
// returns the n of an item.
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
	for _, n := range t.lengths {
		t.powers = append(t.powers, token.Power(n))
	}
	t.fill(x.sortedGrams(threads, func(it *Item) int { return it.n }))
	t.open(x)
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

// open fills the gates.
func (t *table) open(x *Items) {
	for _, n := range t.lengths {
		g := gate{window: n}
		if n >= 5 {
			g.window = (n + 3) / 2
		}
		g.stride, g.power = n-g.window+1, token.Power(g.window)
		tokens := 0
		for i := range x.items {
			if x.items[i].n == n {
				tokens += x.items[i].Tokens()
			}
		}
		words := bits.Len(uint(tokens*gateBits/64 | 1))
		g.bits, g.shift = make([]uint64, 1<<words), uint(64-words)
		for i := range x.items {
			if it := &x.items[i]; it.n == n {
				for _, h := range grams(x.tokens[it.from:it.to], g.window) {
					g.bits[h>>g.shift] |= mask(h)
				}
			}
		}
		t.gates = append(t.gates, g)
	}
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

// A window is a position in a document where an n-gram may begin, with its hash.
type window struct {
	start int
	hash  uint64
}

// windows appends to dst, for each value of n, the windows of n tokens that pass the gate and the filter. The
// look-ups in a gate are independent of each other.
func (t *table) windows(dst [][]window, room *windowMemory, tokens []uint64) {
	sums, sum := append(slices.Grow(room.sums[:0], len(tokens)+1), 0), uint64(0)
	for _, h := range tokens {
		sum = sum*token.Base + h
		sums = append(sums, sum)
	}
	passed := slices.Grow(room.passed[:0], len(tokens))[:len(tokens)]
	room.sums, room.passed = sums, passed
	for k, n := range t.lengths {
		g, power, matches := &t.gates[k], t.powers[k], 0
		for p := 0; p+g.window <= len(tokens); p += g.stride {
			passed[matches] = p
			if g.has(sums[p+g.window] - sums[p]*g.power) {
				matches++
			}
		}
		for _, p := range passed[:matches] {
			for start := max(p-g.stride+1, 0); start <= min(p, len(tokens)-n); start++ {
				h := sums[start+n] - sums[start]*power
				if w := mask(h); t.filter[h>>t.filterShift]&w == w {
					dst[k] = append(dst[k], window{start, h})
				}
			}
		}
	}
}

// A windowMemory is memory for the windows of a document: the hashes of all its prefixes, and the positions that passed
// a gate.
type windowMemory struct {
	sums   []uint64
	passed []int
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
