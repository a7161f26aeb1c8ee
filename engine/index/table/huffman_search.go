package table

import (
	"fmt"
	"math/bits"
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/huffman"
)

// A probe of a huffman table searches the range [low, high]. The range begins in the first block whose last key is at
// least low. It ends in the first block whose last key is at least high.
//
//	before |-- up, from the fence before the block -->    <-- down, from the block's last key --| last
//	            low..high: up, to high, is the shorter way
//
// The position of the range between the fences determines the nearer fence and the approximate number of keys to
// decode. In one probe of 23, the decoded part ends before the range does, because the range is near the middle of
// the block. Then the other half is decoded, too.
//
// Probes are processed in rounds. Three rounds are active:
//
//	find      finds the blocks of the next round, by interpolation
//	look      decodes halves of the current round together (asm.Seek), while the halves of the
//	          next round are prefetched; then prefetches the other halves that are needed
//	finish    completes the previous round: other halves, further blocks, matches
//
// If the backend has no such kernel, or a round has less than seekMin probes, finish does all of it, one half after
// the other.
//
// Cost with 190 keys per block: interpolation takes 4-5 misses, which overlap with the misses of other probes in the
// round. A block has 16 lines; 6 of them are prefetched. 55 keys are decoded.

const (
	probesAtOnce = 64 // number of probes that asm.Interpolate and asm.Seek process together
	// seekMin is the minimum number of probes for asm.Seek: a single probe takes 620 ns, one of 8 takes 156.
	seekMin    = 4
	spareKeys  = 6   // two standard deviations of a uniform key's position in a half, with rounding
	spareLines = 0.5 // number of lines for the spare keys and for keys that asm.Seek decodes in vain
)

// A huffmanPlace is the position in a block at which a probe begins to decode.
type huffmanPlace struct {
	side  huffman.Side // half to decode
	share float32      // approximate share of that half to decode
}

// A huffmanHalf is the decoded part of half a block.
type huffmanHalf struct {
	keys  []uint64      // keys of huffman.DecodeHalf, ascending from the fence
	table *huffmanTable // nil if nothing is decoded
	block int
	full  bool // keys is the complete half
}

// A seekState is the progress of a probe after asm.Seek.
type seekState uint8

const (
	seekDone  seekState = iota // the half contains the whole range
	seekEnded                  // the range continues in the other half
	seekLeft                   // nothing is done
)

// A huffmanRound is a batch of probes of one table.
type huffmanRound struct {
	table     *huffmanTable
	search    *Search
	number    int // index of the table
	n         int // number of probes
	low       [probesAtOnce]uint64
	blocks    [probesAtOnce]int          // first block of each range
	positions [probesAtOnce]huffmanPlace // position in that block
	query     [probesAtOnce]int          // query of each probe
	state     [probesAtOnce]seekState
	lines     []uint64          // offsets of lines to prefetch
	hits      [probesAtOnce]int // 1 + index of the last hit of each probe
	previous  []int             // for each hit, 1 + index of the previous hit of its probe
	seek      asm.Seek
}

// searchHuffman searches the tables one after the other.
func searchHuffman(dst []Match, tables []*huffmanTable, searches []Search, c *Scratch) (_ []Match, err error) {
	r := &c.rounds
	r.begin()
	for i, t := range tables {
		if t.keys == 0 {
			continue
		}
		s := &searches[i]
		r.next.begin(t, s, i)
		mask := leadingMask(s.Leading)
		// Collect probes, and advance all rounds each time the next one is full.
		for flips := c.flips.first(s.Flips); len(flips) > 0; flips = c.flips.next() {
			for query, q := range s.Queries {
				for _, flip := range flips {
					next := r.next
					next.low[next.n], next.query[next.n] = (q^flip)&mask, query
					if next.n++; next.n < probesAtOnce {
						continue
					}
					if dst, err = r.step(dst, c); err != nil {
						return dst, err
					}
					r.next.begin(t, s, i)
				}
			}
		}
		if dst, err = r.step(dst, c); err != nil {
			return dst, err
		}
	}
	// Finish the last two rounds.
	if dst, err = r.step(dst, c); err != nil {
		return dst, err
	}
	return r.step(dst, c)
}

