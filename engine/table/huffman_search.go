package table

import (
	"fmt"
	"math/bits"
	"slices"

	"ndd/asm"
	"ndd/huffman"
)

// A probe of a huffman table. Its range [low, high] begins in the first block whose last key is at
// least low, and goes on until a block whose last key is at least high.
//
//	before |-- up, from the fence before the block -->    <-- down, from the block's last key --| last
//	            low..high: up, to high, is the shorter way
//
// Where the range lies between the fences tells from which of them to it is the shorter way, and about
// how far it is. Seldom it reaches from one half into the other, or is there though it should not be: then the
// rest of a half is unpacked, and the other half.
//
// Cost, of 220 keys a block: interpolation, 4-5 overlapping misses shared by the probes of a batch; of
// the block's 16 lines 5, asked for ahead; 60 keys unpacked; and compared.

const (
	probesAtOnce = 64 // what asm.Interpolate advances together
	blocksAhead  = 3  // probes for whose blocks memory is asked before they are unpacked
	spareKeys    = 6  // with the rounding, two deviations of a uniform key's place in a half
)

// A huffmanPlace is where in a block a probe begins to look.
type huffmanPlace struct {
	side  huffman.Side
	share float32 // of that half, about, lies on the way
}

// A huffmanHalf is what is unpacked of half a block.
type huffmanHalf struct {
	keys  []uint64 // as huffman.DecodeHalf gives them, ascending from the fence
	block int
	whole bool // these are all
}

// Search looks the blocks of 64 probes up at once, asks for each block a few
// probes ahead, for as much of it as its range needs, and unpacks that much.
func (t *huffmanTable) Search(dst []Match, s *Search, c *Scratch) ([]Match, error) {
	mask := leadingMask(s.Leading)
	perQuery := len(s.Flips)
	probes := len(s.Queries) * perQuery
	if t.keys == 0 {
		return dst, nil
	}
	c.forget()
	query, flip := 0, 0
	for first := 0; first < probes; first += probesAtOnce {
		n := min(probesAtOnce, probes-first)
		c.low = slices.Grow(c.low[:0], n)[:n]
		c.blocks = slices.Grow(c.blocks[:0], n)[:n]
		c.places = slices.Grow(c.places[:0], n)[:n]
		c.asking = slices.Grow(c.asking[:0], n)[:n]
		for i := range n {
			c.low[i], c.asking[i] = (s.Queries[query]^s.Flips[flip])&mask, query
			if flip++; flip == perQuery {
				query, flip = query+1, 0
			}
		}
		asm.Interpolate(c.blocks, t.last, c.low)
		for i, b := range c.blocks {
			c.places[i] = t.place(b, c.low[i], c.low[i]|^mask)
		}
		t.heads(c)
		for i := range min(n, blocksAhead) {
			t.prefetch(c.blocks[i], c.places[i], c)
		}
		for i, b := range c.blocks {
			if ahead := i + blocksAhead; ahead < n {
				t.prefetch(c.blocks[ahead], c.places[ahead], c)
			}
			r := huffmanRange{s: s, query: c.asking[i], low: c.low[i], high: c.low[i] | ^mask}
			if b == 0 && r.low <= t.first && t.first <= r.high && bits.OnesCount64(t.first^s.Queries[r.query]) <= s.K {
				dst = append(dst, Match{0, r.query, t.first})
			}
			var err error
			for place := c.places[i]; b < len(t.last); b++ {
				if dst, err = t.search(dst, b, place, &r, c); err != nil {
					return dst, err
				}
				if t.last[b] >= r.high {
					break
				}
				place = huffmanPlace{huffman.Up, 1}
			}
		}
	}
	return dst, nil
}

// place is where to look for the keys of a block from low to high.
func (t *huffmanTable) place(b int, low, high uint64) huffmanPlace {
	if b >= len(t.last) {
		return huffmanPlace{huffman.Up, 0}
	}
	before, last := t.before(b), t.last[b]
	up, down := min(high, last)-min(before, high), last-max(low, before)
	// Halved, to convert as signed numbers do; of half the keys, what is the double of the whole.
	width := float32(int64((last-before)>>1) | 1)
	side := huffman.Up
	if down < up {
		side = huffman.Down
	}
	return huffmanPlace{side, min(1, float32(int64(min(up, down)>>1))*2/width)}
}

// heads asks for the first line of each of the halves, one right after the other. A
// prefetch whose page is not at hand keeps the processor from what follows it, and these
// look their pages up together; those of the other lines find them.
func (t *huffmanTable) heads(c *Scratch) {
	var heads [probesAtOnce]uint64
	for i, b := range c.blocks {
		heads[i] = uint64(b*t.blockBytes + int(c.places[i].side)*(t.blockBytes/2))
	}
	asm.PrefetchAt(t.blocks.Data, heads[:len(c.blocks)])
}

