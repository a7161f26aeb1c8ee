package table

import (
	"math/bits"
	"sort"

	"ndd/asm"
)

// planarScratch is what a planar search keeps between its passes.
type planarScratch struct {
	probes  [probesPerRound]asm.PlanarProbe
	runs    [probesPerRound]asm.PlanarRun
	hits    [hitsMax]asm.PlanarHit
	pieces  [stretchMax]asm.PlanarRun   // of a long run,
	same    [stretchMax]asm.PlanarProbe // and their probe
	stretch []stretch
	long    []int // probes whose runs need care, ascending
}

// A stretch is consecutive probes of one table.
type stretch struct {
	table    *planarTable
	from, to int
}

const (
	// probesPerRound is how many probes are located and scanned before their
	// hits are rebuilt: 10 queries of two tables and radius 1.
	probesPerRound = 512
	// stretchMax is how many probes are looked at in one call.
	stretchMax = 32
	// locateAhead and directoryAhead are how many probes before its scan a run
	// is located and asked for, and before that its directory: enough to keep
	// every miss that a core can wait for under way while others are compared
	// (BenchmarkTable: 48 to 160 make no difference).
	locateAhead    = 96
	directoryAhead = 192
	hitsMax        = 2 * asm.PlanarLongest
)

func (t *planarTable) Search(dst []Match, s *Search, c *Scratch) ([]Match, error) {
	c.tables = append(c.tables[:0], t)
	c.searches = append(c.searches[:0], *s)
	return searchPlanar(dst, c.tables, c.searches, c)
}

