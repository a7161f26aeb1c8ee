package table

import (
	"ndd/asm"
	"ndd/engine/parallel"
)

// A listedRun is the keys that a probe looks at in a table that lists where those with its leading bits begin, for a query by itself.
//
// Such tables are of small segments beside a large one. Each is probed once for a query, so that what is done for each counts beside what is
// waited for: a range of one probe takes 75 ns a table in cache, and this takes 60. They are located behind the probes of the large one, whose lines
// are on their way by then, and scanned before them:
//
//	listed    list ---------------> run ---> scan, rest ----------> settle
//	others         lines ---> low -------------------> scan, rest -> settle        in this order
//
// Napkin, 9 M and 0.6 M in four tables each beside 100 M in two: 8 lines of lists, 28 of runs and 6 of rest beside 42 of buckets and 18 of low.
// A line takes 17 to 28 ns where 16 are under way at a time, which is all that a core has: 42 lines more are 0.7 to 1.2 us, whatever the order.
//
// Tried, and slower: lines prefetched as soon as each probe is made, and the tables of all segments taking turns (0.3 us more for a query); ranges
// of 16 probes, each located while the next one's lines come (0.5 us); three to seven queries in this way (a tenth more), which have ranges enough
// for others' misses. No faster: runs prefetched to their end, small segments first.
type listedRun struct {
	table, probe int
	value        uint64 // of the leading bits
	start, end   uint64 // ranks
}

// isListed reports whether a search is for one query, and its table lists where the keys of the probe begin.
func (s *Search) isListed() bool { return s.starts != nil && len(s.Queries) == 1 }

// addListed adds the probe of search number i behind the first n of the round, as add does, and prefetches what says where its keys begin.
func (r *planarRound) addListed(n, i int) (int, error) {
	s := &r.searches[i]
	more, _, _ := r.tables[i].probed(s)
	q := s.Queries[0]
	r.probes[n] = asm.PlanarProbe{Key: q &^ more, Limit: uint16(s.K), Table: uint16(i)}
	value := q >> (64 - s.Leading)
	r.listed = append(r.listed, listedRun{table: i, probe: n, value: value})
	r.lines[0] = value
	asm.PrefetchAt(s.starts, r.lines[:1])
	if n++; n < probesPerRound {
		return n, nil
	}
	return 0, r.answer(n)
}

// locateListed finds where some of the listed runs begin and end, and prefetches them.
func (r *planarRound) locateListed(runs []listedRun) {
	for i := range runs {
		l := &runs[i]
		starts := r.searches[l.table].starts[l.value:][:2]
		l.start, l.end = uint64(starts[0]), uint64(starts[1])
		r.prefetchLow(r.tables[l.table], l.start, l.end)
	}
}

// scanListed adds the hits of the listed runs, and prefetches the rest of them.
func (r *planarRound) scanListed() (hits int, err error) {
	parallel.StageScan.Begin()
	for i := range r.listed {
		l := &r.listed[i]
		t, before := r.tables[l.table], hits
		if l.end-l.start > asm.PlanarLongest {
			hits, err = r.scanLong(hits, t, &longExtent{l.probe, l.start, l.end})
		} else if l.start < l.end {
			r.pieces[0] = asm.PlanarExtent{Start: l.start, Len: uint32(l.end - l.start), Probe: uint32(l.probe)}
			hits, err = r.scan(hits, t, r.pieces[:1])
		}
		if err != nil {
			return 0, err
		}
		r.prefetchRest(t, min(before, hits), hits)
	}
	r.listed = r.listed[:0]
	return hits, nil
}
