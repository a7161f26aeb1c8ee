// Package table holds one permuted table: distinct fingerprints whose bits
// were permuted, sorted, and packed so that a probe finds those that share
// given leading bits.
//
// A key is a fingerprint under the table's permutation; a rank is a
// key's position in the sorted order; a probe finds all keys that agree
// with a query in its leading bits, some of them flipped, and that are within
// Hamming distance k of it in all.
//
//	query --permute--> key --flips--> probes --layout--> ranges of keys --XOR, popcount--> matches
//
// Layouts pack the same keys in different ways behind the interface [Table]
// and give the same answers:
//
//	planar    buckets of less than a key, in unary (Elias-Fano), on lines that a
//	          probe finds by a multiplication; of each key, 16 bits lie in an array that
//	          a probe scans where its bucket is not empty, the rest where few look
//	huffman   the paper's (section 3.2): blocks of Huffman-coded differences,
//	          an index of last keys searched by interpolation; a block is read from
//	          either end
//
// For n = 1e8 uniform keys, k = 3, one thread, each probe of a batch:
//
//	          bytes a key   misses a probe        compute a probe
//	planar    5.1           1 + 0.31 lines        25 ns
//	huffman   5.2           4-5 + 6 lines         55 keys made in lanes, 70 ns
//
// Package plan chooses between them. [SearchAll] searches the tables of a design
// at once, so that the misses of one query's probes in all tables overlap.
//
// How many leading bits a probe fixes, [Table.Probing] decides from a few keys of the table: on skewed
// keys, more of them, which shortens runs and multiplies flips. Where there are too many flips, or runs are too long,
// so that probes would cost more than unpacking the table once, [Scan] compares a query with every key. No
// keys, radius or distance make a search cost more than some scans of the table.
//
// A table is immutable and safe for many goroutines; each brings its own
// [Scratch]. Its arrays are views of a file's sections, checked for
// consistency at [Open] and again while decoding, so that content that lies
// gives an error which wraps [store.ErrCorrupt], never a panic or a wrong
// allocation.
package table
