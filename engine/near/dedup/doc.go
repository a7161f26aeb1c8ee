// Package dedup decides which documents of a corpus are dropped as near-duplicates, and which documents are kept for
// them.
//
// # Words
//
//	corpus    documents by row: fingerprint, ID, place and length of the text, and the values that the order of
//	          preference (package keep), the sources (package source) and URLs need
//	cluster   a kept document and the documents that are dropped for it
//	kept      the document of a cluster that the order of preference puts first, its representative
//	known     a document that is near a document that the caller already has
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
// The files, from high level to low level:
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
//	again.go url.go                     reading the documents again; canonical URLs
//	room.go options.go row.go           memory; configuration; types of rows
//
// # The rule
//
// Documents with fingerprints within k bits are probably near-duplicates. Options.Rule confirms them. The documents
// are compared in order of preference. Each is compared with the kept documents within k of it, and dropped for the
// nearest one that the rule allows. If the rule allows none, it is kept. So every dropped document was compared with
// the document that is kept for it. The kept documents are the lexicographically first maximal independent set of the
// confirmed pairs.
//
// A sketch of 64 bytes estimates the Jaccard similarity of two texts (package sketch). With Options.Texts, the texts
// are compared instead. With neither, fingerprints alone decide, and the result is unverified.
//
// # Cost
//
// If the inputs are texts, nearly all of the time is for reading (package ingest). Comparing fingerprints (package
// cluster) costs 0.1-0.3 us a document on one thread. Comparing two sketches takes a few ns. If thousands of documents
// within k of each other are all kept, each is compared with all kept ones. Comparing texts reads the inputs once more
// and extracts only the documents of clusters. It holds their sets of shingles: Texts.Memory bytes in memory, and the
// rest in a temporary file. Copying reads the inputs once more.
//
// Columns that grow with the documents, such as fingerprints, sketches, IDs and places, are in temporary files if they
// are larger than 256 KiB ([spill.Column]).
//
// # Concurrency
//
// Functions use several threads themselves: call them from one goroutine. Many goroutines may read a complete Corpus or
// Result. Results depend on the inputs and options only, not on the number of threads.
package dedup
