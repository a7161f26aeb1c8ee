// Package postings finds all pairs of documents whose sets of signatures are similar, exactly, by
// inverted indexes.
//
//	sets of hashes ──► Builder ──► signatures of several ──► postings that find pairs ──► pairs with the shared signatures
//	                 memory, file
//
// # Postings
//
// Documents are ranked by the size of their sets, the smallest first. The sizes of two similar
// documents and the threshold give the number o of signatures that they share at least, so their
// rarest shared signature has at most size - o rarer ones in either set. A document therefore need
// only be found by its rarest signatures, and finds larger documents by fewer still (prefix
// filtering; Chaudhuri, Ganti and Kaushik, ICDE 2006, Bayardo, Ma and Srikant, WWW 2007).
// Signatures of no other document, 70 % of real text, come first among these, so most documents
// have few left or none. They are found by a sort (package radix), so that the cost of a signature
// hardly depends on their number:
//
//	sets ──sort──► signatures of several documents, by number of these
//	──from the most frequent to the rarest──► of each document those by which it is found ──► lists of ranks, ascending
//
// # Join
//
// Documents look up their own signatures in the lists, a slice of the documents after the other:
// for larger documents only and, for Jaccard, not for those that are too large (the partitioning by
// length of SpotSigs, SIGIR 2008). Candidates are verified by a merge of both sets, which ends as
// soon as too few signatures are left to share.
//
// The result is exact but for two bounds on data that would take quadratic time; what they leave
// out is counted. Documents with equal sets are compared once, and more than Options.MaxEqual of
// them are listed with their first only ([Report].Unlisted). A signature of more than
// Options.MaxDocuments documents finds no candidates, though it counts as shared
// ([Report].Frequent).
//
// The work is divided by documents (Zhang et al., distributed indexes for text copy detection,
// 2011): those of a slice are queries, and the results are whole pairs. The number of slices bounds
// the memory ([Options].MemoryBytes). Package mapreduce can divide it by terms, too, and
// bench/cluster/splits measures what either sends between machines.
//
// # Cost
//
// Processor time of a document of 57 signatures, of which others have 23, among 200,000: 0.3 us to
// rank the documents, 2.8 to sort and group the signatures, 0.3 to choose those that find pairs, 0.2
// for the look-ups in 3 lists, and 0.3 to verify 0.4 candidates.
//
// Memory, in addition to 8 bytes a signature for the sets, in memory or in a temporary file: some 20
// bytes for each of up to 24 million signatures at a time, 4 for each that another document has,
// and then up to 12 for each that finds pairs. With less memory fewer signatures are sorted at a
// time, for which all sets are read again each time, and the lists are kept in temporary files, which
// each of several slices reads.
//
// # Concurrency
//
// A Builder belongs to one goroutine, and uses several to join.
package postings
