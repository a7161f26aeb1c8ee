package table

import (
	"encoding/binary"
	"math/bits"
	"sort"

	"ndd/asm"
)

// planarScratch is what a planar search keeps between its passes.
type planarScratch struct {
	probes [probesPerRound]asm.PlanarProbe
	runs   [probesPerRound]asm.PlanarRun
	hits   [hitsMax]asm.PlanarHit
	lines  [hitsMax]uint64 // words of rest or unary that the hits need
	pieces [runsPerScan]asm.PlanarRun
	same   [runsPerScan]asm.PlanarProbe
	count  int // of hits
	limits []int32
}

const (
	// probesPerRound is how many probes are located and scanned before their
	// hits are rebuilt: 10 queries of two tables and radius 1.
	probesPerRound = 512
	// runsPerScan is how many runs are scanned at a time, and runsAhead how many
	// are asked for before: enough to keep every miss that a core can wait for
	// under way while others are compared.
	runsPerScan = 32
	runsAhead   = 64
	hitsMax     = 2 * asm.PlanarLongest
)

// Search makes the probes of a round, and for them, in short overlapping passes:
// reads the directory and asks for the runs; scans the runs that have come; and at
// the end looks at the rest of what passed, and rebuilds what passed that.
//
//	probes   ................................................
//	locate   --->............................     asks for the lines of low
//	scan          --->.......................     64 probes behind
//	rest                                    ->    of 0.025 keys a probe by chance, asked for at once
//	unary                                     ->  of answers, asked for at once
func (t *planarTable) Search(dst []Match, s *Search, c *Scratch) ([]Match, error) {
	if c.planar == nil {
		c.planar = new(planarScratch)
	}
	r := planarRound{t, s, c.planar, leadingMask(s.Leading), dst}
	limits := r.limits[:0]
	for _, flip := range s.Flips {
		limits = append(limits, int32(s.K-bits.OnesCount64(flip)))
	}
	r.limits = limits
	groupBits := int(t.directory.GroupBits)
	n := 0
	for query, q := range s.Queries {
		for i, flip := range s.Flips {
			if limits[i] < 0 {
				continue
			}
			key, more := q^flip, uint64(0)
			if s.Leading < groupBits {
				// Every group that begins with the leading bits.
				groups := leadingMask(groupBits)
				more = ^r.mask & groups
				key &^= more
			}
			step := uint64(1) << (64 - groupBits)
			for last := key | more; ; key += step {
				r.probes[n] = asm.PlanarProbe{Key: key, Limit: uint32(limits[i]), Query: uint32(query)}
				if n++; n == probesPerRound {
					if err := r.run(n); err != nil {
						return r.dst, err
					}
					n = 0
				}
				if key == last {
					break
				}
			}
		}
	}
	err := r.run(n)
	return r.dst, err
}

// planarRound is one round of a search.
type planarRound struct {
	*planarTable
	*Search
	*planarScratch
	mask uint64 // the leading bits that a probe fixes
	dst  []Match
}

// run answers the first n probes.
func (r *planarRound) run(n int) error {
	p := &r.directory
	p.Ahead(r.probes[:n])
	for located, scanned := 0, 0; scanned < n; {
		for ahead := min(n, scanned+runsPerScan+runsAhead); located < ahead; {
			located += p.Locate(r.runs[located:ahead], r.probes[located:ahead])
			if located == ahead {
				break
			}
			r.runs[located] = asm.PlanarRun{}
			if err := r.long(located); err != nil {
				return err
			}
			located++
		}
		to := min(scanned+runsPerScan, located)
		for scanned < to {
			done, err := r.scan(r.runs[scanned:to], r.probes[scanned:to], uint64(scanned))
			if err != nil {
				return err
			}
			scanned += done
		}
	}
	return r.rebuild()
}

// scan adds the hits of runs, whose probes are numbered from base, and makes room
// first where it needs to.
func (r *planarRound) scan(runs []asm.PlanarRun, probes []asm.PlanarProbe, base uint64) (done int, err error) {
	if r.count > hitsMax-asm.PlanarLongest {
		if err := r.rebuild(); err != nil {
			return 0, err
		}
	}
	hits, done := r.directory.Scan(r.hits[r.count:], runs, probes)
	for i := range r.hits[r.count : r.count+hits] {
		r.hits[r.count+i].Probe += base
	}
	r.count += hits
	return done, nil
}

// long scans the run of probe i, which is long, or in a wide block.
func (r *planarRound) long(i int) error {
	probe := r.probes[i]
	start, end, err := r.group(probe.Key >> (64 - r.directory.GroupBits))
	if err != nil {
		return err
	}
	if r.Search.Leading > int(r.directory.GroupBits) {
		start, end = r.narrow(start, end, probe.Key&r.mask, probe.Key|^r.mask)
	}
	for start < end {
		n := 0
		for ; n < runsPerScan && start < end; n++ {
			length := min(end-start, asm.PlanarLongest)
			r.pieces[n] = asm.PlanarRun{Start: start, Len: length}
			r.same[n] = probe
			start += length
		}
		for from := 0; from < n; {
			before := r.count
			if before > hitsMax-asm.PlanarLongest {
				before = 0 // scan makes room
			}
			done, err := r.scan(r.pieces[from:n], r.same[from:n], 0)
			if err != nil {
				return err
			}
			for h := range r.hits[before:r.count] {
				r.hits[before+h].Probe = uint64(i)
			}
			from += done
		}
	}
	return nil
}