// searchPlanar makes rounds of probes, of one table after the other, and answers
// each round in short overlapping passes: it asks for the directory, reads it and
// asks for the runs, scans the runs that have come; and at the end looks at the
// rest of what passed, and rebuilds what passed that.
//
//	probes      ............................................
//	directory   ----->......................     asks for the lines of groups
//	locate         ----->...................     96 probes behind, asks for the lines of low
//	scan              ----->................     96 probes behind that
//	rest                                    ->   of 0.025 keys a probe by chance, asked for at once
//	unary                                     -> of answers, asked for at once
func searchPlanar(dst []Match, tables []*planarTable, searches []Search, c *Scratch) ([]Match, error) {
	if c.planar == nil {
		c.planar = new(planarScratch)
	}
	r := planarRound{c.planar, tables, searches, dst}
	n := 0
	for i, t := range tables {
		s := &searches[i]
		groupBits := t.directory.GroupBits
		// Below the bits of a group, a probe fixes all groups that begin with them.
		more := leadingMask(int(groupBits)) &^ leadingMask(s.Leading)
		step := uint64(1) << (64 - groupBits)
		for query, q := range s.Queries {
			for _, flip := range s.Flips {
				limit := s.K - bits.OnesCount64(flip)
				if limit < 0 {
					continue
				}
				key := (q ^ flip) &^ more
				for last := key | more; ; key += step {
					r.probes[n] = asm.PlanarProbe{Key: key, Limit: uint16(limit), Table: uint16(i), Query: uint32(query)}
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
	}
	err := r.run(n)
	return r.dst, err
}

// planarRound is one round of a search.
type planarRound struct {
	*planarScratch
	tables   []*planarTable
	searches []Search
	dst      []Match
}

// run answers the first n probes.
func (r *planarRound) run(n int) error {
	r.stretch = r.stretch[:0]
	for from := 0; from < n; {
		to := from + 1
		for table := r.probes[from].Table; to < min(n, from+stretchMax) && r.probes[to].Table == table; to++ {
		}
		r.stretch = append(r.stretch, stretch{r.tables[r.probes[from].Table], from, to})
		from = to
	}
	r.long = r.long[:0]
	asked, located, hits, long := 0, 0, 0, 0
	for _, s := range r.stretch {
		for ; asked < len(r.stretch) && r.stretch[asked].from < s.from+directoryAhead; asked++ {
			a := r.stretch[asked]
			a.table.directory.Ahead(r.probes[a.from:a.to])
		}
		for ; located < len(r.stretch) && r.stretch[located].from < s.from+locateAhead; located++ {
			r.locate(r.stretch[located])
		}
		var err error
		if hits, err = r.scan(hits, s.table, r.runs[s.from:s.to], r.probes[s.from:s.to], s.from, 1); err != nil {
			return err
		}
		for ; long < len(r.long) && r.long[long] < s.to; long++ {
			if hits, err = r.scanLong(hits, s.table, r.long[long]); err != nil {
				return err
			}
		}
	}
	return r.rebuild(hits)
}

// locate finds the runs of a stretch, and leaves those that need care empty.
func (r *planarRound) locate(s stretch) {
	for from := s.from; ; {
		from += s.table.directory.Locate(r.runs[from:s.to], r.probes[from:s.to])
		if from == s.to {
			return
		}
		r.runs[from] = asm.PlanarRun{}
		r.long = append(r.long, from)
		from++
	}
}

// scan adds the hits of runs, and makes room first where it needs to. Run i is of
// probe first + i*stride.
func (r *planarRound) scan(hits int, t *planarTable, runs []asm.PlanarRun, probes []asm.PlanarProbe, first, stride int) (int, error) {
	for from := 0; from < len(runs); {
		if hits > hitsMax-asm.PlanarLongest {
			if err := r.rebuild(hits); err != nil {
				return 0, err
			}
			hits = 0
		}
		found, done := t.directory.Scan(r.hits[hits:], runs[from:], probes[from:])
		for i := range r.hits[hits : hits+found] {
			h := &r.hits[hits+i]
			h.Probe = uint64(first + (from+int(h.Probe))*stride)
		}
		hits += found
		from += done
	}
	return hits, nil
}

// scanLong scans the run of probe i, which is long, or in a wide block.
func (r *planarRound) scanLong(hits int, t *planarTable, i int) (int, error) {
	probe := r.probes[i]
	start, end, err := t.group(probe.Key >> (64 - t.directory.GroupBits))
	if err != nil {
		return 0, err
	}
	mask := leadingMask(r.searches[probe.Table].Leading)
	start, end = t.narrow(start, end, probe.Key&mask, probe.Key|^mask)
	for start < end {
		n := 0
		for ; n < stretchMax && start < end; n++ {
			length := min(end-start, asm.PlanarLongest)
			r.pieces[n] = asm.PlanarRun{Start: start, Len: length}
			r.same[n] = probe
			start += length
		}
		if hits, err = r.scan(hits, t, r.pieces[:n], r.same[:n], i, 0); err != nil {
			return 0, err
		}
	}
	return hits, nil
}

// rebuild turns the first n hits into matches: those of which the rest is close
// too are rebuilt whole.
func (r *planarRound) rebuild(n int) error {
	var line [1]uint64
	for _, h := range r.hits[:n] {
		t := r.tables[r.probes[h.Probe].Table]
		line[0] = h.Pos * uint64(t.rest.Width) / 64
		asm.PrefetchAt(t.rest.Words, line[:])
	}
	kept := r.hits[:0]
	for _, h := range r.hits[:n] {
		probe := &r.probes[h.Probe]
		t, s := r.tables[probe.Table], &r.searches[probe.Table]
		tail := ^uint64(0) >> t.bucketBits
		diff := (t.below(h.Pos) ^ probe.Key) & tail
		if bits.OnesCount64(diff) > int(probe.Limit) || diff&leadingMask(s.Leading) != 0 {
			continue
		}
		// The difference from the query; the bits between group and rest may be any.
		groups := leadingMask(int(t.directory.GroupBits))
		diff = (diff^probe.Key^s.Queries[probe.Query])&(groups|tail) | ^(groups | tail)
		if found(diff, s.Earlier) {
			continue
		}
		kept = append(kept, h)
		line[0] = (probe.Key>>(64-t.directory.GroupBits)<<(t.bucketBits-t.directory.GroupBits) + h.Pos) / 64
		asm.PrefetchAt(t.unary, line[:])
	}
	for _, h := range kept {
		probe := &r.probes[h.Probe]
		t, s := r.tables[probe.Table], &r.searches[probe.Table]
		group := probe.Key >> (64 - t.directory.GroupBits)
		start, _, err := t.group(group)
		if err != nil {
			return err
		}
		key, err := t.key(h.Pos, group, start)
		if err != nil {
			return err
		}
		if (key^probe.Key)&leadingMask(s.Leading) == 0 && bits.OnesCount64(key^s.Queries[probe.Query]) <= s.K {
			r.dst = append(r.dst, Match{int(probe.Table), int(probe.Query), key})
		}
	}
	return nil
}

// found reports whether an earlier table finds diff, or any part of it.
func found(diff uint64, earlier []Finder) bool {
	for i := range earlier {
		if bits.OnesCount64(diff&earlier[i].Mask) <= earlier[i].Radius {
			return true
		}
	}
	return false
}

// group is where a group's run begins and ends.
func (t *planarTable) group(group uint64) (start, end uint64, err error) {
	d := &t.directory
	if block, j := group/groupsPerBlock, group%groupsPerBlock; d.Wide(block) {
		number := d.Groups[lineWords*block]
		if number >= t.wideBlocks {
			return 0, 0, t.head.Corrupt(8, "block %d of groups is wide block %d of %d", block, number, t.wideBlocks)
		}
		at := number*groupsPerBlock + j
		start, end = d.Base(block)+t.wide.At(at), d.Base(block+1)
		if j < groupsPerBlock-1 {
			end = d.Base(block) + t.wide.At(at+1)
		}
	} else {
		start, end = d.Run(group)
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
