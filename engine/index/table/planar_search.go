package table

import (
	"math/bits"
	"slices"

	"example.org/ndd/asm"
)

// planarScratch has the memory of a planar search.
type planarScratch struct {
	probes     [probesPerRound]asm.PlanarProbe
	extents    [probesPerRound]asm.PlanarExtent
	hits       [hitsMax]asm.PlanarHit
	pieces     [rangeMax]asm.PlanarExtent // pieces of one long extent
	lines      [rangeMax]uint64           // lines to prefetch
	flipProbes []asm.PlanarProbe          // probes of a query that is 0, for some flips
	ranges     []probeRange
	long       []longExtent
}

// A probeRange is a range of consecutive probes of one table. Their extents are stored at the positions of the first
// probes of the range.
type probeRange struct {
	table               *planarTable
	start, end, extents int
}

// prefetchLines prefetches the lines of buckets of a range: the first bucket of each probe, and also the last one if
// a probe spans many.
func (s *probeRange) prefetchLines(r *planarRound) {
	d, probes := &s.table.directory, r.probes[s.start:s.end]
	search := &r.searches[probes[0].Table]
	if search.starts != nil {
		for i := range probes {
			r.lines[i] = probes[i].Key >> (64 - search.Leading)
		}
		asm.PrefetchAt(search.starts, r.lines[:len(probes)])
		return
	}
	asm.PlanarPrefetchLines(&d.PlanarTable, probes)
	if !s.table.spans(search) {
		return
	}
	for i := range probes {
		last := (probes[i].Key | ^leadingMask(search.Leading)) >> (64 - d.BucketBits)
		r.lines[i] = lineWords * d.line(last)
	}
	asm.PrefetchAt(d.Lines, r.lines[:len(probes)])
}

// A longExtent is an extent that asm.PlanarLocate skipped: a long bucket, a bucket of a wide line, or all buckets with
// the leading bits of a probe.
type longExtent struct {
	probe      int
	start, end uint64
}

const (
	// probesPerRound is the number of probes that are located and scanned before their hits are examined. It is enough
	// for 46 queries of 11 tables, or 9 queries of two tables with radius 1.
	probesPerRound = 512
	// rangeMax is the maximum number of probes per kernel call.
	rangeMax = 32
	// directoryAhead and locateAhead are numbers of ranges before the scan of a probe. At these distances its line of
	// buckets is prefetched, and its extent is located and prefetched.
	directoryAhead = 6
	locateAhead    = 3
	hitsMax        = 2 * asm.PlanarLongest
	// linesAhead is the number of lines of a long extent that are prefetched when it is located. The hardware
	// prefetches further ones, because they are read in order.
	linesAhead  = 4
	lowsPerLine = 64 / (lowBits / 8)
	// fewProbes is the maximum size of a small round. All its extents are prefetched before the first one is scanned,
	// because a single query may have ranges of one probe. Lines are prefetched before the first one is read: all, or
	// fewAhead if all ranges have one size. Then one more is prefetched with each located probe, which is faster.
	fewProbes = locateAhead * rangeMax
	fewAhead  = 16
	// spanBits is the maximum number of bits of a bucket that a search leaves open to probe bucket by bucket: up to
	// eight buckets.
	spanBits = 3
)

// spans reports whether one probe covers all buckets that begin with its leading bits.
func (t *planarTable) spans(s *Search) bool {
	return s.starts != nil || s.Leading+spanBits < int(t.directory.BucketBits)
}

// searchPlanar processes the probes of all tables in rounds. Each round has short overlapping passes. They prefetch
// lines of buckets, read them and prefetch the extents, scan these extents, and prefetch the rest of the hits. At the
// end the hits are examined.
//
//	probes      ............................................
//	directory   ----->......................     prefetches the lines of buckets
//	locate         ----->...................     96 probes later, prefetches the lines of low
//	scan              ----->................     96 probes later, prefetches the lines of rest
//	settle                                  ->   matches, and 0.01 keys per probe by chance
func searchPlanar(dst []Match, tables []*planarTable, searches []Search, c *Scratch) ([]Match, error) {
	if c.planar == nil {
		c.planar = new(planarScratch)
	}
	r := planarRound{planarScratch: c.planar, caller: c, tables: tables, searches: searches, dst: dst}
	r.ranges = r.ranges[:0]
	n, err := 0, error(nil)
	// Add the probes of each table. A full round is answered at once.
	for i, t := range tables {
		s := &searches[i]
		mask, shift, buckets := t.probed(s)
		// Use the prepared probes if their flips are the same.
		if s.prepared != nil && s.preparedFor == s.Flips {
			for query, q := range s.Queries {
				if n, err = r.add(n, s.prepared, q&^mask, i, query); err != nil {
					return r.dst, err
				}
			}
			continue
		}
		for flips := c.flips.first(s.Flips); len(flips) > 0; flips = c.flips.next() {
			for part := range slices.Chunk(flips, flipChunk/int(buckets)) {
				r.flipProbes = appendProbes(r.flipProbes[:0], part, s.K, shift, buckets)
				for query, q := range s.Queries {
					if n, err = r.add(n, r.flipProbes, q&^mask, i, query); err != nil {
						return r.dst, err
					}
				}
			}
		}
	}
	// Answer the last round.
	err = r.answer(n)
	return r.dst, err
}

