package plan

import (
	"math"
	"math/bits"

	"ndd/engine/index/table"
	"ndd/permute"
)

// planarModel is the layout of planes: see package table for the format.
//
// A probe reads its bucket's line, then its run of the low
// plane; both are known a pass ahead. What passes the low plane, by chance for
// nearly all, is held against the plane above, one more read.
type planarModel struct{}

const (
	planarLow  = 16 // bits of a key in the low plane
	planarSpan = 3  // leading bits less than a bucket has, with which a probe still reads bucket by bucket
	planarEnds = 48 // units to find both ends of the run of more, and to scan it by itself
	planarList = 8  // units to find them in a list
)

func (planarModel) layout() table.Layout { return table.LayoutPlanar }

// bucketBits returns the bits of a bucket.
func (planarModel) bucketBits(n float64, _ entry) int {
	bucketBits, _ := table.PlanarWidths(uint64(n))
	return int(bucketBits)
}

// parts leave the wide lines out: see [Sample.wideBytes].
func (md planarModel) parts(n float64, _ entry) []table.Part { return table.PlanarParts(uint64(n)) }

// units returns the number of buckets: a probe with fewer leading bits than a bucket
// reads every bucket that begins with them, or finds where the run of them all begins and ends.
// A run counts as many more as it has lines.
func (md planarModel) units(w *work) float64 {
	run := max(0, w.candidates-1) * planarLow / 8 / 64
	if w.listed() {
		return planarList + run
	}
	if more := md.bucketBits(w.keys, w.entry) - w.leading; more > planarSpan {
		return planarEnds + run
	} else if more > 0 {
		return math.Ldexp(1, more)
	}
	return 1 + run
}

// entries returns the number of lines of buckets: flips of a bucket's last bits share
// one, and a run of many buckets has two.
func (md planarModel) entries(w *work) float64 {
	b, perLine := table.PlanarWidths(uint64(w.keys))
	if w.listed() {
		return w.probes
	}
	if int(b)-w.leading > planarSpan {
		return 2 * w.probes
	}
	own := min(w.leading, max(0, int(b)+1-bits.Len64(perLine)))
	return float64(permute.Ball(own, w.radius))
}

// listed reports whether a list has the begin of the run of each probe.
func (w *work) listed() bool {
	bucketBits, _ := table.PlanarWidths(uint64(w.keys))
	return table.Listed(w.leading, w.radius, bucketBits, uint64(w.keys))
}

// time: the probes of all tables are one list, of which lines and runs
// are prefetched some hundred ahead. A query alone waits for each pass at least as
// long as one read takes.
func (md planarModel) time(tables []work) (online, batch float64) {
	c := planarCosts
	bytes := make(map[string]float64)
	// Of each query: instructions, and lines of buckets, of runs that are
	// prefetched, of runs that come by themselves, and of the plane above.
	var work, entries, prefetched, further, passing float64
	for i := range tables {
		w := &tables[i]
		for _, p := range md.parts(w.keys, w.entry) {
			bytes[p.Name] += float64(p.Bytes)
		}
		const ahead = 4 // lines of a run that are prefetched
		// Of leading bits that a bucket does not have a probe knows only when it has read the bucket.
		bucketBits := md.bucketBits(w.keys, w.entry)
		read := max(w.candidates, w.keys*math.Ldexp(1, -bucketBits))
		run := -math.Expm1(-read) + max(0, read-1)*planarLow/8/64
		unit := c.unit
		if more := bucketBits - w.leading; more > 0 && more <= planarSpan && !w.listed() {
			unit = c.probe // a bucket by itself costs as much as a probe
		}
		work += w.probes * (c.probe + (md.units(w)-1)*unit)
		entries += md.entries(w)
		prefetched += w.probes * min(run, ahead)
		further += w.probes * max(0, run-ahead)
		passing += w.passing()
	}
	work += passing * c.pass

	// A line of buckets is read again after as many others as there are, and
	// what those probes read of the larger planes.
	large := bytes["lines"] + bytes["low"]
	lines := extra(min(large, bytes["lines"]*(entries+prefetched+passing)/entries))
	low := extra(large)
	rest := extra(large + bytes["rest"])
	seek := entries * lines.together
	scan := prefetched*low.together + further*min(lineNS, low.together)
	check := passing * rest.together

	t := float64(len(tables))
	batch = indexBatchNS + t*c.table + work + seek + scan + check
	// Of a query alone, the misses of tables that lie apart, and their pages, overlap but for a tenth
	// (measured with 2, 4, 6 and 11 tables of 10 M).
	apart := t * (lines.alone + low.alone) / 10
	online = indexNS + c.call + t*c.query + apart + work + max(lines.alone, seek) + max(low.alone, scan) +
		max(-math.Expm1(-passing)*rest.alone, check)
	return online, batch
}
