// Package dedup finds the near-duplicates within a corpus: which documents form
// a cluster, which one of each is kept, and why each other one can go.
//
// # Words
//
//	corpus    documents by row: fingerprint, ID, length of the text, and what the keep policy goes by
//	cluster   a kept document and those that go for it; with chains, all that near pairs connect
//	kept      the one of a cluster that its policy prefers, its representative
//	known     a document that is near one that the caller has already
//
// # Data flow
//
//	documents --ingest--┐                                       ┌--> clusters, kept, dropped
//	                    ├--> Corpus --known? out--> cluster.Find┤
//	.ndf, .bin ---------┘                                       └--> read again: verify each member's text
//	                                                                  against the kept one's, split the cluster
//
//	documents, read again --without dropped ones--> filtered copies (Result.Copy)
//
//	lines of a pipe --one pass--> the lines that are kept (Filter)
//
// # Verification
//
// Fingerprints within k bits are near-duplicates with a probability; with
// Options.Verify their texts are read again and compared. In order of preference, each
// document is compared with the kept ones within k of it, the nearest first, and goes for the
// first that the rule allows; if there is none, it is kept (settle.go). So every document that
// is dropped has been compared with the very one that is kept for it. Options.Chains compares
// it with all kept ones of its cluster instead, however long the chain of near pairs was.
//
// Documents that are alike leave few to compare with. Where thousands within k of each other
// all stay, each is held against all that are kept: by sketches (sketch.go), 10 ns a pair. Once
// that has taken longer than to read all sets twice, lists of rare shingles find the few that the
// rule may allow (rare.go).
//
// A document near a known one is compared with the text of that one, which is found by its ID in
// Verify.Known (against.go). If they are not alike, it is compared with the others.
//
// # Cost
//
// Reading is package ingest's: all but a few per cent of the time from texts.
// Fingerprints alone: package cluster's, 0.1-0.3 us a document and thread.
// Verification reads the inputs once more, extracts the documents of clusters
// only, and holds their shingle sets: in memory as far as Verify.Memory goes, then
// in a temporary file. Copies read the inputs once more.
//
// Memory: [Corpus.needBytes]; IDs and places are in a temporary file (rows.go).
//
// # Concurrency
//
// Every function works on all cores and is called from one goroutine. A Corpus
// and a Result may be read from many goroutines once they are made. Results
// depend on the inputs and options only, not on threads.
package dedup
