package table

import (
	"math/bits"

	"ndd/asm"
)

// A sharedSearch asks tables that hold the same fingerprints, each with one probe for each
// query, and does not read in one table what another has said. An answer whose leading
// bits a table fixes lies in the one bucket that the table is asked for: where that
// has one key, the key is the answer.
//
//	step        settle, locate, scan: 32 probes            then ask, in one burst
//
//	s-1                                                    for lines of buckets of table s
//	s           table s: locate, and route each run:       for low of the runs to be read now
//	              one key, and an answer is there              (nothing to read)
//	              its query waits for another run              (later)
//	s+1         scan: what passes, or its query waits      for rest of what passes
//	              no more
//	s+2         settle: an answer, or its query
//	              waits no more
//	end         later: route again, ask, scan, ask, settle
//
// The bursts matter: a prefetch does not retire before its page is known, and many must stand
// close to each other for several pages to be looked for at a time.
//
// So a query with an answer reads low and rest for one key, as a rule, and not in each of the
// tables that find it: of 11, all find what is equal, 6 what differs in one bit, 3 and
// 1 or more what differs in two and three. n = 1e8, a query in two with an answer: 16 lines instead of 19,
// and the instructions and jumps of 1.2 keys that pass instead of 2.8.
//
// In a file that lies, a bucket may have one key that is not the answer which another table
// says is there: that key is missed then, as it might be if the bucket lay elsewhere.
type sharedSearch struct {
	later   [probesPerRound]asm.PlanarRun // whose query waited
	ends    [sharedTablesMax]int          // of later, by table
	waits   [sharedQueriesMax]uint64      // by query: 1 or 0
	answers [sharedQueriesMax]uint64      // by query: how the first one that is known differs from it; none before
	buckets [sharedTablesMax]uint64       // by table: the bits of a fingerprint that its bucket has,
	fixed   [sharedTablesMax]uint64       // and that its probes fix
	asked   [2][]asm.PlanarRun            // by step: what was asked for low, of an even table and of an odd one
}

const (
	sharedQueriesMax = 64 // that are asked at once
	sharedQueriesMin = 8  // fewer would have too few misses under way
	sharedTablesMin  = 3
	sharedTablesMax  = probesPerRound / sharedQueriesMin
	// sharedAhead is how many steps after its lines of buckets are asked for a table is located: 2 and 4
	// are 4 % slower (BenchmarkTable, 11 tables).
	sharedAhead = 1
	none        = ^uint64(0) // of an answer: in no bucket
)

// shares says whether tables may use what others say.
func shares(tables []*planarTable, searches []Search) bool {
	if len(tables) < sharedTablesMin || len(tables) > sharedTablesMax || len(searches[0].Queries) < sharedQueriesMin {
		return false
	}
	for i := range searches {
		s := &searches[i]
		if s.Perm == nil || len(s.Flips) != 1 || s.Flips[0] != 0 || s.Leading < int(tables[i].directory.BucketBits) || s.Leading > s.Perm.Leading() {
			return false
		}
	}
	return true
}

// highest is the highest n bits of a mask.
func highest(mask uint64, n int) uint64 {
	for range bits.OnesCount64(mask) - n {
		mask &= mask - 1
	}
	return mask
}

