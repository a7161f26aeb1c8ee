package main

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// cycleNs returns the length of a processor cycle in nanoseconds, measured by a chain of
// multiplications of three cycles each, as on all current amd64 and arm64 cores. The clock of a
// shared machine changes, so counts of cycles are estimates.
var cycleNs = sync.OnceValue(func() float64 {
	const steps = 1 << 20
	d := best(20, func() {
		x := uint64(3)
		for range steps {
			x *= x
		}
		sink.Add(x)
	})
	return float64(d.Nanoseconds()) / steps / 3
})

// quickAndMiddle returns the shortest and the median of some times.
func quickAndMiddle(times []time.Duration) (quick, middle time.Duration) {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[0], sorted[len(sorted)/2]
}

// bestNs runs f in rounds of some 50 microseconds, for as long as the benchmark
// lasts, and reports as ns/op what a call took in the best round: neighbours on a
// shared machine lengthen some rounds, never shorten one.
func bestNs(b *testing.B, f func()) float64 {
	b.Helper()
	calls := 1
	for timed(func() { repeat(calls, f) }) < 50*time.Microsecond {
		calls *= 2
	}
	shortest := time.Duration(1<<63 - 1)
	for b.Loop() {
		shortest = min(shortest, timed(func() { repeat(calls, f) }))
	}
	ns := float64(shortest.Nanoseconds()) / float64(calls)
	b.ReportMetric(ns, "ns/op")
	return ns
}

func repeat(n int, f func()) {
	for range n {
		f()
	}
}
