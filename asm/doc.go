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
//	within64, within32   elements, q, k             -> indexes within k bits of q
//	differ               a row of words, other rows    -> in how many bits each differs
//	weightedVotes        hashes, weights            -> 64 sums, one a bit position
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
//	filter               words, bitmap              -> those whose bit is set
//	prefetch             addresses                  -> nothing; their lines are on their way
//
// # Words
//
// A kernel is one operation with one contract. A backend is one way to run all
// of them, named generic, avx2, avx512 or neon; exactly one is in use at a time.
// An extent is consecutive elements of one big array. A hit is an
// element that a query asked for.
//
// # Kernels compute, others decide
//
// A kernel takes slices and gives results. It allocates nothing, returns no errors,
// keeps nothing between two calls and never touches a byte outside its slices. What it needs more slices for
// than fit an argument list, as JoinBuckets, it takes as a struct of them that the caller makes. Which
// tables there are, how they lie in memory, and which of two algorithms is faster, is decided
// in the packages that use the kernels; [Accelerated] says what they need to know of the backend.
//
// # One shape for every kernel
//
//	x.go             contract, exported wrapper: checks, splits, race annotations
//	x_generic.go     the specification: xGeneric, plain Go, right on every machine
//	x_*_amd64.s, x_arm64.s   the assembly
//	x_test.go        every backend against xGeneric or an oracle, on guarded memory
//	kernels.go       the table of kernels: which backends have assembly for which
//	selftest.go      what each answers to the same input
//	dispatch_*.go    by architecture: x picks xAVX512, xAVX2, xNEON or xGeneric
//
// The choice is a branch on a package-level boolean, never a function variable:
// a call through a variable would make the caller's buffers escape to the heap.
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
