package plan

import "math"

// The costs are those of the reference machine, a Zen 5 server with AVX-512, 2 MiB of second-level
// cache and DDR5, as the least of three quiet runs. Reads beyond 256 MiB are those of the tables of 100 M
// to 8,000 M fingerprints there. go run ./bench search divides what the machine that runs it takes
// by what they predict. A choice depends on the ratios of the costs, which differ less between machines
// than the costs do.
var (
	reads = []read{
		{256 << 10, 0.9, 4}, {2 << 20, 1, 8}, {16 << 20, 3, 40}, {128 << 20, 10, 145},
		{256 << 20, 11.4, 160}, {1 << 30, 14, 250}, {16 << 30, 18, 310},
	}
	huffmanCosts = costs{call: 35, query: 185, table: 54, probe: 89, unit: 410}
	planarCosts  = costs{call: 87, query: 44, probe: 13.5, unit: 1.8, pass: 17}
)

const (
	lineNS    = 4.5       // one more 64-byte line of a run read in order
	lineReads = 256 << 20 // bytes of memory that lineNS was measured in
)

// A read is the cost in nanoseconds of reading a random 64-byte line among bytes of memory.
type read struct {
	bytes           float64
	together, alone float64 // one of many at once; one that waits for the one before
}

// costs are those of the instructions of a search in one layout, in nanoseconds.
type costs struct {
	call  float64 // a query that comes alone
	query float64 // each table, for a query that comes alone
	table float64 // each table, for a query in a batch
	probe float64 // a probe and its first unit
	unit  float64 // a further unit: huffman block, planar bucket
	pass  float64 // a key that passed a comparison of its low bits (planar)
}

// readAmong returns the cost of a random line among bytes: linear in the logarithm
// between the sizes measured.
func readAmong(bytes float64) read {
	for i, high := range reads {
		if bytes > high.bytes {
			continue
		}
		if i == 0 {
			return high
		}
		low := reads[i-1]
		x := math.Log(bytes/low.bytes) / math.Log(high.bytes/low.bytes)
		return read{bytes, low.together + x*(high.together-low.together), low.alone + x*(high.alone-low.alone)}
	}
	return reads[len(reads)-1]
}

// extra returns what a line costs beyond what the same code pays in cache.
func extra(bytes float64) read {
	near, far := reads[0], readAmong(bytes)
	return read{far.bytes, far.together - near.together, far.alone - near.alone}
}

// line returns the cost of one more line of a block where a random line costs r: as much less than
// lineNS as r is less than a read where lineNS was measured.
func line(r read) float64 {
	return min(lineNS, lineNS*r.together/extra(lineReads).together, r.together)
}
