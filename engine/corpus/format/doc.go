// Package format cuts the content of files into documents. It recognizes the format of a file, finds its units, and
// extracts the text of a unit in another goroutine.
//
// # Words
//
//	unit      the bytes of one document in its file, with their place
//	document  a unit whose text has been extracted
//	skip      something that did not become a document, with its place and the reason
//
// # Data flow
//
//	file ──► Content ──────────► records ──────► units ─────────────► documents
//	         package input       jsonl.go        choice.go            extract.go
//	         package unpack      json.go         the first records    record.go http.go
//	         detect.go: its      csv.go          decide the fields    package text
//	         format              parquet.go
//	                             warc.go
//	         └─ Scan: one goroutine, with Decoders many ─┘└─ Extractor: many ─┘
//	         └─────────────────────────── Read: both ─────────────────────────┘
//
// Each format is an iterator of units and errors ([cuts] in scan.go). An error comes with the place in the file where
// the units end.
//
// If Options.Decoders is set, several goroutines decompress gzip members, and decode row groups of
// Parquet files, before the reader needs them. The units are the same.
//
// Cutting is cheap. Decoding, parsing and stripping markup is expensive, so it can be done in other goroutines: a
// [Unit] may move to a goroutine that has an [Extractor]. [Read] does both in one.
//
// # Bad input
//
// An input that cannot be opened is an error. Anything smaller is a [input.Skip]: a broken line, a binary
// file in a folder, or the rest of a file from where it is damaged ([unpack.ErrDamaged]). In a WARC file,
// reading resumes at the next record after a wrong length (resume.go), or at the next intact gzip member. [Scan] yields
// the skip at its place and continues. With Options.Strict, every skip that loses data is an error. Scan never holds
// more than Options.MaxDocumentBytes of a file at once, even if the file was compressed very well.
//
// # Cost
//
// A small file takes one open, one stat, one read and one allocation, about 20 us. So reading the 10,000 files of Go's
// source tree takes a fifth of a second. A JSON line is found at memory speed and not copied.
//
// # Concurrency
//
// Scan and Read yield from the goroutine that ranges over them. An Extractor belongs to one
// goroutine. A [input.Meter] is safe for concurrent use.
package format
