// Package radix sorts permuted fingerprints, alone or with the rows of their documents. It sorts in memory, or in
// ranges if memory is limited.
//
// Terms: a digit is a group of consecutive bits of a key. A bucket has the keys with one value of a digit. A leaf is
// a bucket of a few keys.
//
// The sort begins with the most significant digit, and moves each key twice. For keys alone, with AVX-512
// (asm.Scatter, asm.SortLeaves):
//
//	input --permute--> count the leading 12 bits
//	input --permute--> scatter into 4,096 buckets of some 24,000 keys, a cache line at a time
//	each bucket, in cache: count the next 12 bits, scatter into leaves of six keys,
//	sort each in registers on its way back
//
// Keys with rows in a second array ([SortRows]) are sorted in the same way, but into up to 16,384 buckets. Within a
// bucket, the differing bits of a key and its position in the bucket then fit in a word. These words are sorted like
// keys, and give the new position of each row. Equal keys differ by their position, so the sort is stable.
//
//	input --permute--> scatter keys in cache lines, and rows one by one
//	each bucket, in cache: words of key and position, sorted like keys --> keys, rows
//
// Without AVX-512:
//
//	input --permute--> count the leading 13 bits
//	input --permute--> scatter into 8,192 buckets of some 12,000 keys
//	each bucket, in cache: count the next 14 bits, scatter into leaves of 0.75
//	keys, copy back while an insertion sort puts the few inversions right
//
// [Buckets] stops before the leaves: keys that share some leading bits come together, unsorted, for comparison with
// each other. [Distinct] passes on each bucket, without repetitions, while it is in the cache. The result may replace
// the bucket in memory.
//
// A bucket that is too large for the cache is split once more. A leaf that is too large (because of skew) is sorted
// like a bucket by its lower bits.
//
// If memory is limited ([WalkKeys], [WalkRows]), the counts determine which consecutive buckets fit. Only these are
// scattered, sorted and passed on, and the input is read again for the next range. A bucket that does not fit, or
// that is heavy, is an interval of keys and is sorted recursively: the input is read again for it, and counted by the
// next digit. (For example, the template of one site may be half of the input.) An interval of one key is copied.
//
//	|<- range 0 ->|<- range 1 ->|  heavy  |<- range 2 ->|      buckets by digit
//	|. : . : : . .|: . : . : : .|#########|. . : : . . .|
//	                              `-- counted, split, sorted by itself
//
// So memory is limited for all keys: [Options].Limit, a bucket per thread, and the counters. The buckets take at most
// 1/64 of the input in total, or 64 Ki keys each if that is more.
//
// With AVX-512 one thread sorts 89 M keys a second of 100 M random ones, and two threads 165 M (BenchmarkKeys). Rows
// double the time. Each further range takes 2-3 ns per key of the input. Every phase runs on all threads.
//
// The sort is stable: documents with the same fingerprint keep the order of their rows.
package radix