// A planarRound is one round of a search.
type planarRound struct {
	*planarScratch
	tables   []*planarTable
	searches []Search
	dst      []Match
	caller   *Scratch
}

// add adds the probes of a query to a round that has n probes. The keys of flips are the flips. It answers the round
// each time it is full, and returns the new number of probes.
func (r *planarRound) add(n int, flips []asm.PlanarProbe, q uint64, table, query int) (int, error) {
	for len(flips) > 0 {
		free := r.probes[n:min(n+len(flips), probesPerRound)]
		for i := range free {
			f := &flips[i]
			free[i] = asm.PlanarProbe{Key: q ^ f.Key, Limit: f.Limit, Table: uint16(table), Query: uint32(query)}
		}
		r.extend(r.tables[table], n, n+len(free))
		flips = flips[len(free):]
		if n += len(free); n == probesPerRound {
			if err := r.answer(n); err != nil {
				return 0, err
			}
			n = 0
		}
	}
	return n, nil
}

// extend adds probes [start, end) of one table to the last range, if that has the same table and space. It creates new
// ranges for the others.
func (r *planarRound) extend(t *planarTable, start, end int) {
	if last := len(r.ranges) - 1; last >= 0 && r.ranges[last].table == t {
		s := &r.ranges[last]
		s.end = min(end, s.start+rangeMax)
		start = s.end
	}
	for ; start < end; start += rangeMax {
		r.ranges = append(r.ranges, probeRange{table: t, start: start, end: min(end, start+rangeMax)})
	}
}

// answer finds the matches of the first n probes.
func (r *planarRound) answer(n int) error {
	if err := r.caller.stopped(len(r.dst)); err != nil {
		return err
	}
	r.long = r.long[:0]
	lines, extents := directoryAhead-locateAhead, locateAhead
	if n <= fewProbes {
		lines, extents = len(r.ranges), len(r.ranges)
		if lines > 1 && lines*r.ranges[0].end == n { // ranges of one size
			lines = (fewAhead-1)/r.ranges[0].end + 1
		}
	}
	prefetched, located, hits, long := 0, 0, 0, 0
	// Start the pipeline with the lines of the first ranges.
	for ; prefetched < min(len(r.ranges), lines); prefetched++ {
		r.ranges[prefetched].prefetchLines(r)
	}
	// Then locate ahead, scan, and prefetch the rest of the hits, range by range.
	for i := range r.ranges {
		s := &r.ranges[i]
		for ; located < min(len(r.ranges), i+extents); located++ {
			if err := r.locate(located, located+lines); err != nil {
				return err
			}
		}
		first := hits
		var err error
		if hits, err = r.scan(hits, s.table, r.extents[s.start:s.start+s.extents]); err != nil {
			return err
		}
		for ; long < len(r.long) && r.long[long].probe < s.end; long++ {
			if hits, err = r.scanLong(hits, s.table, &r.long[long]); err != nil {
				return err
			}
		}
		r.prefetchRest(s.table, min(first, hits), hits)
	}
	// Examine the remaining hits.
	err := r.settle(hits)
	r.ranges = r.ranges[:0]
	return err
}

// locate finds the extents of a range, given by its index, and prefetches them.
func (r *planarRound) locate(number, lookahead int) error {
	s := &r.ranges[number]
	if starts := r.searches[r.probes[s.start].Table].starts; starts != nil {
		if lookahead < len(r.ranges) {
			r.ranges[lookahead].prefetchLines(r)
		}
		r.findListed(s, starts)
		return nil
	}
	err := r.find(s, lookahead)
	asm.PlanarPrefetchExtents(&s.table.directory.PlanarTable, r.extents[s.start:s.start+s.extents])
	return err
}

// findListed finds the extents of a range in the list of starts, and prefetches them.
func (r *planarRound) findListed(s *probeRange, starts []uint32) {
	shift := uint(64 - bitsFor(len(starts)-1))
	for i := s.start; i < s.end; i++ {
		value := r.probes[i].Key >> shift
		start, end := uint64(starts[value]), uint64(starts[value+1])
		if end-start > asm.PlanarLongest {
			r.addLong(s.table, i, start, end)
		} else if start < end {
			r.extents[s.start+s.extents] = asm.PlanarExtent{Start: start, Len: uint32(end - start), Probe: uint32(i)}
			s.extents++
			r.prefetchLow(s.table, start, end)
		}
	}
}

