package main

import (
	"fmt"
	"math/bits"
	"testing"
	"time"

	"ndd/asm"
	"ndd/engine/oracle"
)

// BenchmarkWithin64 scans data that fits in L1, in L2, and 1 GiB. Beyond the caches the
// limit is the machine's sequential read speed: scan and read take turns over the same
// memory, and of-read is the share of the read speed that the scan reaches.
func BenchmarkWithin64(b *testing.B) {
	const q, k = 0x9e3779b97f4a7c15, 3
	dst := make([]uint32, 1024)
	words := bigMemory()
	for _, n := range []int{4 << 10, 128 << 10, len(words)} {
		xs := words[:n]
		keep := []uint64{xs[0], xs[n/2], xs[n-1]}
		xs[0], xs[n/2], xs[n-1] = q, q^7, q^1<<63
		oracle.AllKernels(b, func(kernel string) {
			b.Run(fmt.Sprintf("kernel=%s/n=%d", kernel, n), func(b *testing.B) {
				hits, scanned := asm.Within64(dst, xs, q, k)
				if hits != within64Count(xs, q, k) || scanned != n || dst[hits-1] != uint32(n-1) {
					b.Fatalf("%d hits in %d elements", hits, scanned)
				}
				scan := func() { asm.Within64(dst, xs, q, k) }
				if n < len(words) {
					ns := bestNs(b, scan) / float64(n)
					b.ReportMetric(ns, "ns/fp")
					b.ReportMetric(ns/cycleNs(), "cycles/fp")
					return
				}
				var scans, reads []time.Duration
				for b.Loop() {
					for range 5 {
						scans = append(scans, timed(scan))
						reads = append(reads, timed(func() { readAll(xs) }))
					}
				}
				reportAgainstRead(b, n*8, scans, reads)
			})
		})
		xs[0], xs[n/2], xs[n-1] = keep[0], keep[1], keep[2]
	}
}

// reportAgainstRead reports the speed of one kind of pass over size bytes, that of
// plain reads which took turns with it, and their ratio, of the best rounds and of
// the median ones.
func reportAgainstRead(b *testing.B, size int, passes, reads []time.Duration) {
	b.Helper()
	quick, middle := quickAndMiddle(passes)
	quickRead, middleRead := quickAndMiddle(reads)
	b.ReportMetric(float64(size)/float64(quick.Nanoseconds()), "GB/s")
	b.ReportMetric(float64(size)/float64(quickRead.Nanoseconds()), "read-GB/s")
	b.ReportMetric(float64(quickRead)/float64(quick), "of-read")
	b.ReportMetric(float64(middleRead)/float64(middle), "of-read-median")
}

func within64Count(xs []uint64, q uint64, k int) (n int) {
	for _, x := range xs {
		if bits.OnesCount64(x^q) <= k {
			n++
		}
	}
	return n
}

// BenchmarkWithin32 scans what fits in L1 and in L2, as a long bucket of a join may.
func BenchmarkWithin32(b *testing.B) {
	const q, k = 0x7f4a7c15, 3
	dst := make([]uint32, 1024)
	words := bigMemory()
	for _, n := range []int{100, 8 << 10, 256 << 10} {
		xs := make([]uint32, n)
		for i := range xs {
			xs[i] = uint32(words[i])
		}
		xs[0], xs[n-1] = q, q^7
		want := 0
		for _, x := range xs {
			if bits.OnesCount32(x^q) <= k {
				want++
			}
		}
		oracle.AllKernels(b, func(kernel string) {
			b.Run(fmt.Sprintf("kernel=%s/n=%d", kernel, n), func(b *testing.B) {
				hits, scanned := asm.Within32(dst, xs, q, k)
				if hits != want || scanned != n || dst[hits-1] != uint32(n-1) {
					b.Fatalf("%d hits in %d elements", hits, scanned)
				}
				ns := bestNs(b, func() { asm.Within32(dst, xs, q, k) }) / float64(n)
				b.ReportMetric(ns, "ns/element")
				b.ReportMetric(ns/cycleNs(), "cycles/element")
			})
		})
	}
}
