// Package document reads documents: it finds the files, decompresses them, cuts them into documents
// and converts each to plain UTF-8 text.
//
// # Words
//
//	input     a name from the user: a file, a folder, a glob that no file is called, or - for standard input
//	unit      one document as it lies in its file: raw bytes, and where they were found
//	document  a unit whose text has been extracted
//	skip      something that did not become a document, where it was and why
//
// # Data flow
//
//	inputs ──► files ──► stream ───────► units ─────────────────► documents
//	           input.go  open.go         format.go: by table      extract.go http.go
//	           sorted    package unpack  jsonl.go json.go         package text
//	                                     csv.go warc.go
//	                                     parquet.go
//	           └─ Scan: one, with Decoders many ─┘└─── Extractor: many ───┘
//	           └──────────────────────── Read: both ──────────────────────┘
//
// If Options.Decoders are given, several goroutines decompress the members of a gzip file or the frames
// of a zstd file (package unpack), and decode the row groups of a Parquet file, ahead of its reading. What Scan
// yields is the same.
//
// Finding and cutting is cheap; decoding, parsing and stripping markup is not, so it can be done
// elsewhere: a [Unit] may move to another goroutine, which has an [Extractor]. [Read] does both in
// place.
//
// # Bad input
//
// An input that cannot be opened is an error. Anything smaller is a [Skip]: a broken line, a binary
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
// goroutine. A [Meter] is safe for concurrent use.
package document
