package table

import (
	"math/bits"

	"ndd/asm"
)

// A sharedSearch searches tables that hold the same fingerprints, each with one probe for each
// query, and does not read in one table what another has said. An answer whose leading
// bits a table fixes lies in the one bucket that the probe of that table reads: where that
// has one key, the key is the answer.
//
//	step
//
//	s-1         locate table s-1                           meanwhile prefetch lines of buckets of table s
//	s           locate table s, and route each extent:        prefetch low of the extents to be read now
//	              one key, and an answer is there              (nothing to read)
//	              its query waits for an extent of s-1             (later)
//	s+1         scan                                       prefetch rest of what passes, if it is not
//	                                                           known to be in its bucket
//	s+2         settle: an answer, or none
//	end         later: route again, prefetch, scan, prefetch, settle
//
// So a query with an answer reads low and rest for one key, and not in each of the tables that find
// it: 16 lines instead of 19 for 11 tables, n = 1e8 and a query in two with an answer.
//
// In a damaged file a bucket may have one key that is not the answer that another table gives: that
// key is missed, as it might be if the bucket lay elsewhere.
type sharedSearch struct {
	later   [probesPerRound]asm.PlanarExtent // whose query waited
	ends    [sharedTablesMax]int             // of later, by table
	waits   [sharedQueriesMax]uint64         // by query: the step after that in which an extent of it was prefetched
	answers [sharedQueriesMax]uint64         // by query: how the first one that is known differs from it; none before
	buckets [sharedTablesMax]uint64          // by table: the bits of a fingerprint that its bucket has
	fetched [2][]asm.PlanarExtent            // by step: what was prefetched of low, of an even table and of an odd one

	// Of hits that are near: how they differ from their queries under the table's permutation and without
	// it, and which these are.
	diffs, inverted [32]uint64
	queries         [32]uint32
}

const (
	sharedQueriesMax = 64 // that are searched at once
	sharedQueriesMin = 8  // fewer would have too few misses under way
	sharedTablesMin  = 3
	sharedTablesMax  = probesPerRound / sharedQueriesMin
	none             = ^uint64(0) // of an answer: in no bucket
	never            = ^uint64(0) // of a step
)

// shares reports whether tables may use what others say.
func shares(tables []*planarTable, searches []Search) bool {
	if len(tables) < sharedTablesMin || len(tables) > sharedTablesMax || len(searches[0].Queries) < sharedQueriesMin {
		return false
	}
	for i := range searches {
		s := &searches[i]
		if s.Perm == nil || s.Flips.Radius != 0 || s.Flips.Base != 0 || s.Leading < int(tables[i].directory.BucketBits) ||
			s.Leading > s.Perm.Leading() {
			return false
		}
	}
	return true
}

// highest returns the highest n bits of a mask.
func highest(mask uint64, n int) uint64 {
	for range bits.OnesCount64(mask) - n {
		mask &= mask - 1
	}
	return mask
}

// searchShared answers as many queries at a time as a round has room for, or fewer.
func (r *planarRound) searchShared() error {
	if r.shared == nil {
		r.shared = new(sharedSearch)
	}
	for i, t := range r.tables {
		r.shared.buckets[i] = highest(r.searches[i].Perm.Mask(), int(t.directory.BucketBits))
	}
	queries := len(r.searches[0].Queries)
	most := min(sharedQueriesMax, probesPerRound/len(r.tables))
	rounds := (queries + most - 1) / most
	for i := range rounds {
		if err := r.runShared(queries*i/rounds, queries*(i+1)/rounds); err != nil {
			return err
		}
	}
	return nil
}

// runShared answers queries [from, to).
func (r *planarRound) runShared(from, to int) error {
	if err := r.caller.stopped(len(r.dst)); err != nil {
		return err
	}
	r.makeProbes(from, to)
	sh, last := r.shared, len(r.ranges)
	r.ranges[0].prefetchLines(r)
	hits, later := 0, 0
	for step := range last {
		s := &r.ranges[step]
		if err := r.find(s, step+1); err != nil {
			return err
		}
		r.settleShared(hits)
		sh.fetched[step%2], later = sh.route(r.extents[s.from:][:s.extents], step, s.from, later)
		hits = 0
		if step > 0 {
			var err error
			if hits, err = r.scanFetched(step - 1); err != nil {
				return err
			}
		}
		asm.PlanarPrefetchExtents(&s.table.directory.PlanarTable, sh.fetched[step%2])
	}
	r.settleShared(hits)
	hits, err := r.scanFetched(last - 1)
	if err != nil {
		return err
	}
	sh.reroute(r)
	for i, t := range r.tables {
		asm.PlanarPrefetchExtents(&t.directory.PlanarTable, sh.of(i))
	}
	for i, t := range r.tables {
		before := hits
		var err error
		if hits, err = r.scan(hits, t, sh.of(i)); err != nil {
			return err
		}
		before = min(before, hits)
		hits = r.dropKnown(before, hits)
		r.prefetchRest(t, before, hits)
	}
	for i := range r.long {
		l := &r.long[i]
		var err error
		if hits, err = r.scanLong(hits, r.tables[r.probes[l.probe].Table], l); err != nil {
			return err
		}
	}
	r.settleShared(hits)
	return nil
}

