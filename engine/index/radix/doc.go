// Package radix sorts permuted fingerprints, alone or each with the row of its
// document, in memory or range by range in a bounded part of it.
//
// Words: a digit is some consecutive bits of a key; a bucket holds the keys
// of one digit; a leaf is a bucket of a few keys.
//
// The sort is by most significant digit, and moves each key twice. Keys alone,
// with AVX-512 (asm.Scatter, asm.SortLeaves):
//
//	input --permute--> count the leading 12 bits
//	input --permute--> scatter into 4,096 buckets of some 24,000 keys, a cache line at a time
//	each bucket, in cache: count the next 12 bits, scatter into leaves of six keys,
//	sort each in registers on its way back
//
// Keys with rows, which stand beside them ([SortRows]), go the same way, but into up to 16,384 buckets, so
// that within one the bits of a key that differ and the place that it has there fit a word: words
// are sorted as keys are, and tell which row goes where. Equal keys differ by their place, so that
// the sort is stable.
//
//	input --permute--> scatter keys a cache line at a time, rows one by one
//	each bucket, in cache: words of key and place --as keys--> keys, rows
//
// Without AVX-512:
//
//	input --permute--> count the leading 13 bits
//	input --permute--> scatter into 8,192 buckets of some 12,000 keys
//	each bucket, in cache: count the next 14 bits, scatter into leaves of 0.75
//	keys, copy back while an insertion sort puts the few inversions right
//
// [Buckets] stops before the leaves: keys that share some leading bits come together,
// unsorted, to be compared with each other. [Distinct] passes each bucket on while it is
// in the cache, without repetitions, and lets the result take the bucket's place in memory.
//
// Where a bucket is too large for the cache it is split once more before; where
// a leaf is too large (skew) it is sorted as a bucket by the bits that follow.
//
// Range by range ([WalkKeys], [WalkRows]) the counts tell which consecutive
// buckets fit the memory there is; they alone are scattered, sorted and passed
// on, and the input is read again for the next. A bucket that does not fit, or
// that is heavy (one site's template may be half of the input), is an interval
// of keys like the whole, and is sorted as the whole is: the input is read
// again for it, counted by the digit below. An interval of one key is copied.
//
//	|<- range 0 ->|<- range 1 ->|  heavy  |<- range 2 ->|      buckets by digit
//	|. : . : : . .|: . : . : : .|#########|. . : : . . .|
//	                              `-- counted, split, sorted by itself
//
// So memory is [Options].Room, a bucket for each thread (at most 1/64 of the input
// in all, but 64 Ki keys for one), and the counters, whatever the keys are.
//
// With AVX-512 one thread sorts 89 M keys a second of 100 M random ones, two 165 M (BenchmarkKeys);
// with rows it takes twice as long. Each further range takes 2-3 ns a key of the input. Every phase
// runs on all threads.
//
// The sort is stable: documents of one fingerprint stay in the order of their
// rows.
package radix
