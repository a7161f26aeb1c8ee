// Package postings finds all pairs of documents whose sets of signatures are alike, exactly, by inverted indexes.
//
//	sets of hashes ──► Builder ──► slices ──► Index ──► pairs with the number of shared signatures
//	                 memory, file        └──► lists ──► partial overlaps ──► sum ──► the same pairs
//
// # Index
//
// Documents are ranked by the size of their sets, the smallest first. Where the index has all documents, a signature that
// occurs in one of them alone is counted in that document's size and not stored: of real text 70 % are. The others get
// numbers in order of their document frequency, the rarest 0:
//
//	number of signature ──► ranks of its documents, ascending     lists, 4 bytes a posting
//	rank of document    ──► numbers of its signatures, ascending  sets, 4 bytes a posting
//
// It is made without a look-up in memory at random, so that a signature costs about the same however many there are:
//
//	sets ──scatter by leading bits──► partitions that fit the cache ──group──► signatures of several documents ──number──► lists
//	lists ──scatter by rank──► blocks of documents that fit the cache ──► sets
//
// # Join
//
// Of two documents that are alike enough, the smaller one, of n signatures, shares at least o of them with the larger, where o
// follows from the threshold and n ([Options].least). So if the n - o + 1 rarest of its signatures are not in
// the larger, it cannot be: these alone are looked up (prefix filtering; Chaudhuri, Ganti and Kaushik, ICDE 2006, Bayardo, Ma and
// Srikant, WWW 2007). Those that occur nowhere else come first and need no look-up. Lists are in order of size,
// so that the look-up begins behind the document itself and, for Jaccard, ends where documents are too large (the
// partitioning by length of SpotSigs, SIGIR 2008). What shares a signature is verified by a merge of both sets,
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
// A document of 56 signatures, of which others have 23, processor time on one core, among ten thousand and among a million: 1.1 and 1.8 us to
// scatter them and to find those that others have; 0.3 and 0.5 to make lists and sets of these; 0.2 and 0.4 to rank
// the documents and to find out which signatures are too frequent; 0.2 and 0.4 for the look-ups in 5.3 lists, of which 3.4 entries are
// read, however many documents there are. What grows is the time that memory takes. Memory that was not used before comes on top: 12
// bytes for each of up to 24 million signatures at a time, and 16 for each of those that several documents have, of which 8 stay
// until the join ends; beside the sets, 8 bytes a signature in memory or in a temporary file. Several slices look signatures
// up in a hash table, 64 bytes for each of those that several documents have, and take three times as long.
// The join depends on the data: a candidate costs 50 to 100 ns.
//
// # Concurrency
//
// A Builder belongs to one goroutine, and uses several to join. An Index is immutable; each goroutine needs a [Searcher] of
// its own.
package postings
