package plan

// The costs of the reference machine, a Zen 5 server with AVX-512, 2 MiB of second-level cache and DDR5. They are the
// minimum of three quiet runs. Reads beyond 256 MiB were measured with tables of 100 M to 8,000 M fingerprints. A
// choice depends on the ratios of the costs. These differ less between machines than the costs. "go run ./bench search"
// compares measured times with their predictions on the current machine.
var (
	reference = Machine{[]read{
		{256 << 10, 0.9, 4}, {2 << 20, 1, 8}, {16 << 20, 3, 40}, {128 << 20, 10, 145},
		{256 << 20, 11.4, 160}, {1 << 30, 14, 250}, {16 << 30, 18, 310},
	}}
	huffmanCosts = costs{call: 35, query: 185, table: 54, probe: 89, unit: 410}
	planarCosts  = costs{call: 87, query: 44, table: 15, probe: 13.5, unit: 1.8, pass: 17}
)

const (
	lineShare = 4.5 / 10.5 // cost of one more line of a block, as a share of a random line in lineReads bytes
	lineReads = 256 << 20  // bytes of memory in which lineShare was measured
)

// A read is the cost in nanoseconds of reading a random 64-byte line in memory of that size.
type read struct {
	bytes         float64
	batch, single float64 // one of many concurrent reads; one that waits for the previous one
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