// searchShared asks as many queries at a time as a round has room for, or fewer.
func (r *planarRound) searchShared() error {
	if r.shared == nil {
		r.shared = new(sharedSearch)
	}
	for i, t := range r.tables {
		mask := r.searches[i].Perm.Mask()
		r.shared.buckets[i] = highest(mask, int(t.directory.BucketBits))
		r.shared.fixed[i] = highest(mask, r.searches[i].Leading)
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

// runShared asks queries [from, to).
func (r *planarRound) runShared(from, to int) error {
	r.ask(from, to)
	sh, last := r.shared, len(r.stretch)
	for i := range min(last, sharedAhead) {
		r.stretch[i].ahead(r)
	}
	hits, later := 0, 0
	for step := range last + 1 {
		r.settleShared(hits)
		if step < last {
			s := &r.stretch[step]
			if err := r.find(s); err != nil {
				return err
			}
			sh.asked[step%2], later = sh.route(r.runs[s.from:][:s.runs], step, s.from, later)
		} else {
			sh.reroute(r)
		}
		hits = 0
		if step > 0 {
			var err error
			before := sh.asked[(step-1)%2]
			if hits, err = r.scan(0, r.tables[step-1], before); err != nil {
				return err
			}
			r.wait(before, hits, r.stretch[step-1].from)
			r.askRest(r.tables[step-1], 0, hits)
		}
		if step < last {
			r.tables[step].directory.Ask(sh.asked[step%2])
		} else {
			for i, t := range r.tables {
				t.directory.Ask(sh.of(i))
			}
		}
		if step+sharedAhead < last {
			r.stretch[step+sharedAhead].ahead(r)
		}
	}
	for i, t := range r.tables {
		before := hits
		var err error
		if hits, err = r.scan(hits, t, sh.of(i)); err != nil {
			return err
		}
		r.askRest(t, min(before, hits), hits)
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

// of is the runs of later of a table.
func (sh *sharedSearch) of(table int) []asm.PlanarRun {
	from := 0
	if table > 0 {
		from = sh.ends[table-1]
	}
	return sh.later[from:sh.ends[table]]
}

// ask makes the probes of queries [from, to), a stretch for each table.
func (r *planarRound) ask(from, to int) {
	n := to - from
	r.first = from
	r.stretch, r.long = r.stretch[:0], r.long[:0]
	for i, t := range r.tables {
		s := &r.searches[i]
		probes := r.probes[i*n:][:n]
		for q, key := range s.Queries[from:to] {
			probes[q] = asm.PlanarProbe{Key: key, Limit: uint16(s.K), Table: uint16(i), Query: uint32(from + q)}
		}
		r.stretch = append(r.stretch, stretch{table: t, from: i * n, to: i*n + n})
	}
	for q := range n {
		r.shared.waits[q], r.shared.answers[q] = 0, none
	}
}

// known is 1 if an answer is in the bucket whose only key a run is, and 0 if that is not known. mask is
// the bits of the bucket.
func known(answer, mask uint64, run asm.PlanarRun) uint64 {
	_, is := bits.Sub64(answer&mask|uint64(run.Len-1), 1, 0)
	return is
}

// route says which runs of a table, whose first probe has a number, are to be read now, and
// adds those of queries that wait to later. No branch depends on where a run goes.
func (sh *sharedSearch) route(runs []asm.PlanarRun, table, first, later int) (now []asm.PlanarRun, _ int) {
	mask, n := sh.buckets[table], 0
	for _, run := range runs {
		q := uint(run.Probe) - uint(first)
		unknown := 1 - known(sh.answers[q%sharedQueriesMax], mask, run)
		wait := &sh.waits[q%sharedQueriesMax]
		runs[n], sh.later[later] = run, run
		n += int(unknown &^ *wait)
		later += int(unknown & *wait)
		*wait |= unknown
	}
	sh.ends[table] = later
	return runs[:n], later
}

// wait lets queries wait no more whose runs were scanned, but those of hits.
func (r *planarRound) wait(runs []asm.PlanarRun, hits, first int) {
	for i := range runs {
		r.shared.waits[(uint(runs[i].Probe)-uint(first))%sharedQueriesMax] = 0
	}
	for i := range r.hits[:hits] {
		r.shared.waits[(uint(r.probes[r.hits[i].Probe].Query)-uint(r.first))%sharedQueriesMax] = 1
	}
}

// reroute drops those runs of later that are known by now.
func (sh *sharedSearch) reroute(r *planarRound) {
	at, left := 0, 0
	for i := range r.stretch {
		for _, run := range sh.later[at:sh.ends[i]] {
			q := uint(run.Probe) - uint(r.stretch[i].from)
			sh.later[left] = run
			left += int(1 - known(sh.answers[q%sharedQueriesMax], sh.buckets[i], run))
		}
		at, sh.ends[i] = sh.ends[i], left
	}
}

// settleShared makes matches of the first n hits whose whole key is close. The first answer of a query is a
// match of the first table that finds it, whichever says so first, and others are matches of the
// tables whose hits they are.
func (r *planarRound) settleShared(n int) {
	sh := r.shared
	for i := range r.hits[:n] {
		h := &r.hits[i]
		probe := &r.probes[h.Probe]
		q := (uint(probe.Query) - uint(r.first)) % sharedQueriesMax
		sh.waits[q] = 0
		t, s := r.tables[probe.Table], &r.searches[probe.Table]
		permuted := (t.below(h.Pos) ^ probe.Key) & (^uint64(0) >> t.directory.BucketBits)
		if bits.OnesCount64(permuted) > s.K || permuted&leadingMask(s.Leading) != 0 {
			continue
		}
		diff := s.Perm.Invert(permuted)
		switch {
		case sh.answers[q] == none:
			sh.answers[q] = diff
			first := 0
			for sh.fixed[first]&diff != 0 {
				first++
			}
			s = &r.searches[first]
			r.dst = append(r.dst, Match{first, int(probe.Query), s.Queries[probe.Query] ^ s.Perm.Apply(diff)})
		case sh.answers[q] != diff && !found(permuted, s.Earlier):
			r.dst = append(r.dst, Match{int(probe.Table), int(probe.Query), probe.Key ^ permuted})
		}
	}
}
