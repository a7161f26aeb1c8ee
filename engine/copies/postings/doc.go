// Package postings finds all pairs of documents with similar sets of signatures, exactly, by
// inverted indexes.
//
//	sets of hashes ──► Builder ──► signatures of several documents ──► postings that find pairs ──► pairs
//	                 memory, file
//
// # Postings
//
// Documents are ranked by the size of their sets, the smallest first. Two similar sets share at least o signatures; o
// follows from their sizes and the threshold. So their rarest shared signature has at most size - o rarer ones in
// either set. It is enough that the rarest signatures of a document find it, and even fewer of its signatures must
// find larger documents (prefix filtering; Chaudhuri, Ganti and Kaushik, ICDE 2006, Bayardo, Ma and Srikant, WWW
// 2007). In real text 70 % of the signatures occur in one document only. They are the rarest, so most documents have
// few or no other ones in their prefix. A sort groups the signatures (package radix), so the cost of a signature
// hardly depends on their number:
//
//	sets ──sort──► signatures of several documents, by number of documents
//	──from the most frequent to the rarest──► prefixes of the documents ──► lists of ranks, ascending
//
// # Join
//
// Each document looks up its signatures in the lists, one slice of the documents after the other. It finds larger
// documents only and, for Jaccard, none that are too large (the partitioning by length of SpotSigs, SIGIR 2008). A
// merge of both sets verifies a candidate. It stops when the remaining signatures are too few.
//
// Two limits prevent quadratic time. The report counts their effect; otherwise the result is exact. Documents with
// equal sets are compared once. If there are more than Options.MaxEqual of them, each is paired only with the first
// one ([Report].Unlisted). A signature of more than Options.MaxDocuments documents, or fewer than
// Options.MinDocuments, finds no candidates, but counts as shared ([Report].Frequent). A pair is missing only if both
// documents share no other signature.
//
// The work is divided by documents (Zhang et al., distributed indexes for text copy detection,
// 2011): the documents of a slice are queries, and the results are whole pairs. The number of slices limits
// the memory ([Options].MemoryBytes). Package mapreduce can also divide the work by terms, and
// bench/cluster/splits measures the data that either sends between machines.
//
// # Cost
//
// CPU time for a document with 57 signatures, 23 of them shared, among 200,000 documents: 0.3 us to
// rank the documents, 2.8 to sort and group the signatures, 0.3 to choose the prefixes, 0.2
// to look up 3 lists, and 0.3 to verify 0.4 candidates.
//
// The sets take 8 bytes a signature, in memory or in a temporary file. A join adds some 20 bytes for each of up to 24
// million signatures at a time and 4 for each shared one, and then up to 12 for each in a prefix. With less memory it
// sorts fewer signatures at a time and reads all sets again each time. It keeps the lists in temporary files, and each
// slice reads them.
//
// # Concurrency
//
// A Builder belongs to one goroutine. A join uses several.
package postings
