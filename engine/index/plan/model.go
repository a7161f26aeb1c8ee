package plan

import (
	"math"
	"math/bits"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/permute"
)

// A model predicts the bytes and time of one layout. It has no state.
type model interface {
	layout() table.Layout

	// parts returns the sizes of the parts of a table of n keys. Entries, if the layout has them, take e bits.
	parts(n float64, e entry) []table.Part

	// bucketBits returns the number of leading bits that distinguish buckets or blocks.
	bucketBits(n float64, e entry) int

	// units returns the number of blocks or buckets that one probe reads.
	units(w *work) float64

	// time returns the time of a query of all tables of an index, in ns.
	time(m *Machine, tables []work) (online, batch float64)
}

// indexNS is the time of a single query outside the search of segments. Measured: 120 to 270 with two to eleven
// tables.
const indexNS = 180

// indexBatchNS is the time per query of a batch of a thousand outside the search of segments. A call starts
// goroutines and wakes processors with cold caches, 15 to 25 us in all. For a batch of 256 this part is three times
// as large per query.
const indexBatchNS = 20

// answers returns the time for the answer of a query, if half of the queries have an answer, in tables of that many
// bytes. Several reads find the key and the document number. In a batch, the reads of different answers overlap.
// Measured with 1 and 10 million fingerprints: 210 to 390 ns per query.
func (m *Machine) answers(bytes float64) (online, batch float64) {
	const share, instructions, stalls, lines = 0.5, 400, 2, 12
	r := m.extra(bytes)
	return share * (instructions + stalls*r.single), share * (instructions + lines*r.batch)
}

var models = []model{huffmanModel{}, planarModel{}}

// work is the work of one query in one table of an index.
type work struct {
	keys       float64
	k          int
	leading    int     // number of bits that a probe fixes
	radius     int     // maximum number of flips among the leading bits
	probes     float64 // number of patterns of flips
	candidates float64 // number of keys that one probe reads
	entry      entry
}

// newWork returns the work in table t of n uniform keys. Its probes fix leading bits.
func newWork(t permute.Table, leading int, n float64, k int, e entry) work {
	return work{
		keys: n, k: k, leading: leading, radius: t.Radius, entry: e,
		probes:     float64(permute.Ball(leading, t.Radius)),
		candidates: min(n, n*math.Ldexp(1, -leading)),
	}
}

// newUniformWork returns the work in table t of n uniform keys. Its probes fix as many leading bits as those of the
// table itself.
func newUniformWork(md model, t permute.Table, n float64, k int, e entry) work {
	leading := t.Leading()
	if t.Radius > 0 {
		s := table.SampleOf(nil, md.layout(), n, md.bucketBits(n, e))
		leading = s.PlanProbes(leading, t.Radius, k).Leading
	}
	return newWork(t, leading, n, k, e)
}

// workOn returns the work in table t of n keys that are distributed as in the estimate, or uniformly if it is nil.
func workOn(s *estimate, md model, t permute.Table, n float64, k int, e entry) work {
	w := newUniformWork(md, t, n, k, e)
	if s == nil {
		return w
	}
	if t.Radius > 0 {
		keys := table.SampleOf(s.keys, md.layout(), n, w.leading)
		if p := keys.PlanProbes(t.Leading(), t.Radius, k); p.Leading > w.leading {
			w = newWork(t, p.Leading, n, k, e) // the same number of leading bits as the table itself
		}
	}
	w.candidates = min(n, n*s.share(w.leading, t.Radius)/w.probes)
	return w
}

// planeReads returns the number of a query's candidates whose low planarLow bits match by chance. They may differ in as
// many bits as the flips leave of the distance.
func (w *work) planeReads() float64 {
	sum := 0.0
	for flips := 0; flips <= min(w.radius, w.leading); flips++ {
		pass := float64(permute.Ball(planarLow, w.k-flips)) * math.Ldexp(1, -planarLow)
		sum += float64(permute.Binomial(w.leading, flips)) * min(1, pass)
	}
	return sum * w.candidates
}

// bitsFor returns the number of leading bits that distinguish n equal parts, rounded up.
func bitsFor(n float64) int { return bits.Len64(uint64(max(n, 1) - 1)) }

func roundUp(x float64) uint64 { return uint64(math.Ceil(x)) }

func modelOf(layout table.Layout) model {
	for _, md := range models {
		if md.layout() == layout {
			return md
		}
	}
	panic("plan: no model of layout " + string(layout))
}
