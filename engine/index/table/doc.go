// Package table implements one permuted table: distinct fingerprints, permuted, sorted and packed. A probe finds the
// fingerprints with given leading bits.
//
// A key is a permuted fingerprint. A rank is the position of a key in the sorted order. A probe finds all keys that
// agree with a query in the leading bits, some of them flipped, and that are within Hamming distance k of the query.
//
//	query --permute--> key --flips--> probes --layout--> ranges of keys --XOR, popcount--> matches
//
// Two layouts implement the interface [Table]. They pack the same keys in different ways and give the same answers:
//
//	planar    buckets with less than one key on average, in unary (Elias-Fano). A multiplication
//	          gives the line of a bucket. One array has 16 bits of each key; a probe scans
//	          it if the bucket is not empty. Few probes read the remaining bits.
//	huffman   the layout of the paper (section 3.2): blocks of Huffman-coded differences, and
//	          an index of last keys, searched by interpolation. A block is decoded from
//	          either end.
//
// For n = 1e8 uniform keys, k = 3, one thread, per probe of a batch:
//
//	          bytes per key   misses per probe      computation per probe
//	planar    5.1             1 + 0.31 lines        25 ns
//	huffman   5.2             4-5 + 6 lines         55 keys decoded in lanes, 70 ns
//
// Package plan chooses between them. [SearchAll] searches the tables of a design together, so that the misses of all
// probes of a query overlap.
//
// [Table.PlanProbes] chooses the number of leading bits that a probe fixes, from a sample of keys. For skewed keys it
// fixes more bits, which shortens runs and multiplies flips. If probes would cost more than unpacking the table once,
// [Scan] compares a query with every key. So a search never costs more than some scans of the table, for all keys,
// radii and distances.
//
// A table is immutable and safe for concurrent use. Each goroutine needs its own [Scratch]. The arrays are views of a
// file's sections. [Open] checks their consistency, and decoding checks it again. So inconsistent content gives an
// error that wraps [store.ErrCorrupt], but never a panic or a wrong allocation.
package table