// rebuild turns hits into matches: those of which the rest is close too are
// rebuilt whole.
func (r *planarRound) rebuild() error {
	hits, lines := r.hits[:r.count], r.lines[:r.count]
	r.count = 0
	restBits := uint64(r.rest.Width)
	for i, h := range hits {
		lines[i] = h.Pos * restBits / 64
	}
	asm.PrefetchAt(r.rest.Words, lines)
	kept := hits[:0]
	tail := ^uint64(0) >> r.bucketBits
	for _, h := range hits {
		probe := &r.probes[h.Probe]
		if bits.OnesCount64((r.below(h.Pos)^probe.Key)&tail) <= int(probe.Limit) {
			kept = append(kept, h)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	lines = lines[:len(kept)]
	groupBits := r.directory.GroupBits
	for i, h := range kept {
		lines[i] = (r.probes[h.Probe].Key>>(64-groupBits)<<(r.bucketBits-groupBits) + h.Pos) / 64
	}
	asm.PrefetchAt(r.unary, lines)
	for _, h := range kept {
		probe := &r.probes[h.Probe]
		group := probe.Key >> (64 - groupBits)
		start, _, err := r.group(group)
		if err != nil {
			return err
		}
		key, err := r.key(h.Pos, group, start)
		if err != nil {
			return err
		}
		if (key^probe.Key)&r.mask == 0 && bits.OnesCount64(key^r.Queries[probe.Query]) <= r.K {
			r.dst = append(r.dst, Match{int(probe.Query), key})
		}
	}
	return nil
}

// group is where a group's run begins and ends.
func (t *planarTable) group(group uint64) (start, end uint64, err error) {
	d := &t.directory
	block, j := group/groupsPerBlock, group%groupsPerBlock
	first, last := d.Starts[block], d.Starts[block+1]&^asm.PlanarWide
	if first&asm.PlanarWide == 0 {
		count := last - first
		start = first + j*count/groupsPerBlock + uint64(int64(d.Corrections[group]))
		end = first + (j*count+count)/groupsPerBlock + uint64(int64(d.Corrections[group+1]))
	} else {
		first &^= asm.PlanarWide
		var number [4]byte
		for i := range number {
			number[i] = byte(d.Corrections[block*groupsPerBlock+wideIndexAt+uint64(i)])
		}
		at := uint64(binary.LittleEndian.Uint32(number[:]))
		if at >= t.wideBlocks {
			return 0, 0, t.head.Corrupt(8, "block %d of groups is wide block %d of %d", block, at, t.wideBlocks)
		}
		at = at*groupsPerBlock + j
		start, end = first+t.wide.At(at), last
		if j < groupsPerBlock-1 {
			end = first + t.wide.At(at+1)
		}
	}
	if start > end || end > d.Keys {
		return 0, 0, t.head.Corrupt(0, "group %d has ranks %d to %d of %d keys", group, start, end, d.Keys)
	}
	return start, end, nil
}

// narrow cuts ranks [start, end) down to those whose keys may be low to high, by
// the fences among them.
func (t *planarTable) narrow(start, end, low, high uint64) (uint64, uint64) {
	if end-start < 2*fenceKeys {
		return start, end
	}
	from := start/fenceKeys + 1
	fences := t.fences[from : (end-1)/fenceKeys+1]
	first := uint64(sort.Search(len(fences), func(i int) bool { return fences[i] >= low }))
	past := uint64(sort.Search(len(fences), func(i int) bool { return fences[i] > high }))
	if past < uint64(len(fences)) {
		end = (from + past) * fenceKeys
	}
	if first > 0 {
		start = (from + first - 1) * fenceKeys
	}
	return start, max(start, end)
}

// below is the bits of a key that are not its bucket.
func (t *planarTable) below(rank uint64) uint64 {
	return t.rest.At(rank)<<lowBits | uint64(t.directory.Low[rank])
}

// key rebuilds the key at rank, of a group that begins at start. It reads the
// unary bits from the beginning of the group on, or from its last fence before
// rank: no more than fenceKeys ones and the zeros of one group.
func (t *planarTable) key(rank, group, start uint64) (uint64, error) {
	spread := t.bucketBits - t.directory.GroupBits
	from, bit := start, group<<spread+start
	if fence := rank / fenceKeys * fenceKeys; fence > start {
		bucket := t.fences[rank/fenceKeys] >> (64 - t.bucketBits)
		from, bit = fence, bucket+fence
		if bucket>>spread != group {
			return 0, t.wrong(rank, group)
		}
	}
	skip := int(rank - from)
	last := min(bit/64+uint64(skip+1<<spread)/64+1, uint64(len(t.unary))-1)
	for i := bit / 64; i <= last; i++ {
		word := t.unary[i]
		if i == bit/64 {
			word &^= 1<<(bit%64) - 1
		}
		if n := bits.OnesCount64(word); n <= skip {
			skip -= n
			continue
		}
		for ; skip > 0; skip-- {
			word &= word - 1
		}
		bucket := i*64 + uint64(bits.TrailingZeros64(word)) - rank
		if bucket>>spread != group {
			break
		}
		return bucket<<(64-t.bucketBits) | t.below(rank), nil
	}
	return 0, t.wrong(rank, group)
}

func (t *planarTable) wrong(rank, group uint64) error {
	return t.head.Corrupt(0, "the key of rank %d is not in its group %d", rank, group)
}
