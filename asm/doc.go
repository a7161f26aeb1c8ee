// Package asm holds the kernels: the few inner loops in which ndd spends its
// time, each written once in Go as its specification and again in assembly for
// the processors that matter.
//
//	            NDD_KERNEL, --kernel         what the CPU and its OS can do
//	                    \                         /
//	                     +------- Select --------+
//	                                 |
//	          generic        avx2    |    avx512          neon
//	        (any machine)   (amd64)  |    (amd64)        (arm64)
//	                                 v
//	within64     []uint64, q, k              -> indexes within k bits of q
//	within32     []uint32, q, k              -> the same
//	votes        []uint64 [, weights]        -> 64 sums, one a bit position
//	join, deal   queries in buckets, keys    -> pairs within k in 32 bits; keys in piles
//	halves, sift []uint64, a map of bits     -> words in piles by either half; those whose bit is set
//	interpolate, decode, permute, buckets    -> see their files
//	seek         halves of coded blocks       -> keys near a query, of many halves at once
//	countdigits  []uint64, mask              -> how many have each value of the mask's bits
//	planar       lines of buckets, low bits   -> runs of the buckets; positions within each limit
//	leaves       []uint64, ends              -> each leaf of up to 16 sorted
//	nearrows     []uint64, ends, k           -> keys with another near them in their run
//
// # Words
//
// A kernel is one operation with one contract. A backend is one way to run all
// of them, named generic, avx2, avx512 or neon; exactly one is in use at a time.
// A run is a stretch of consecutive elements of one big array. A hit is an
// element that a query asked for.
//
// # One shape for every kernel
//
//	x.go            contract, napkin, exported wrapper: checks, splits, race annotations
//	x_generic.go    the specification: xGeneric, plain Go, right on every machine
//	x_amd64.go, .s  //go:build !purego: x picks xAVX512, xAVX2 or xGeneric by useAVX512, useAVX2
//	x_arm64.go, .s  //go:build !purego: x picks xNEON or xGeneric by useNEON
//	x_other.go      //go:build purego || !(amd64 || arm64): x is xGeneric
//	x_test.go       every backend against xGeneric, on guarded memory
//
// The choice is a branch on a package-level boolean, never a function variable:
// a call through a variable would make the caller's buffers escape to the heap.
// A kernel takes slices and gives results; it allocates nothing, knows no errors
// and no policy, and never touches a byte outside its slices.
//
// # Cost
//
// A kernel is a leaf call that the runtime cannot preempt, so every wrapper cuts
// long work into calls of well under 100 microseconds: at 4 GB/s, a poor machine,
// that is 400 KB a call. The cut costs a few nanoseconds each.
//
// # Concurrency
//
// Every kernel may be called from any number of goroutines on its own outputs.
// Select and Init are not for that: a program calls them once, before it uses a
// kernel. The race detector and the sanitizers cannot see into assembly, so the
// wrappers tell the race detector what they read and write.
package asm
