package main

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/memory"
)

// The speed of the machine's memory for one thread. A kernel that reads more than the caches hold is compared with it.
// The machine is shared and its clock frequency changes, so figures are the best of several short rounds. A ratio is
// taken between alternating rounds.

// memoryBytes is the size of the memory that is measured: far more than the caches.
const memoryBytes = 1 << 30

// memoryFigures are for one thread.
type memoryFigures struct {
	ReadGBps      float64 // sequential
	DependentNs   float64 // latency of a miss whose address comes from the previous miss
	IndependentNs float64 // time per miss if the addresses are known in advance
}

func (m memoryFigures) String() string {
	return fmt.Sprintf("read %.1f GB/s, dependent miss %.0f ns, independent miss %.1f ns", m.ReadGBps, m.DependentNs,
		m.IndependentNs)
}

// machineMemory measures once a run.
var machineMemory = sync.OnceValue(func() memoryFigures { return measureMemory(memoryBytes) })

// measureMemory measures in size bytes, on huge pages where the system grants them.
func measureMemory(size int) memoryFigures {
	buffer, err := memory.Make[uint64](size / 8)
	if err != nil {
		panic(err) // a machine without 1 GiB has nothing to measure
	}
	defer buffer.Free()
	words := buffer.Data
	for i := range words {
		words[i] = token.Mix(uint64(i))
	}
	const dependent, independent = 200_000, 4_000_000
	return memoryFigures{
		ReadGBps:      float64(size) / best(5, func() { readAll(words) }).Seconds() / 1e9,
		DependentNs:   best(3, func() { chase(words, dependent) }).Seconds() / dependent * 1e9,
		IndependentNs: best(3, func() { scatter(words, independent) }).Seconds() / independent * 1e9,
	}
}

// best returns the shortest time of n runs of f.
func best(n int, f func()) time.Duration {
	shortest := time.Duration(1<<63 - 1)
	for range n {
		shortest = min(shortest, measureTime(f))
	}
	return shortest
}

func measureTime(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// sink receives results of timed computations, so that the compiler keeps them.
var sink atomic.Uint64

// readAll reads words by searching for a rare byte with the standard library, which uses vector instructions if the
// machine has them.
func readAll(words []uint64) {
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
	sink.Add(uint64(bytes.Count(data, []byte{7})))
}

// chase makes n cache misses one after the other: each address depends on the word before.
func chase(words []uint64, n int) {
	mask := uint64(len(words) - 1)
	at := uint64(1)
	for range n {
		at = token.Mix(at + words[at&mask])
	}
	sink.Add(at)
}

// scatter makes n cache misses whose addresses do not depend on memory.
func scatter(words []uint64, n int) {
	mask := uint64(len(words) - 1)
	var sum uint64
	for i := range uint64(n) {
		sum += words[token.Mix(i)&mask]
	}
	sink.Add(sum)
}