// huffmanRounds are the active rounds.
type huffmanRounds struct{ next, current, previous *huffmanRound }

// begin drops the active rounds.
func (r *huffmanRounds) begin() {
	if r.next == nil {
		*r = huffmanRounds{new(huffmanRound), new(huffmanRound), new(huffmanRound)}
	}
	r.next.n, r.current.n, r.previous.n = 0, 0, 0
}

// step advances each round and appends the matches of the oldest one. Then next is empty.
func (r *huffmanRounds) step(dst []Match, c *Scratch) (_ []Match, err error) {
	if r.next.n == 0 && r.current.n == 0 && r.previous.n == 0 {
		return dst, nil
	}
	if err := c.stopped(len(dst)); err != nil {
		return dst, err
	}
	r.current.seek.Prefetch(nil, nil)
	if r.next.n > 0 {
		r.next.find()
		r.current.seek.Prefetch(r.next.table.blocks.Data, r.next.lines)
	}
	r.current.look()
	dst, err = r.previous.finish(dst, c)
	r.next, r.current, r.previous = r.previous, r.next, r.current
	return dst, err
}

// begin starts an empty round for a table.
func (r *huffmanRound) begin(t *huffmanTable, s *Search, number int) {
	r.table, r.search, r.number, r.n = t, s, number, 0
}

// find finds the blocks of a round, and the lines that its probes need. These are the head of the half block with the
// codes, and the raw bits from its end down. If the range continues in the next block, they include lines of that
// block. The heads come first, so that their TLB misses overlap.
func (r *huffmanRound) find() {
	t, mask := r.table, leadingMask(r.search.Leading)
	asm.Interpolate(r.blocks[:r.n], t.last, r.low[:r.n])
	half := t.blockBytes / 2
	linesMax := half/64 + 1
	r.lines = slices.Grow(r.lines[:0], r.n*(1+linesMax+2*half/64)+linesMax)
	for i, b := range r.blocks[:r.n] {
		r.positions[i] = t.position(b, r.low[i], r.low[i]|^mask)
		r.lines = append(r.lines, uint64(b*t.blockBytes+int(r.positions[i].side)*half))
	}
	lines := r.lines[:cap(r.lines)]
	n := r.n
	for i, head := range r.lines[:r.n] {
		end := head + uint64(half) - 1
		part := lines[n:][:linesMax]
		for j := range part {
			part[j] = end - uint64(64*j)
		}
		n += min(int(r.positions[i].share*float32(half/64)+spareLines)+1, linesMax)
	}
	r.lines = lines[:n]
	for i, b := range r.blocks[:r.n] {
		r.addNextLines(b, r.low[i]|^mask)
	}
}

// addNextLines adds the lines of the block after b that contain a part of the range up to high: no lines, the lines of
// its first half, or all lines.
func (r *huffmanRound) addNextLines(b int, high uint64) {
	t := r.table
	if b+1 >= len(t.last) || t.last[b] >= high {
		return
	}
	begin, bytes := (b+1)*t.blockBytes, t.blockBytes
	if last := t.last[b+1]; high < last && high-t.last[b] < (last-t.last[b])/2 {
		bytes /= 2
	}
	for offset := 0; offset < bytes; offset += 64 {
		r.lines = append(r.lines, uint64(begin+offset))
	}
}