// scanFetched scans the runs prefetched in a step, and prefetches the rest of what passes.
func (r *planarRound) scanFetched(step int) (hits int, err error) {
	extents := r.shared.fetched[step%2]
	if hits, err = r.scan(0, r.tables[step], extents); err != nil {
		return 0, err
	}
	hits = r.dropKnown(0, hits)
	r.prefetchRest(r.tables[step], 0, hits)
	return hits, nil
}

// dropKnown drops those of hits [from, to) that are known: an answer lies in the bucket, and nothing else in it
// passes. It returns where they end now.
func (r *planarRound) dropKnown(from, to int) int {
	sh := r.shared
	before := none
	if from > 0 {
		before = r.hits[from-1].Probe
	}
	kept := from
	for i := from; i < to; i++ {
		h := r.hits[i]
		probe := &r.probes[h.Probe]
		q := (uint(probe.Query) - uint(r.first)) % sharedQueriesMax
		r.hits[kept] = h
		if sh.answers[q]&sh.buckets[probe.Table] != 0 || h.Probe == before || i+1 < to && r.hits[i+1].Probe == h.Probe {
			kept++
		}
		before = h.Probe
	}
	return kept
}

// of returns a table's extents of those for later.
func (sh *sharedSearch) of(table int) []asm.PlanarExtent {
	from := 0
	if table > 0 {
		from = sh.ends[table-1]
	}
	return sh.later[from:sh.ends[table]]
}

// makeProbes makes the probes of queries [from, to), a range for each table.
func (r *planarRound) makeProbes(from, to int) {
	n := to - from
	r.first = from
	r.ranges, r.long = r.ranges[:0], r.long[:0]
	for i, t := range r.tables {
		s := &r.searches[i]
		probes := r.probes[i*n:][:n]
		for q, key := range s.Queries[from:to] {
			probes[q] = asm.PlanarProbe{Key: key, Limit: uint16(s.K), Table: uint16(i), Query: uint32(from + q)}
		}
		r.ranges = append(r.ranges, probeRange{table: t, from: i * n, to: i*n + n})
	}
	for q := range n {
		r.shared.waits[q], r.shared.answers[q] = never, none
	}
}

// known returns 1 if an answer is in the bucket whose only key an extent is, and 0 if that is not known. mask is
// the bits of the bucket.
func known(answer, mask uint64, extent asm.PlanarExtent) uint64 {
	_, is := bits.Sub64(answer&mask|uint64(extent.Len-1), 1, 0)
	return is
}

// route says which extents of a table, which is probed in the step of its number and whose first
// probe has a number, are to be read now, and adds those of queries that wait to later: an extent
// that the last step prefetched is not scanned before this one. No branch depends on where an
// extent goes.
func (sh *sharedSearch) route(extents []asm.PlanarExtent, table, first, later int) (now []asm.PlanarExtent, _ int) {
	mask, step, n := sh.buckets[table], uint64(table), 0
	for _, extent := range extents {
		q := uint(extent.Probe) - uint(first)
		unknown := 1 - known(sh.answers[q%sharedQueriesMax], mask, extent)
		until := &sh.waits[q%sharedQueriesMax]
		_, waits := bits.Sub64(*until^step, 1, 0)
		fetch := unknown &^ waits
		extents[n], sh.later[later] = extent, extent
		n += int(fetch)
		later += int(unknown & waits)
		*until ^= (*until ^ (step + 1)) & -fetch
	}
	sh.ends[table] = later
	return extents[:n], later
}

// reroute drops those extents of later that are known by now.
func (sh *sharedSearch) reroute(r *planarRound) {
	at, left := 0, 0
	for i := range r.ranges {
		for _, extent := range sh.later[at:sh.ends[i]] {
			q := uint(extent.Probe) - uint(r.ranges[i].from)
			sh.later[left] = extent
			left += int(1 - known(sh.answers[q%sharedQueriesMax], sh.buckets[i], extent))
		}
		at, sh.ends[i] = sh.ends[i], left
	}
}

// settleShared makes matches of the first n hits whose whole key is close. The first answer of a query is
// a match of no table, and others are matches of the tables whose hits they are.
func (r *planarRound) settleShared(n int) {
	sh := r.shared
	for from := 0; from < n; {
		table := r.probes[r.hits[from].Probe].Table
		t, s := r.tables[table], &r.searches[table]
		below, leading := ^uint64(0)>>t.directory.BucketBits, leadingMask(s.Leading)
		near := 0
		for ; from < n && near < len(sh.diffs); from++ {
			h := &r.hits[from]
			probe := &r.probes[h.Probe]
			if probe.Table != table {
				break
			}
			permuted := (t.below(h.Pos) ^ probe.Key) & below
			sh.diffs[near], sh.queries[near] = permuted, probe.Query
			if bits.OnesCount64(permuted) <= s.K && permuted&leading == 0 {
				near++
			}
		}
		permuted, diffs := sh.diffs[:near], sh.inverted[:near]
		asm.Unpermute(diffs, permuted, s.Perm.Mask())
		for i, diff := range diffs {
			query := int(sh.queries[i])
			answer := &sh.answers[uint(query-r.first)%sharedQueriesMax]
			switch {
			case *answer == none:
				*answer = diff
				r.dst = append(r.dst, Match{Shared, query, diff})
			case *answer != diff && !found(permuted[i], s.Earlier):
				r.dst = append(r.dst, Match{int(table), query, s.Queries[query] ^ permuted[i]})
			}
		}
	}
}
