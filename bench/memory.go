package main

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"ndd/engine/memory"
)

// The speed of the machine's memory for one thread, with which every figure of a kernel that
// reads more than the caches hold has to be compared. The machine is shared
// and its clock changes, so figures are the best of several short rounds, and a ratio
// is taken between rounds that alternate.

// memoryBytes is the size of the memory that is measured: far more than the caches.
const memoryBytes = 1 << 30

// memoryFigures are for one thread.
type memoryFigures struct {
	ReadGBps      float64 `json:"read_gb_per_second"`  // sequential
	DependentNs   float64 `json:"dependent_miss_ns"`   // a miss whose address the one before has to deliver
	IndependentNs float64 `json:"independent_miss_ns"` // one of many misses whose addresses are known at once
}

func (m memoryFigures) String() string {
	return fmt.Sprintf("read %.1f GB/s, dependent miss %.0f ns, independent miss %.1f ns", m.ReadGBps, m.DependentNs, m.IndependentNs)
}

// bigMemory is memoryBytes of memory, on huge pages where the system grants them,
// shared by all benchmarks of a run; each fills it before use.
var bigMemory = sync.OnceValue(func() []uint64 {
	buffer, err := memory.Make[uint64](memoryBytes / 8)
	if err != nil {
		panic(err) // a machine without 1 GiB has nothing to measure
	}
	words := buffer.Data
	for i := range words {
		words[i] = mix(uint64(i))
	}
	return words
})

// machineMemory measures once a run.
var machineMemory = sync.OnceValue(func() memoryFigures {
	words := bigMemory()
	m := memoryFigures{
		ReadGBps:      memoryBytes / best(5, func() { readAll(words) }).Seconds() / 1e9,
		DependentNs:   perMiss(best(3, func() { chase(words, missesDependent) }), missesDependent),
		IndependentNs: perMiss(best(3, func() { scatter(words, missesIndependent) }), missesIndependent),
	}
	return m
})

const (
	missesDependent   = 200_000
	missesIndependent = 4_000_000
)

func perMiss(d time.Duration, misses int) float64 { return float64(d.Nanoseconds()) / float64(misses) }

// best returns the shortest time of n runs of f.
func best(n int, f func()) time.Duration {
	shortest := time.Duration(1<<63 - 1)
	for range n {
		shortest = min(shortest, timed(f))
	}
	return shortest
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// sink takes what is computed only to be timed.
var sink atomic.Uint64

// readAll reads words in the faster of two ways: a search of the standard library, which uses vector
// instructions, for a byte that is hardly ever there, and eight sums in plain Go.
func readAll(words []uint64) { readers[readerOf()](words) }

var readers = []func([]uint64){
	func(words []uint64) {
		var s [8]uint64
		for ; len(words) >= 8; words = words[8:] {
			w := words[:8:8]
			s[0] += w[0]
			s[1] += w[1]
			s[2] += w[2]
			s[3] += w[3]
			s[4] += w[4]
			s[5] += w[5]
			s[6] += w[6]
			s[7] += w[7]
		}
		sink.Add(s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7])
	},
	func(words []uint64) {
		sink.Add(uint64(bytes.Count(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8), []byte{7})))
	},
}

// readerOf returns the number of the faster reader on this machine.
var readerOf = sync.OnceValue(func() int {
	words := bigMemory()
	quickest, which := time.Duration(1<<63-1), 0
	for i, read := range readers {
		if d := best(3, func() { read(words) }); d < quickest {
			quickest, which = d, i
		}
	}
	return which
})

// chase makes n cache misses one after the other: each address depends on the word before.
func chase(words []uint64, n int) {
	mask := uint64(len(words) - 1)
	at := uint64(1)
	for range n {
		at = mix(at + words[at&mask])
	}
	sink.Add(at)
}

// scatter makes n cache misses whose addresses do not depend on memory.
func scatter(words []uint64, n int) {
	mask := uint64(len(words) - 1)
	var sum uint64
	for i := range uint64(n) {
		sum += words[mix(i)&mask]
	}
	sink.Add(sum)
}

// mix is a bijection of 64-bit words without visible pattern (splitmix64's
// finaliser).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
