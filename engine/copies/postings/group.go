package postings

import (
	"math"
	"math/bits"
	"slices"
)

// A grouped partition is its signatures, those with candidates first, and the documents of each.
type grouped struct {
	counts []uint32 // of each: documents
	hashes []uint64 // where they are looked up later: the signatures
	ranks  []uint32 // documents, ascending, of one signature behind those of the other
	rare   int      // signatures that find candidates; those behind them are too frequent
}

// A grouper finds the equal signatures of a partition. It belongs to one thread.
type grouper struct {
	least    uint32   // documents that a signature must have to be kept
	frequent []uint64 // signatures that find no candidates, ascending
	lookups  bool     // the signatures are looked up later

	table  []uint32 // open addressing: numbers of signatures, from 1; 0: free
	hashes []uint64 // of the numbers
	counts []uint32 // documents
	ids    []uint32 // of the partition: numbers from 0
	places []uint32 // by number: of its next document
}

// group returns what is kept of a partition.
func (g *grouper) group(hashes []uint64, ranks []uint32) (to grouped, err error) {
	if uint64(len(hashes)) >= nowhere {
		return to, ErrTooMany
	}
	g.number(hashes)
	kept, end := 0, uint32(0)
	for _, count := range g.counts {
		if count >= g.least {
			kept++
		}
	}
	to.counts = make([]uint32, 0, kept)
	for id, count := range g.counts {
		g.places[id] = nowhere
		if count >= g.least && !g.tooFrequent(id) {
			end = g.keep(&to, id, end)
		}
	}
	to.rare = len(to.counts)
	for id, count := range g.counts {
		if len(g.frequent) > 0 && count >= g.least && g.places[id] == nowhere {
			end = g.keep(&to, id, end)
		}
	}
	all := make([]uint32, end+1) // the last is of those that are not kept
	for i, id := range g.ids {
		all[min(g.places[id], end)] = ranks[i]
		g.places[id]++
	}
	to.ranks = all[:end]
	to.sort()
	return to, nil
}

// sort puts the documents of each signature in order.
func (g *grouped) sort() {
	ranks := g.ranks
	for _, count := range g.counts {
		list := ranks[:count]
		ranks = ranks[count:]
		switch count {
		case 1:
		case 2:
			list[0], list[1] = min(list[0], list[1]), max(list[0], list[1])
		case 3:
			a, b, c := list[0], list[1], list[2]
			list[0], list[1], list[2] = min(a, b, c), max(min(a, b), min(max(a, b), c)), max(a, b, c)
		default:
			slices.Sort(list)
		}
	}
}

// nowhere is the place of documents of signatures that are not kept: behind all others, however many they are.
const nowhere = math.MaxUint32 / 2

// keep keeps a signature, whose documents begin at a place, and returns where they end.
func (g *grouper) keep(to *grouped, id int, at uint32) uint32 {
	g.places[id] = at
	to.counts = append(to.counts, g.counts[id])
	if g.lookups {
		to.hashes = append(to.hashes, g.hashes[id])
	}
	return at + g.counts[id]
}

// number gives the signatures numbers in order of occurrence, and counts their documents.
func (g *grouper) number(hashes []uint64) {
	log := max(bits.Len(uint(len(hashes))), 4) + 1 // two to four slots for each
	g.table = slices.Grow(g.table[:0], 1<<log)[:1<<log]
	clear(g.table)
	g.ids = slices.Grow(g.ids[:0], len(hashes))[:len(hashes)]
	g.hashes, g.counts = g.hashes[:0], g.counts[:0]
	shift, mask := 64-log, uint64(1<<log-1)
	for i, hash := range hashes {
		at := spread(hash) >> (shift & 63)
		for {
			id := g.table[at&mask]
			if id == 0 {
				g.hashes, g.counts = append(g.hashes, hash), append(g.counts, 0)
				id = uint32(len(g.hashes))
				g.table[at&mask] = id
			}
			if g.hashes[id-1] == hash {
				g.counts[id-1]++
				g.ids[i] = id - 1
				break
			}
			at++
		}
	}
	g.places = slices.Grow(g.places[:0], len(g.counts))[:len(g.counts)]
}

// tooFrequent reports whether a signature finds no candidates.
func (g *grouper) tooFrequent(id int) bool {
	if len(g.frequent) == 0 {
		return false
	}
	_, ok := slices.BinarySearch(g.frequent, g.hashes[id])
	return ok
}
