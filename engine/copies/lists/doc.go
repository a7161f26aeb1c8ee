// Package lists keeps the inverted index of documents' signatures in sections of a file,
// compressed, and searches it.
//
//	postings.Sets ──sort──► signature: documents ──Write──► sections ──Open──► Lists ──► Searcher ──► documents that are similar
//
// # Sections
//
// Each begins with the name that Write is given, as one file holds several indexes:
//
//	.head       the figures of the other sections, as JSON
//	.documents  by rank: the document, its signatures; groups of documents with equal sets
//	.lists      the ranks of the documents of a signature, for each list that occurs
//	.shared     dictionary: signature ──► where in .lists
//	.single     dictionary: signature of one document ──► its rank
//
// and each dictionary has an .index.
//
// # Ranks
//
// Documents are partitioned by the number of their signatures, at 1, 2, ... 8 and then in steps of
// a quarter: where similar documents cannot be smaller or larger than some number, the ranks of
// other partitions are passed over. Within a partition they are in order of their numbers, so that
// versions of a page, which stand near each other, get near ranks. Of documents with equal sets the
// first alone has a rank.
//
// # Lists
//
// A list is ascending ranks, in blocks of 128. A block has the differences of its ranks in a Rice
// code, whose parameter is chosen for the block: a page's versions take one to three bits each. A
// list of several blocks begins with the last rank and the bytes of each, so that blocks without
// candidates are not read.
//
//	count | last rank, bytes | last rank, bytes | ... | block | block | ...          numbers as uvarints
//	block:  parameter (1 byte) | quotient in unary, remainder | quotient in unary, remainder | ...
//
// Passages that are copied are copied as a whole: the signatures of one passage have one and the
// same list, which is stored once. On the development set that makes four of five lists.
//
// # Dictionaries
//
// Signatures, ascending, in blocks of 64: their differences in a Rice code, 64 - log2 n + 1.5 bits
// each, and then their values in as many bits as the largest of them needs. The index has the first
// signature of each block and where it begins. A look-up is a binary search and the decoding of
// half a block, about 0.3 us.
//
// A signature of one document is in no pair of these documents; but another document that is
// compared with them may have it. So it is stored, apart.
//
// # Cost
//
// Write sorts n signatures with their rows, 16 bytes each, in as many rounds as the memory needs.
// Open reads .head and .documents, 8 bytes of memory a document. A search reads each of a set's
// lists once.
//
// # Concurrency
//
// Lists are immutable and may be read from many goroutines, each through a Searcher of its own.
package lists
