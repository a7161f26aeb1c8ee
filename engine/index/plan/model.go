package plan

import (
	"math"
	"math/bits"

	"ndd/engine/index/table"
	"ndd/permute"
)

// A model predicts one layout's bytes and time. It has no state.
type model interface {
	layout() table.Layout

	// parts are the bytes of a table of n keys whose entries, where the
	// layout has such, take e bits.
	parts(n float64, e entry) []table.Part

	// bucketBits is how many leading bits tell buckets or blocks apart.
	bucketBits(n float64, e entry) int

	// units is how many blocks or buckets one probe looks into.
	units(w *work) float64

	// time is what a query of all the tables of an index takes, in ns.
	time(tables []work) (online, batch float64)
}

// indexNS is what an index adds to a query alone, around the search of its segments: by measurement
// 120 to 270 with two to eleven tables.
const indexNS = 180

// indexBatchNS is what an index adds to a query of a batch of a thousand: a call starts goroutines
// and wakes processors, whose caches do not have what a search works with, 15 to 25 us in all (a
// batch of 256 costs three times as much more than the search of its segment).
const indexBatchNS = 20

var models = []model{huffmanModel{}, planarModel{}}

// work is what one query has to do in one table of an index.
type work struct {
	keys       float64
	k          int
	leading    int     // bits that a probe fixes
	radius     int     // flips among them
	probes     float64 // patterns of flips
	candidates float64 // keys that one probe reads
	entry      entry
}

// newWork returns the work of table t over n uniform keys, whose probes fix leading bits.
func newWork(t permute.Table, leading int, n float64, k int, e entry) work {
	return work{
		keys: n, k: k, leading: leading, radius: t.Radius, entry: e,
		probes:     float64(permute.Ball(leading, t.Radius)),
		candidates: min(n, n*math.Ldexp(1, -leading)),
	}
}

// newUniformWork returns the work of table t over n uniform keys, whose probes fix as many leading
// bits as the table itself lets them fix.
func newUniformWork(md model, t permute.Table, n float64, k int, e entry) work {
	leading := t.Leading()
	if t.Radius > 0 {
		s := table.SampleOf(nil, md.layout(), n, md.bucketBits(n, e))
		leading = s.Probing(leading, t.Radius, k).Leading
	}
	return newWork(t, leading, n, k, e)
}

// workOn returns the work of table t over n keys like those of the sample, uniform ones if that is nil.
func workOn(s *Sample, md model, t permute.Table, n float64, k int, e entry) work {
	w := newUniformWork(md, t, n, k, e)
	if s == nil {
		return w
	}
	if t.Radius > 0 {
		keys := table.SampleOf(s.under(t.Mask), md.layout(), n, w.leading)
		if p := keys.Probing(t.Leading(), t.Radius, k); p.Leading > w.leading {
			w = newWork(t, p.Leading, n, k, e) // as the table itself will do
		}
	}
	w.candidates = min(n, n*s.share(t.Mask, w.leading, t.Radius)/w.probes)
	return w
}

// passing returns the part of a query's candidates whose low planarLow bits are within
// the distance that the flips leave: what chance lets through a comparison of
// only those bits.
func (w *work) passing() float64 {
	sum := 0.0
	for flips := 0; flips <= min(w.radius, w.leading); flips++ {
		pass := float64(permute.Ball(planarLow, w.k-flips)) * math.Ldexp(1, -planarLow)
		sum += float64(permute.Binomial(w.leading, flips)) * min(1, pass)
	}
	return sum * w.candidates
}

// bitsFor returns how many leading bits tell n equal parts apart, rounded up.
func bitsFor(n float64) int { return bits.Len64(uint64(max(n, 1) - 1)) }

func whole(x float64) uint64 { return uint64(math.Ceil(x)) }

func modelOf(layout table.Layout) model {
	for _, md := range models {
		if md.layout() == layout {
			return md
		}
	}
	panic("plan: no model of layout " + string(layout))
}
