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
//	documents, read again --package rewrite, without dropped ones--> copies (Result.Copy, Filter)
//
// The files, in the order of the flow:
//
//	corpus.go read.go           read: documents through ingest, or fingerprint files
//	  source.go values.go       what is noted of each: its source, dates and values,
//	  equal.go url.go           hashes of its text and its URL,
//	  rows.go origin.go         its ID and place, and the way back to it
//	  need.go                   the memory of all that
//	keep.go find.go             join: the order of preference, and what is near (package cluster)
//	verify.go rule.go           verify: texts are read again and compared,
//	  members.go                on other machines
//	settle.go sketch.go rare.go settle: what goes for what
//	result.go                   clusters, drops and what is kept
//	copy.go                     write: verdicts and fields for package rewrite
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
// A document near known ones is compared with the texts of these, the nearest first, which are found by
// their IDs in Verify.Known (verify.go). If none is alike, it is compared with the others.
//
// # Cost
//
// Reading is package ingest's: all but a few per cent of the time from texts.
// Fingerprints alone: package cluster's, 0.1-0.3 us a document and thread.
// Verification reads the inputs once more, extracts the documents of clusters
// only, and holds their shingle sets: in memory as far as Verify.Memory goes, then
// in a temporary file. Copies read the inputs once more.
//
// Memory: [Corpus.needBytes]. Whatever grows with the documents, such as their fingerprints, IDs and
// places, is in temporary files, each a [spill.Column], as soon as it is more than 256 KiB.
//
// # Concurrency
//
// Every function works on all cores and is called from one goroutine. A Corpus
// and a Result may be read from many goroutines once they are made. Results
// depend on the inputs and options only, not on threads.
package dedup
