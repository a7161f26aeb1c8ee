// Package dedup decides which documents of a corpus are dropped as near-duplicates, and which documents are kept for
// them.
//
// # Words
//
//	corpus    documents by row: fingerprint, ID, place and length of the text, and the values that the order of
//	          preference (package keep), the sources (package source) and URLs need
//	cluster   a kept document and the documents that are dropped for it
//	kept      the document of a cluster that the order of preference puts first, its representative
//	known     a document that is near one that the caller has already
//
// # Data flow
//
//	documents --ingest--┐                                            ┌--> Result: clusters, kept, dropped
//	                    ├--> Corpus --without known--> cluster.Find -┤
//	.ndf, .bin ---------┘                                            └--> settle: the sketches of each cluster are
//	                                                                      compared, or the texts, and divide it
//
//	documents, read again --package rewrite, without dropped ones--> copies (Result.Copy, Result.Annotate)
//
// The files, from the highest:
//
//	read.go fields.go                 read: documents through ingest, or fingerprint files
//	find.go search.go                 find: the steps of a search for clusters
//	equal.go                            equal URLs, and equal texts that are too short for a fingerprint
//	texts.go                          texts: sets of shingles, by reading the texts again
//	divide.go settle.go rule.go       settle: the rule decides which documents are kept
//	parity.go                           bounds that save comparisons of texts
//	result.go doubts.go               result: clusters, drops and kept documents; pairs near the threshold
//	copy.go                             verdicts and fields for package rewrite
//	corpus.go rows.go records.go      rows: the facts about each document
//	again.go url.go                     the way back to its text; its URL
//	room.go options.go row.go           memory; configuration; types of rows
//
// # The rule
//
// Fingerprints within k bits are near-duplicates with a probability. Options.Rule confirms them. Documents are taken in
// order of preference. Each is compared with the kept documents within k of it, and dropped for the nearest one that the rule
// allows. It is kept if the rule allows none. So every dropped document was compared with the one that is kept for it. That
// is the lexicographically first maximal independent set of the confirmed pairs.
//
// A sketch of 64 bytes estimates the Jaccard similarity of two texts (package sketch). Options.Texts has the texts compared
// instead. Without sketches fingerprints decide alone, and the result is unverified.
//
// # Cost
//
// Reading has the cost of package ingest: nearly all of the time if the inputs are texts. Comparing fingerprints has the
// cost of package cluster, 0.1-0.3 us a document and thread. Comparing two sketches takes some ns. Where thousands of documents
// within k of each other all stay, each is compared with all kept ones. Comparing texts reads the inputs once more,
// extracts the documents of clusters only, and holds their sets of shingles: Texts.Memory bytes in memory, and the rest in a
// temporary file. Copies read the inputs once more.
//
// Columns that grow with the documents, such as fingerprints, sketches, IDs and places, are in temporary files if they are
// larger than 256 KiB ([spill.Column]).
//
// # Concurrency
//
// Every function uses all cores and is called by one goroutine. Many goroutines may read a Corpus and a Result once they
// are made. Results depend on the inputs and options only, not on the number of threads.
package dedup
