// Package postings finds all pairs of documents whose sets of signatures are alike, exactly, by inverted indexes.
//
//	sets of hashes ──► Builder ──► postings that find pairs ──► slices ──► pairs with the number of shared signatures
//	                 memory, file                     └──► partial overlaps ──► sum ──► the same pairs
//
// # Postings
//
// Documents are ranked by the size of their sets, the smallest first. Of two documents that are alike enough, which share at least o of
// their signatures, as follows from their sizes and the threshold, the rarest signature that they share has in neither set more than
// size - o that are rarer: so a document need not be found by others than its rarest ones, and finds larger documents by even
// fewer (prefix filtering; Chaudhuri, Ganti and Kaushik, ICDE 2006, Bayardo, Ma and Srikant, WWW 2007). Of these, those that occur in no
// other document, which are 70 % of real text, come first, so that most documents have few left or none. They are found without a look-up in
// memory at random, so that a signature costs about the same however many there are:
//
//	sets ──scatter by leading bits──► partitions that fit the cache ──group──► signatures of several documents, by number of these
//	──from the most frequent to the rarest──► of each document those by which it is found ──► lists of ranks, ascending
//
// # Join
//
// A slice is the lists with the documents of a range of ranks. The documents that may be similar to them get the numbers of the lists by which they find
// larger ones, in blocks that fit the cache, and look there: behind themselves and, for Jaccard, up to where documents are too large
// (the partitioning by length of SpotSigs, SIGIR 2008). What shares a signature is verified by a merge of both sets,
// which ends as soon as too few are left to share.
//
// Nothing is lost by any of this. Two bounds are for data that would take quadratic time, and what they leave out is counted: documents
// with equal sets are compared once, and where they are more than Options.MaxEqual listed with their first alone
// ([Report].Unlisted), and a signature of more than Options.MaxDocuments documents
// finds no candidates, though it counts where it is shared ([Report].Frequent): a pair is found if it is similar and shares
// one signature that is not so frequent.
//
// # Two splits
//
// The work can be divided in two ways (Zhang et al., distributed indexes for text copy detection, 2011), which find the same
// pairs. By documents, the default: each slice of them, in order of size, is an index, and every document that may be
// similar a query against it; what comes out are whole pairs. By terms: each slice of the signatures is a set of
// lists, and each list gives a partial overlap for every pair of its documents; these are sorted, spilled to files
// and summed. [Traffic] counts what either would send between machines: partial overlaps grow with the square of
// the documents that share a signature. Slices bound the memory, too: as many are made as [Options].MemoryBytes needs.
//
// # Cost
//
// A document of 57 signatures, of which others have 23, processor time, among ten thousand and among a million: 0.3 and 0.3 us to rank the
// documents; 0.5 and 0.8 to scatter the signatures and 0.6 and 0.8 to group them; 0.15 and 0.35 to choose those that find pairs; 0.1 and 0.2 to make
// the lists of a slice; 0.25 and 0.5 for the look-ups in 3.8 lists and the verification of 0.4 candidates. What grows is the time that memory takes.
// It takes 12 bytes for each of up to 24 million signatures at a time, 4 for each that another document has, and then up to 12 for each of those that find
// pairs; beside the sets, 8 bytes a signature in memory or in a temporary file. With less memory the signatures are scattered in more rounds, each of
// which reads all sets, the lists between are kept in temporary files, and each of several slices reads them twice: at 60 bytes a document 1.7 times as
// long.
//
// # Concurrency
//
// A Builder belongs to one goroutine, and uses several to join. An [Index], which is for sets that are not in it, is immutable; each goroutine
// needs a [Searcher] of its own.
package postings
