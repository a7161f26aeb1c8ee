package plan

import (
	"math"
	"math/bits"

	"ndd/engine/table"
)

// planarModel is the layout of planes: see package table for the format.
//
// A probe reads its group's entries of the directory, then its run of the low
// plane; both are known a pass ahead. What passes the low plane, by chance for
// nearly all, is held against the plane above, one more read; only answers
// read the unary bits.
type planarModel struct{}

const (
	planarLow       = 16   // bits of a key in the low plane
	planarPad       = 32   // keys behind the last, in the low plane
	planarBlock     = 64   // groups to an entry of starts
	planarGroupsMin = 6    // group bits
	planarGroupsMax = 40   //
	planarFence     = 1024 // keys to a fence
	planarHead      = 32   // bytes
)

func (planarModel) layout() table.Layout { return table.LayoutPlanar }

// groupBits makes groups of 8 to 16 keys.
func (md planarModel) groupBits(n float64, _ entry) int {
	group, _ := md.widths(uint64(n))
	return group
}

func (planarModel) widths(n uint64) (groupBits, bucketBits int) {
	bucketBits = min(max(bits.Len64(max(n, 1)-1), planarGroupsMin), 64-planarLow)
	groupBits = min(max(bits.Len64(n)-4, planarGroupsMin), bucketBits, planarGroupsMax)
	return groupBits, bucketBits
}

// parts leave the wide blocks out, of which uniform keys have none.
func (md planarModel) parts(n float64, _ entry) []table.Part {
	keys := uint64(n)
	g, b := md.widths(keys)
	groups := uint64(1) << g
	words := func(bits uint64) uint64 { return (bits + 63) / 64 * 8 }
	return []table.Part{
		{Name: "low", Bytes: 2 * (keys + planarPad)},
		{Name: "rest", Bytes: words(keys * uint64(64-planarLow-b))},
		{Name: "unary", Bytes: words(1<<b + keys)},
		{Name: "starts", Bytes: 8 * (groups/planarBlock + 1)},
		{Name: "groups", Bytes: groups + 8},
		{Name: "fences", Bytes: 8 * ((keys + planarFence - 1) / planarFence)},
		{Name: "head", Bytes: planarHead},
	}
}

// units is the number of lines that a run lies on, its start anywhere.
func (planarModel) units(_, candidates float64, _ entry) float64 {
	return 1 + max(0, candidates-1)*planarLow/8/64
}

func (md planarModel) time(m *Machine, w *work) (online, batch float64) {
	c := m.Layouts[md.layout()]
	bytes := make(map[string]float64)
	for _, p := range md.parts(w.keys, w.entry) {
		bytes[p.Name] = w.tables * float64(p.Bytes)
	}
	// The directory is read as often as the far larger planes, so that caches
	// keep it first.
	directory := bytes["starts"] + bytes["groups"]
	groups := m.extra(directory)
	low := m.extra(directory + bytes["low"])
	rest := m.extra(directory + bytes["low"] + bytes["rest"])
	units := md.units(w.keys, w.candidates, w.entry)

	// A run's first lines are asked for ahead; those beyond come by themselves.
	const asked = 4
	lines := min(units, asked)*low.Together + max(0, units-asked)*min(m.LineNS, low.Together)
	const entries = 2 // a line of starts, one of corrections
	probes := w.probes * (c.ProbeNS + (units-1)*c.UnitNS)
	passing := w.passing(planarLow)

	batch = probes + w.probes*(entries*groups.Together+lines) + passing*(c.PassNS+rest.Together)
	online = c.QueryNS + probes + passing*c.PassNS +
		max(groups.Alone, w.probes*entries*groups.Together) +
		max(low.Alone, w.probes*lines) +
		-math.Expm1(-passing)*rest.Alone + max(0, passing-1)*rest.Together
	return online, batch
}