// look searches one half of each block of a round. It prefetches the other half if that is needed.
func (r *huffmanRound) look() {
	if r.n < seekMin || !asm.Accelerated(asm.KernelSeek) {
		for i := range r.n {
			r.state[i] = seekLeft
		}
		r.seek.Reset(nil)
		r.seek.Run(0, nil)
		return
	}
	// Start a probe in the nearer half of each block.
	t, mask := r.table, leadingMask(r.search.Leading)
	r.seek.Reset(t.blocks.Data)
	half := t.blockBytes / 2
	for i, b := range r.blocks[:r.n] {
		if r.state[i], r.hits[i] = seekDone, 0; b >= len(t.last) {
			continue
		}
		side := r.positions[i].side
		flip := -uint64(side)
		fence := t.fence(b, side)
		bound := r.low[i] | ^mask&^flip
		start := b*t.blockBytes + int(side)*half
		r.seek.Add(i, start, start+half+int(side)*(t.blockBytes&1), fence^flip, r.search.Queries[r.query[i]]^flip, bound^flip)
	}
	// Run the kernel, and note the probes that it did not finish.
	r.seek.Run(r.search.K, t.code.Window())
	for i := range r.seek.Pending() {
		number, ended := r.seek.PendingAt(i)
		if r.state[number] = seekLeft; ended {
			r.state[number] = seekEnded
			offset := r.blocks[number]*t.blockBytes + (1-int(r.positions[number].side))*half
			asm.PrefetchAll(t.blocks.Data[offset : offset+half])
		}
	}
	// Link the hits of each probe.
	r.previous = r.previous[:0]
	for i := range r.seek.Hits() {
		number, _ := r.seek.Hit(i)
		r.previous = append(r.previous, r.hits[number])
		r.hits[number] = i + 1
	}
}

// finish appends the matches of a round.
func (r *huffmanRound) finish(dst []Match, c *Scratch) (_ []Match, err error) {
	first := len(dst)
	for i := range r.n {
		if dst, err = r.probe(dst, i, c); err != nil {
			return dst, err
		}
	}
	for i := range dst[first:] {
		dst[first+i].Table = r.number
	}
	r.n = 0
	return dst, nil
}

// probe appends the matches of a probe: the known matches, and the matches in halves and blocks not searched before.
func (r *huffmanRound) probe(dst []Match, i int, c *Scratch) (_ []Match, err error) {
	t, b, place := r.table, r.blocks[i], r.positions[i]
	p := huffmanRange{s: r.search, query: r.query[i], low: r.low[i], high: r.low[i] | ^leadingMask(r.search.Leading)}
	if b == 0 && p.low <= t.first && t.first <= p.high && bits.OnesCount64(t.first^p.s.Queries[p.query]) <= p.s.K {
		dst = append(dst, Match{0, p.query, t.first})
	}
	if b == len(t.last) {
		return dst, nil
	}
	switch r.state[i] {
	case seekLeft:
		dst, err = t.search(dst, b, place, &p, c)
	case seekEnded:
		dst = r.appendMatches(dst, i, &p)
		dst, _, err = t.searchHalf(dst, b, huffmanPlace{place.side ^ 1, 1}, &p, c)
	case seekDone:
		dst = r.appendMatches(dst, i, &p)
	}
	for ; err == nil && t.last[b] < p.high && b+1 < len(t.last); b++ {
		if err = c.stopped(len(dst)); err != nil {
			break
		}
		dst, err = t.search(dst, b+1, huffmanPlace{huffman.Up, 1}, &p, c)
	}
	return dst, err
}

// appendMatches appends the hits of the kernel for a probe, and the last key of its block, which is a fence.
func (r *huffmanRound) appendMatches(dst []Match, i int, p *huffmanRange) []Match {
	side := r.positions[i].side
	flip := -uint64(side)
	for hit := r.hits[i]; hit > 0; hit = r.previous[hit-1] {
		if _, key := r.seek.Hit(hit - 1); p.low <= key^flip && key^flip <= p.high {
			dst = append(dst, Match{0, p.query, key ^ flip})
		}
	}
	last := r.table.last[r.blocks[i]]
	if side == huffman.Down && bits.OnesCount64(last^p.s.Queries[p.query]) <= p.s.K && p.low <= last && last <= p.high {
		dst = append(dst, Match{0, p.query, last})
	}
	return dst
}