// prefetch asks for the lines of half of block b that its keys need: raw bits from its end down. Codes
// are in the first line, or right behind.
func (t *huffmanTable) prefetch(b int, p huffmanPlace, c *Scratch) {
	if b >= len(t.last) {
		return
	}
	end := uint64(b*t.blockBytes + t.blockBytes/2)
	if p.side == huffman.Down {
		end = uint64((b + 1) * t.blockBytes)
	}
	raws := min(int(p.share*float32(t.blockBytes/2/64))+1, len(c.lines))
	for i := range raws {
		c.lines[i] = end - uint64(64*i) - 1
	}
	asm.PrefetchAt(t.blocks.Data, c.lines[:raws])
}

// search looks for a range in block b.
func (t *huffmanTable) search(dst []Match, b int, p huffmanPlace, r *huffmanRange, c *Scratch) ([]Match, error) {
	done, err := false, error(nil)
	for range 2 {
		if dst, done, err = t.searchHalf(dst, b, p, r, c); done || err != nil {
			return dst, err
		}
		p = huffmanPlace{p.side ^ 1, 1}
	}
	return dst, nil
}

// searchHalf looks for a range in half of block b. It is done when the range does not
// go on in the other half.
func (t *huffmanTable) searchHalf(dst []Match, b int, p huffmanPlace, r *huffmanRange, c *Scratch) (_ []Match, done bool, err error) {
	bound := r.bounds(p.side).high
	half, err := t.unpack(b, p, bound, c)
	if err != nil {
		return dst, false, err
	}
	keys := half.keys
	done = keys[len(keys)-1] >= bound
	return r.scan(dst, keys[1-p.side:], p.side, c), done, nil // without the fence before the block
}

// unpack unpacks of half of block b at least the keys up to bound.
func (t *huffmanTable) unpack(b int, p huffmanPlace, bound uint64, c *Scratch) (*huffmanHalf, error) {
	h := &c.halves[p.side]
	if h.block == b && (h.whole || h.keys[len(h.keys)-1] >= bound) {
		return h, nil
	}
	block, fence := t.block(b), t.first
	if at := b - 1 + int(p.side); at >= 0 {
		fence = t.last[at]
	}
	h.room(t.blockBytes)
	h.block = -1
	steps := huffman.Steps(block, p.side)
	// Keys are unpacked eight at a time.
	for want := (int(p.share*float32(steps)) + spareKeys + 7) &^ 7; ; want = steps {
		want = min(want, steps)
		if want >= cap(h.keys) {
			return nil, t.corrupt(b, fmt.Errorf("%d keys in half a block", steps))
		}
		h.keys = h.keys[:want+1]
		if err := t.code.DecodeHalf(h.keys, block, p.side, fence); err != nil {
			return nil, t.corrupt(b, err)
		}
		if h.whole = want == steps; h.whole || h.keys[want] >= bound {
			h.block = b
			return h, nil
		}
	}
}

// room makes a half as long as it may have keys.
func (h *huffmanHalf) room(blockBytes int) {
	if n := huffman.MaxKeys(blockBytes); cap(h.keys) < n {
		h.keys = make([]uint64, n)
	}
}

// A huffmanRange is what a probe asks for.
type huffmanRange struct {
	s         *Search
	query     int
	low, high uint64
}

// bounds are the range as the keys of a side have it: Down, they are flipped.
func (r *huffmanRange) bounds(side huffman.Side) huffmanRange {
	flip := -uint64(side)
	swap := (r.low ^ r.high) & flip
	return huffmanRange{r.s, r.query, r.low ^ swap ^ flip, r.high ^ swap ^ flip}
}

// scan appends the keys of half a block that are in the range and near the query. All are compared: which
// of them begin and end the range would be two guesses of the processor, each dearer than fifty comparisons.
func (r *huffmanRange) scan(dst []Match, keys []uint64, side huffman.Side, c *Scratch) []Match {
	flip := -uint64(side)
	b := r.bounds(side)
	if cap(c.found) == 0 {
		c.found = make([]uint32, 256)
	}
	for len(keys) > 0 {
		n, done := asm.Within64(c.found, keys, r.s.Queries[r.query]^flip, r.s.K)
		for _, i := range c.found[:n] {
			if key := keys[i]; b.low <= key && key <= b.high {
				dst = append(dst, Match{0, r.query, key ^ flip})
			}
		}
		keys = keys[done:]
	}
	return dst
}
