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
// If Options.Decoders are given, several goroutines decompress the members of a gzip file or the frames
// of a zstd file, and decode the row groups of a Parquet file, before the reader needs them. The units are
// the same.
//
// Cutting is cheap. Decoding, parsing and stripping markup is expensive, so it can be done in other goroutines: a [Unit]
// may move to a goroutine that has an [Extractor]. [Read] does both in one.
//
// # Bad input
//
// An input that cannot be opened is an error. Anything smaller is a [input.Skip]: a broken line, a binary
// file in a folder, or the rest of a file from where it is damaged ([unpack.ErrDamaged]). In a WARC file,
// reading resumes at the next record after a wrong length (resume.go), or at the next sound member
// of gzip. [Scan] yields the skip in its place and goes on.
// Options.Strict makes an error of every skip that loses data. No file can make Scan hold more than
// Options.MaxDocumentBytes of it at once, however well it was compressed.
//
// # Cost
//
// A small file is one open, one stat, one read and one allocation: about 20 us, so Go's source tree
// of 10,000 files takes a fifth of a second to read. A JSON line is found at memory speed and
// not copied.
//
// # Concurrency
//
// Scan and Read yield from the goroutine that ranges over them. An Extractor belongs to one
// goroutine. A [input.Meter] is safe for concurrent use.
package format

import ()

import ()
