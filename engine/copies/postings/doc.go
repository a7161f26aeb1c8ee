// Package postings finds all pairs of documents whose sets of signatures are alike, exactly, by an inverted index.
//
//	sets of hashes ──► Builder ──► Index ──► Join ──► pairs with the number of shared signatures
//
// # Index
//
// Documents are ranked by the size of their sets, the smallest first. A signature that occurs in one document alone is
// counted in that document's size and not stored: of real text 70 % are. The others get numbers in order of their
// document frequency, the rarest 0:
//
//	number of signature ──► ranks of its documents, ascending     lists, 4 bytes a posting
//	rank of document    ──► numbers of its signatures, ascending  sets, 4 bytes a posting
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
// finds no candidates, though it counts where it is shared ([Report].Frequent).
//
// # Cost
//
// n postings: two radix sorts of n hashes, a look-up in a hash table each (30 to 60 ns from memory), 16 bytes of memory
// each while the index is built and 8 afterwards. The join depends on the data: a candidate costs 50 to 100 ns.
//
// # Concurrency
//
// A Builder belongs to one goroutine. An Index is immutable; joins may run side by side.
package postings
