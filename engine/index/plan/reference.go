package plan

import "ndd/engine/index/table"

// Reference returns the fixed cost model: the costs by which a plan is made unless the request brings
// others, so that the same input gives the same index on every machine. They were measured by
// [Measure] on a Zen 5 server with AVX-512, 2 MiB of second-level cache and DDR5, the least of three
// quiet runs; reads beyond 256 MiB are those of the tables of 100 M to 8,000 M fingerprints there.
// BenchmarkPlan in bench prints what they predict beside what the machine that runs it takes. What
// decides a choice is how the costs stand to each other, which differs less between
// machines than the costs do.
func Reference() *Machine {
	return &Machine{
		Kernel: "reference",
		Reads: []Read{
			{256 << 10, 0.9, 4, 0}, {2 << 20, 1, 8, 0}, {16 << 20, 3, 40, 0}, {128 << 20, 10, 145, 0},
			{256 << 20, 11.4, 160, 0}, {1 << 30, 14, 250, 0}, {16 << 30, 18, 310, 0},
		},
		LineNS: 4.5,
		Layouts: map[table.Layout]Costs{
			table.LayoutHuffman: {CallNS: 35, QueryNS: 185, TableNS: 54, ProbeNS: 89, UnitNS: 410},
			table.LayoutPlanar:  {CallNS: 87, QueryNS: 44, ProbeNS: 13.5, UnitNS: 1.8, PassNS: 17},
		},
	}
}
