package plan

import "math"

// The costs hold for the reference machine, a Zen 5 server with AVX-512, 2 MiB of second-level cache and DDR5. They
// are the minimum of three quiet runs. Reads beyond 256 MiB were measured with tables of 100 M to 8,000 M
// fingerprints. "go run ./bench search" divides measured times by their predictions on the current machine. A choice
// depends on the ratios of the costs. These differ less between machines than the costs.
var (
	reads = []read{
		{256 << 10, 0.9, 4}, {2 << 20, 1, 8}, {16 << 20, 3, 40}, {128 << 20, 10, 145},
		{256 << 20, 11.4, 160}, {1 << 30, 14, 250}, {16 << 30, 18, 310},
	}
	huffmanCosts = costs{call: 35, query: 185, table: 54, probe: 89, unit: 410}
	planarCosts  = costs{call: 87, query: 44, probe: 13.5, unit: 1.8, pass: 17}
)

const (
	lineNS    = 4.5       // bytes of memory in which lineNS was measured
	lineReads = 256 << 20 // bytes of memory that lineNS was measured in
)

// A read is the cost in nanoseconds of reading a random 64-byte line in memory of that size.
type read struct {
	bytes           float64
	together, alone float64 // one of many concurrent reads; one that waits for the previous one
}

// costs has the costs of the instructions of a search in one layout, in nanoseconds.
type costs struct {
	call  float64 // a single query
	query float64 // each table of a single query
	table float64 // each table of a query in a batch
	probe float64 // a probe and its first unit
	unit  float64 // a further unit: a huffman block, a planar bucket
	pass  float64 // a key whose low bits match (planar)
}

// readAmong returns the cost of a random line in memory of that size. It interpolates linearly in the logarithm
// between the measured sizes.
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

// extra returns the additional cost of reading a line from memory instead of from the cache.
func extra(bytes float64) read {
	near, far := reads[0], readAmong(bytes)
	return read{far.bytes, far.together - near.together, far.alone - near.alone}
}

// line returns the cost of one more line of a block if a random line costs r. It scales lineNS by the ratio of r to a
// read in the memory of the lineNS measurement.
func line(r read) float64 {
	return min(lineNS, lineNS*r.together/extra(lineReads).together, r.together)
}
