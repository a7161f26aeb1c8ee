package plan

import (
	"math"
	"math/bits"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/permute"
)

// planarModel models the layout of planes. Package table describes the format.
//
// A probe reads the line of its bucket, and then its run of the low plane. Both addresses are known one pass in
// advance. A key whose low bits match, nearly always by chance, is compared in the plane above, with one more read.
type planarModel struct{}

const (
	planarLow  = 16 // bits of a key in the low plane
	planarSpan = 3  // maximum number of bits of a bucket that a probe leaves open to read bucket by bucket
	planarEnds = 48 // units to find both ends of a longer run, and to scan it
	planarList = 8  // units to find them in a list of starts
	waiting    = .5 // share of the cost of prefetched reads for which a search waits: it works during the others
)

func (planarModel) layout() table.Layout { return table.LayoutPlanar }

// bucketBits returns the bits of a bucket.
func (planarModel) bucketBits(n float64, _ entry) int {
	bucketBits, _ := table.PlanarWidths(uint64(n))
	return int(bucketBits)
}

// parts omits the wide lines: see [estimate.wideBytes].
func (md planarModel) parts(n float64, _ entry) []table.Part { return table.PlanarParts(uint64(n)) }

// units returns the number of buckets that a probe reads. A probe with fewer leading bits than a bucket reads every
// bucket with these bits, or finds the start and end of their run. Each line of a run counts as a further unit.
func (md planarModel) units(w *work) float64 {
	run := max(0, w.candidates-1) * planarLow / 8 / 64
	if w.usesList() {
		return planarList + run
	}
	if extra := md.bucketBits(w.keys, w.entry) - w.leading; extra > planarSpan {
		return planarEnds + run
	} else if extra > 0 {
		return math.Ldexp(1, extra)
	}
	return 1 + run
}

// entries returns the number of lines of buckets: flips of a bucket's last bits share one line, and a run of many
// buckets has two.
func (md planarModel) entries(w *work) float64 {
	b, perLine := table.PlanarWidths(uint64(w.keys))
	if w.usesList() {
		return w.probes
	}
	if int(b)-w.leading > planarSpan {
		return 2 * w.probes
	}
	entryBits := min(w.leading, max(0, int(b)+1-bits.Len64(perLine)))
	return float64(permute.Ball(entryBits, w.radius))
}

// usesList reports whether a list has the start of each probe's run.
func (w *work) usesList() bool {
	bucketBits, _ := table.PlanarWidths(uint64(w.keys))
	return table.Listed(w.leading, w.radius, bucketBits, uint64(w.keys))
}

// The probes of all tables form one list. Their lines and runs are prefetched some hundred probes ahead. A single query
// waits for at least one read in each pass.
func (md planarModel) time(m *Machine, tables []work) (online, batch float64) {
	c := planarCosts
	bytes := make(map[string]float64)
	// Sums per query: instructions, lines of buckets, prefetched lines of runs, further lines of runs, and lines of
	// the plane above.
	var work, entries, prefetched, beyond, passing float64
	for i := range tables {
		w := &tables[i]
		for _, p := range md.parts(w.keys, w.entry) {
			bytes[p.Name] += float64(p.Bytes)
		}
		const depth = 4 // number of prefetched lines of a run
		// If a probe fixes more bits than a bucket has, it compares them only after it has read the bucket.
		bucketBits := md.bucketBits(w.keys, w.entry)
		read := max(w.candidates, w.keys*math.Ldexp(1, -bucketBits))
		run := -math.Expm1(-read) + max(0, read-1)*planarLow/8/64
		unit := c.unit
		if extra := bucketBits - w.leading; extra > 0 && extra <= planarSpan && !w.usesList() {
			unit = c.probe // a separate bucket costs as much as a probe
		}
		work += w.probes * (c.probe + (md.units(w)-1)*unit)
		entries += md.entries(w)
		prefetched += w.probes * min(run, depth)
		beyond += w.probes * max(0, run-depth)
		passing += w.planeReads()
	}
	work += passing * c.pass

	// Between two reads of a line of buckets, as many probes read other lines as there are lines. These probes also
	// read the larger planes.
	total := bytes["lines"] + bytes["low"]
	lines := m.extra(min(total, bytes["lines"]*(entries+prefetched+passing)/entries))
	low := m.extra(total)
	restRead := m.extra(total + bytes["rest"])
	seek := waiting * entries * lines.batch
	scan := waiting*prefetched*low.batch + beyond*m.line(low)
	check := waiting * passing * restRead.batch

	t := float64(len(tables))
	batch = indexBatchNS + t*c.table + work + seek + scan + check
	// The misses of a single query in separate tables, and their TLB misses, overlap except for a fifth (measured
	// with 2, 4, 8 and 11 tables). Runs arrive while other probes are located, which takes half of the instructions.
	separate := t * (lines.single + low.single) / 5
	online = indexNS + c.call + t*c.query + separate + work + max(lines.single, seek) + max(low.single-work/2, scan) +
		max(-math.Expm1(-passing)*restRead.single, check)
	return online, batch
}
