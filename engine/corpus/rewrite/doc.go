// Package rewrite copies input files without some of their documents, without parts of their texts, or with
// fields added to every document. A [Judge] decides what a copy leaves out; the package does not know why.
//
// # Words
//
//	judge     returns the verdict about each unit of a file
//	verdict   drop the unit, cut parts of its text, or the number of its fields
//	edits     the verdicts about a file as offsets: ranges of bytes to cut, and places for fields
//	block     2 MiB of a copy, compressed by one goroutine
//	target    where the copies are created, and their names
//
// # Data flow
//
//	inputs --Job--> file --scan, Judge--> edits --content--> blocks --compress--> copy       JSONL, JSON, CSV, WARC
//	                                        └------------columns--> pages --------> copy     Parquet
//
// JSONL, JSON, CSV, lines and WARC files are copied byte for byte, without the dropped lines or records. A copy has
// the compression of its file, in blocks of 2 MiB. Each WARC record is a separate member. Gzip members and
// whole files that lose nothing are copied unchanged. The package cannot write xz and bzip2, so copies of such
// files use zstd.
//
// Parquet files keep all columns of the remaining rows, in order, with their encodings and compression. Row groups and
// pages that lose nothing are copied unchanged. A dictionary loses the entries that no remaining row uses.
//
// A file that is one document is copied unchanged, unless it is dropped or cut. A file without verdicts is copied
// unchanged, too: it has no text, is too long, or is damaged from its beginning. Hidden files are not copied.
//
// Texts are cut in JSON strings, lines and plain text. In other formats, such as HTML and Parquet, the text is not a
// part of the file. There the document stays whole and is counted ([Report].Uncut).
//
// The files, from the lowest:
//
//	names.go     Target: the names of the copies
//	judge.go     Judge, Verdict, Report
//	fields.go    fields added to documents, as JSON and CSV
//	edit.go      the edits of a file
//	block.go     blocks and their compression
//	content.go   reading a file into blocks, without the cuts and with the fields
//	columns.go   Parquet files
//	scan.go      one file's units and verdicts to edits
//	file.go      one file's copy, made or taken over from package work
//	job.go       all files, several at a time
//	lines.go     lines of a pipe in one pass, without a second reading
//
// # Cost
//
// Files of lines, JSON and WARC are judged and copied in one reading. Parquet and files that are one document
// are read twice. Memory: [Job].Memory, and 8 MiB of pages of each Parquet file.
package rewrite