// position returns the position for decoding the keys of a block from low to high.
func (t *huffmanTable) position(b int, low, high uint64) huffmanPlace {
	if b >= len(t.last) {
		return huffmanPlace{huffman.Up, 0}
	}
	previous, last := t.fence(b, huffman.Up), t.last[b]
	upward, downward := min(high, last)-min(previous, high), last-max(low, previous)
	// Halve the numbers, because signed numbers convert faster. Half the width corresponds to half the keys.
	width := float32(int64((last-previous)>>1) | 1)
	side := huffman.Up
	if downward < upward {
		side = huffman.Down
	}
	return huffmanPlace{side, min(1, float32(int64(min(upward, downward)>>1))*2/width)}
}

// search searches a range in block b.
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

// searchHalf searches a range in half of block b. done is true if the range does not continue in the other half.
func (t *huffmanTable) searchHalf(dst []Match, b int, p huffmanPlace, r *huffmanRange, c *Scratch) (_ []Match,
	done bool, err error) {
	bound := r.bounds(p.side).high
	half, err := t.unpack(b, p, bound, c)
	if err != nil {
		return dst, false, err
	}
	keys := half.keys
	done = keys[len(keys)-1] >= bound
	return r.scan(dst, keys[1-p.side:], p.side, c), done, nil // without the fence before the block
}

// unpack decodes at least the keys up to bound of half of block b.
func (t *huffmanTable) unpack(b int, p huffmanPlace, bound uint64, c *Scratch) (*huffmanHalf, error) {
	h := &c.halves[p.side]
	if h.table == t && h.block == b && (h.full || h.keys[len(h.keys)-1] >= bound) {
		return h, nil
	}
	block, fence := t.block(b), t.fence(b, p.side)
	if n := huffman.MaxKeys(t.blockBytes); cap(h.keys) < n {
		h.keys = make([]uint64, n)
	}
	h.table = nil
	steps := huffman.Steps(block, p.side)
	// The kernel decodes eight keys at a time.
	for want := (int(p.share*float32(steps)) + spareKeys + 7) &^ 7; ; want = steps {
		want = min(want, steps)
		if want >= cap(h.keys) {
			return nil, t.corrupt(b, fmt.Errorf("%d keys in half a block", steps))
		}
		h.keys = h.keys[:want+1]
		if err := t.code.DecodeHalf(h.keys, block, p.side, fence); err != nil {
			return nil, t.corrupt(b, err)
		}
		if h.full = want == steps; h.full || h.keys[want] >= bound {
			h.table, h.block = t, b
			return h, nil
		}
	}
}

// A huffmanRange is the range of keys that a probe searches.
type huffmanRange struct {
	s         *Search
	query     int
	low, high uint64
}

// bounds returns the range in the representation of a side: Down flips all bits.
func (r *huffmanRange) bounds(side huffman.Side) huffmanRange {
	flip := -uint64(side)
	swap := (r.low ^ r.high) & flip
	return huffmanRange{r.s, r.query, r.low ^ swap ^ flip, r.high ^ swap ^ flip}
}

// scan appends the keys of half a block that are in the range and near the query. It compares all keys: finding the
// bounds of the range first would cost two mispredicted branches, each as expensive as fifty comparisons.
func (r *huffmanRange) scan(dst []Match, keys []uint64, side huffman.Side, c *Scratch) []Match {
	flip := -uint64(side)
	b := r.bounds(side)
	for len(keys) > 0 {
		n, done := asm.Within64(c.found[:], keys, r.s.Queries[r.query]^flip, r.s.K)
		for _, i := range c.found[:n] {
			if key := keys[i]; b.low <= key && key <= b.high {
				dst = append(dst, Match{0, r.query, key ^ flip})
			}
		}
		keys = keys[done:]
	}
	return dst
}