// find finds the extents of a range, and prefetches the long ones. Meanwhile it prefetches the lines of buckets of
// the range with index lookahead, if it exists.
func (r *planarRound) find(s *probeRange, lookahead int) error {
	table := r.probes[s.start].Table
	spans := s.table.spans(&r.searches[table])
	var next *asm.PlanarTable
	var probes []asm.PlanarProbe
	if lookahead < len(r.ranges) {
		if a := &r.ranges[lookahead]; spans || a.end-a.start != s.end-s.start {
			a.prefetchLines(r)
		} else {
			next, probes = &a.table.directory.PlanarTable, r.probes[a.start:a.end]
		}
	}
	for start := s.start; start < s.end; start++ {
		if !spans {
			found, done := asm.PlanarLocate(&s.table.directory.PlanarTable, r.extents[s.start+s.extents:s.end],
				r.probes[:s.end], start, next, probes[min(start-s.start, len(probes)):])
			s.extents += found
			if start += done; start == s.end {
				break
			}
		}
		if err := r.locateLong(s.table, &r.searches[table], start); err != nil {
			return err
		}
	}
	return nil
}

// locateLong finds the extent of probe i from its first to its last bucket, and prefetches its beginning.
func (r *planarRound) locateLong(t *planarTable, s *Search, i int) error {
	mask, shift := leadingMask(s.Leading), 64-t.directory.BucketBits
	key := r.probes[i].Key
	low, high := key&mask, key|^mask
	first, last := key>>shift, key>>shift
	if t.spans(s) {
		last = high >> shift
	}
	start, end, err := t.bucket(first)
	if err != nil {
		return err
	}
	if last > first {
		var begin uint64
		if begin, end, err = t.bucket(last); err != nil {
			return err
		}
		if start > begin {
			return t.corruptLine(t.directory.line(last), "bucket %d begins at rank %d, bucket %d at rank %d", first, start,
				last, begin)
		}
	}
	start, end = t.narrow(start, end, low, high)
	r.addLong(t, i, start, end)
	return nil
}

// addLong adds an extent of probe i to the long extents, unless it is empty, and prefetches its beginning.
func (r *planarRound) addLong(t *planarTable, i int, start, end uint64) {
	if start >= end {
		return
	}
	r.long = append(r.long, longExtent{i, start, end})
	r.prefetchLow(t, start, end)
}

// prefetchLow prefetches the first lines of an extent.
func (r *planarRound) prefetchLow(t *planarTable, start, end uint64) {
	n := 0
	for rank := start &^ (lowsPerLine - 1); n < linesAhead && rank < end; rank += lowsPerLine {
		r.lines[n] = rank
		n++
	}
	asm.PrefetchAt(t.directory.Low, r.lines[:n])
}

// scan adds the hits of extents. If there is not enough space, it settles earlier hits first.
func (r *planarRound) scan(hits int, t *planarTable, extents []asm.PlanarExtent) (int, error) {
	for start := 0; start < len(extents); {
		if hits > hitsMax-asm.PlanarLongest {
			if err := r.settle(hits); err != nil {
				return 0, err
			}
			hits = 0
		}
		found, done := asm.PlanarScan(&t.directory.PlanarTable, r.hits[hits:], extents[start:], r.probes[:])
		hits += found
		start += done
	}
	return hits, nil
}

// prefetchRest prefetches the remaining lines of hits [start, end), which are of one table.
func (r *planarRound) prefetchRest(t *planarTable, start, end int) {
	for hits := r.hits[start:end]; len(hits) > 0; {
		n := min(len(hits), len(r.lines))
		for i := range hits[:n] {
			r.lines[i] = hits[i].Pos * uint64(t.rest.Width) / 64
		}
		asm.PrefetchAt(t.rest.Words, r.lines[:n])
		hits = hits[n:]
	}
}

// scanLong scans a long extent in pieces.
func (r *planarRound) scanLong(hits int, t *planarTable, l *longExtent) (_ int, err error) {
	for start := l.start; start < l.end; {
		if err := r.caller.stopped(len(r.dst)); err != nil {
			return 0, err
		}
		n := 0
		for ; n < rangeMax && start < l.end; n++ {
			length := min(l.end-start, asm.PlanarLongest)
			r.pieces[n] = asm.PlanarExtent{Start: start, Len: uint32(length), Probe: uint32(l.probe)}
			start += length
		}
		if hits, err = r.scan(hits, t, r.pieces[:n]); err != nil {
			return 0, err
		}
	}
	return hits, nil
}

// settle examines the first n hits. It appends those whose complete key is near to the matches.
func (r *planarRound) settle(n int) error {
	for i := range r.hits[:n] {
		h := &r.hits[i]
		probe := &r.probes[h.Probe]
		t, s := r.tables[probe.Table], &r.searches[probe.Table]
		tail := ^uint64(0) >> t.directory.BucketBits
		key := probe.Key&^tail | t.lowBits(h.Pos)
		if bits.OnesCount64((key^probe.Key)&tail) > int(probe.Limit) {
			continue
		}
		if t.spans(s) {
			var err error
			first := probe.Key >> (64 - t.directory.BucketBits)
			last := (probe.Key | ^leadingMask(s.Leading)) >> (64 - t.directory.BucketBits)
			if key, err = t.key(h.Pos, t.directory.line(first), t.directory.line(last)); err != nil {
				return err
			}
		}
		diff := key ^ s.Queries[probe.Query]
		if (key^probe.Key)&leadingMask(s.Leading) == 0 && bits.OnesCount64(diff) <= s.K {
			r.dst = append(r.dst, Match{int(probe.Table), int(probe.Query), key})
		}
	}
	return nil
}
