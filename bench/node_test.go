package main

import (
	"fmt"
	"testing"
	"unsafe"

	"ndd/numa"
)

// BenchmarkNode reads the memory of every node from the processors of every node: the cost of
// a remote miss, and so the value of placement, on this host. Interleaved
// memory is in between. A host of one node has one line.
func BenchmarkNode(b *testing.B) {
	h := numa.New(numa.Options{})
	readerOf() // measures itself first
	for _, memory := range h.Nodes() {
		arena, err := h.Arena(memory, memoryBytes/2, numa.Transparent)
		if err != nil {
			b.Fatal(err)
		}
		words := unsafe.Slice((*uint64)(unsafe.Pointer(&arena.Data[0])), len(arena.Data)/8)
		h.Each(memory, 1, func(int) {
			for i := range words {
				words[i] = mix(uint64(i))
			}
		})
		if where := arena.Placement(); !where.Whole() && len(h.Notes()) == 0 {
			b.Errorf("%v", where)
		}
		for _, reader := range h.Nodes() {
			b.Run(fmt.Sprintf("memory=%d/processor=%d", memory.ID, reader.ID), func(b *testing.B) {
				var dependent, independent, read float64
				for b.Loop() {
					h.Each(reader, 1, func(int) {
						dependent = perMiss(best(1, func() { chase(words, missesDependent) }), missesDependent)
						independent = perMiss(best(1, func() { scatter(words, missesIndependent) }), missesIndependent)
						read = float64(len(arena.Data)) / best(1, func() { readAll(words) }).Seconds() / 1e9
					})
				}
				b.ReportMetric(dependent, "dependent-ns/miss")
				b.ReportMetric(independent, "independent-ns/miss")
				b.ReportMetric(read, "GB/s")
			})
		}
		arena.Free()
	}
	b.Logf("%v; %q", h, h.Notes())
}
