package plan

import (
	"math"
	"math/bits"

	"ndd/engine/table"
	"ndd/permute"
)

// planarModel is the layout of planes: see package table for the format.
//
// A probe reads its group's line of the directory, then its run of the low
// plane; both are known a pass ahead. What passes the low plane, by chance for
// nearly all, is held against the plane above, one more read; only answers
// read the unary bits.
type planarModel struct{}

const (
	planarLow       = 16   // bits of a key in the low plane
	planarPad       = 32   // keys behind the last, in the low plane
	planarBlock     = 64   // groups to a line of the directory
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
		{Name: "groups", Bytes: 64 * (groups/planarBlock + 1)},
		{Name: "fences", Bytes: 8 * ((keys + planarFence - 1) / planarFence)},
		{Name: "head", Bytes: planarHead},
	}
}

// units is the number of groups: a probe with fewer leading bits than a group
// has asks every group that begins with them. A long group counts as many as it
// has lines.
func (md planarModel) units(w *work) float64 {
	groups := math.Ldexp(1, max(0, md.groupBits(w.keys, w.entry)-w.leading))
	return max(groups, w.candidates*planarLow/8/64)
}

// entries is the number of lines of the directory: flips of a group's last six
// bits share one.
func (md planarModel) entries(w *work) float64 {
	block := md.groupBits(w.keys, w.entry) - 6
	lines := math.Ldexp(1, max(0, block-w.leading))
	return lines * float64(permute.Ball(min(w.leading, block), w.radius))
}

// time: the probes of all tables are one list, of which directory and runs
// are asked for some hundred ahead. A query alone waits for each pass at least as
// long as one read takes.
func (md planarModel) time(m *Machine, tables []work) (online, batch float64) {
	c := m.Layouts[md.layout()]
	bytes := make(map[string]float64)
	// Of each query: instructions, and lines of the directory, of runs that are
	// asked for, of runs that come by themselves, and of the plane above.
	var work, entries, asked, further, passing float64
	for i := range tables {
		w := &tables[i]
		for _, p := range md.parts(w.keys, w.entry) {
			bytes[p.Name] += float64(p.Bytes)
		}
		const ahead = 4 // lines of a run that are asked for
		run := 1 + max(0, w.candidates-1)*planarLow/8/64
		work += w.probes * (c.ProbeNS + (md.units(w)-1)*c.UnitNS)
		entries += md.entries(w)
		asked += w.probes * min(run, ahead)
		further += w.probes * max(0, run-ahead)
		passing += w.passing(planarLow)
	}
	work += passing * c.PassNS

	// A line of the directory is read again after as many others as the
	// directory has lines, and what those probes read of the larger planes.
	large := bytes["groups"] + bytes["low"]
	groups := m.extra(min(large, bytes["groups"]*(entries+asked+passing)/entries))
	low := m.extra(large)
	rest := m.extra(large + bytes["rest"])
	seek := entries * groups.Together
	scan := asked*low.Together + further*min(m.LineNS, low.Together)
	check := passing * rest.Together

	t := float64(len(tables))
	batch = t*c.TableNS + work + seek + scan + check
	online = c.CallNS + t*c.QueryNS + work + max(groups.Alone, seek) + max(low.Alone, scan) +
		max(-math.Expm1(-passing)*rest.Alone, check)
	return online, batch
}
