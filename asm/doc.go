// Package asm has the kernels: the few inner loops in which ndd spends its time. Each is written once in Go as its
// specification, and again in assembly for the important processors.
//
//	            NDD_KERNEL, --kernel         what the CPU and its OS can do
//	                    \                         /
//	                     +------- Select --------+
//	                                 |
//	          generic        avx2    |    avx512          neon
//	        (any machine)   (amd64)  |    (amd64)        (arm64)
//	                                 v
//	within64, within32   elements, q, k             -> indexes within k bits of q
//	differ               a row of words, other rows    -> number of bits in which each differs
//	weightedVotes        hashes, weights            -> 64 sums, one per bit position
//	interpolate          sorted keys, sought ones   -> their lower bounds
//	permute              keys, mask                 -> keys whose masked bits lead
//	scatter              keys, starts               -> keys in buckets by their leading bits
//	leaves               keys in leaves of up to 16 -> each leaf sorted
//	nearrows             buckets of keys, k         -> keys with another near them in their bucket
//	decode               half a Huffman block       -> its keys
//	seek                 many halves, queries, k    -> the keys near each query
//	planar               lines of buckets, low bits -> extents of the buckets; positions within each limit
//	join                 queries in buckets, words  -> pairs within k in 32 bits
//	scatter_halves       fingerprints               -> words in partitions by either half
//	filter               words, bitmap              -> the words whose bit is set
//	prefetch             addresses                  -> nothing; their lines are being loaded
//
// # Terms
//
// A kernel is one operation with one contract. A backend is one way to run all of them: generic, avx2, avx512 or
// neon. Exactly one is in use at a time. An extent is a range of elements of one large array. A hit is an element
// that a query matches.
//
// # Kernels compute, callers decide
//
// A kernel receives slices and returns results. It allocates nothing, returns no errors, keeps no state between
// calls, and never accesses a byte outside its slices. If it needs more slices than fit an argument list, the caller
// passes a struct of them, such as JoinBuckets. The packages that use the kernels decide which tables exist, their
// layout in memory, and which of two algorithms is faster. [Accelerated] tells them what they need to know about the
// backend.
//
// # One shape for every kernel
//
//	x.go             contract, exported wrapper: checks, splits, race annotations
//	x_generic.go     the specification: xGeneric, plain Go, correct on every machine
//	x_*_amd64.s, x_arm64.s   the assembly
//	x_test.go        every backend against xGeneric or an oracle, on guarded memory
//	kernels.go       the table of kernels: which backends have assembly for which
//	selftest.go      answers of each kernel to a fixed input
//	dispatch_*.go    by architecture: x picks xAVX512, xAVX2, xNEON or xGeneric
//
// The choice is a branch on a package-level boolean, never a function variable:
// a call through a variable would make the caller's buffers escape to the heap.
//
// # Cost
//
// A kernel is a leaf call that the runtime cannot preempt. So every wrapper divides long work into calls of well
// under 100 microseconds. At 4 GB/s, on a slow machine, that is 400 KB per call. Each division costs a few
// nanoseconds.
//
// # Concurrency
//
// Every kernel is safe for concurrent use with separate outputs. Select and Init are not: a program calls them once,
// before it uses a kernel. The race detector and the sanitizers do not see accesses of assembly, so the wrappers
// annotate their reads and writes for the race detector.
package asm
