package bench

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
	"unsafe"

	"ndd/asm"
)

// probes gives queries of 33 spans each, 16 to 32 elements long, anywhere in low,
// as a query of the planar table has them in one of two tables for k = 3.
func probes(r *rand.Rand, low []uint32, queries int) [][]asm.Span {
	const runs = 33
	all := make([][]asm.Span, queries)
	for i := range all {
		all[i] = make([]asm.Span, runs)
		for j := range all[i] {
			n := 16 + r.IntN(17)
			limit := uint32(2)
			if j == 0 {
				limit = 3
			}
			all[i][j] = asm.Span{Start: uint64(r.IntN(len(low) - n)), Len: uint32(n), Limit: limit}
		}
	}
	return all
}

func within32Count(low []uint32, q uint32, spans []asm.Span) (hits int) {
	for _, s := range spans {
		for _, x := range low[s.Start : s.Start+uint64(s.Len)] {
			if uint32(bits.OnesCount32(x^q)) <= s.Limit {
				hits++
			}
		}
	}
	return hits
}

// BenchmarkWithin32Cache is one query's 33 spans, everything in L1, calls included.
func BenchmarkWithin32Cache(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	low := make([]uint32, 8<<10)
	for i := range low {
		low[i] = r.Uint32()
	}
	queries := probes(r, low, 1)
	spans, dst := queries[0], make([]asm.Hit32, 64)
	runs := make([]asm.Run, len(spans))
	for i, s := range spans {
		runs[i] = asm.Run{Span: s, Query: uint32(i)}
	}
	eachKernel(b, func(b *testing.B, kernel string) {
		for q := range uint32(1000) {
			if hits, done := asm.Within32(dst, low, q, spans); hits != within32Count(low, q, spans) || done != len(spans) {
				b.Fatalf("query %d: %d hits in %d spans", q, hits, done)
			}
		}
		b.Run("kernel="+kernel+"/form=query", func(b *testing.B) {
			reportRuns(b, bestNs(b, func() { asm.Within32(dst, low, 5, spans) }), len(spans))
		})
		b.Run("kernel="+kernel+"/form=runs", func(b *testing.B) {
			reportRuns(b, bestNs(b, func() { asm.Within32Runs(dst, low, runs) }), len(runs))
		})
	})
}

func reportRuns(b *testing.B, ns float64, runs int) {
	b.Helper()
	b.ReportMetric(ns/float64(runs), "ns/run")
	b.ReportMetric(ns/float64(runs)/cycleNs(), "cycles/run")
}

// BenchmarkWithin32Memory is queries of 33 spans over 1 GiB: each span is two or
// three lines that no cache holds. ahead=no scans only; query asks for all lines of
// a query before it scans them; next asks for the lines of the next query before it
// scans this one.
func BenchmarkWithin32Memory(b *testing.B) {
	words := bigMemory()
	low := unsafe.Slice((*uint32)(unsafe.Pointer(&words[0])), 2*len(words))
	queries := probes(rand.New(rand.NewPCG(3, 4)), low, 1<<14)
	lines := 0
	for _, spans := range queries {
		for _, s := range spans {
			lines += int((s.Start+uint64(s.Len)-1)/16 - s.Start/16 + 1)
		}
	}
	dst := make([]asm.Hit32, 256)
	eachKernel(b, func(b *testing.B, kernel string) {
		for i, spans := range queries[:200] {
			if hits, done := asm.Within32(dst, low, uint32(i), spans); hits != within32Count(low, uint32(i), spans) || done != len(spans) {
				b.Fatalf("query %d: %d hits in %d spans", i, hits, done)
			}
		}
		for _, ahead := range []string{"no", "query", "next"} {
			b.Run(fmt.Sprintf("kernel=%s/ahead=%s", kernel, ahead), func(b *testing.B) {
				i := 0
				ns := bestNs(b, func() {
					spans, next := queries[i%len(queries)], queries[(i+1)%len(queries)]
					switch ahead {
					case "query":
						asm.Prefetch32(low, spans)
					case "next":
						asm.Prefetch32(low, next)
					}
					asm.Within32(dst, low, uint32(i), spans)
					i++
				})
				reportRuns(b, ns, len(queries[0]))
				b.ReportMetric(ns/float64(lines)*float64(len(queries)), "ns/line")
				b.ReportMetric(memory().independentNs, "machine-ns/miss")
			})
		}
	})
}
