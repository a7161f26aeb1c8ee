// Package rewrite copies input files without some of their documents, without parts of their texts, or with
// fields added to every document. A [Judge] decides what a copy leaves out; the package does not know why.
//
// # Words
//
//	judge     returns the verdict about each unit of a file
//	verdict   the unit is dropped, parts of its text are cut, or the number of its fields
//	edits     the verdicts about a file as offsets: ranges of bytes to cut, and places for fields
//	block     2 MiB of a copy, compressed by one goroutine
//	target    where the copies are created, and their names
//
// # Data flow
//
//	inputs --Job--> file --scan, Judge--> edits --content--> blocks --compress--> copy       JSONL, JSON, CSV, WARC
//	                                        └------------columns--> pages --------> copy     Parquet
//
// JSONL, JSON, CSV, lines and WARC files are copied byte for byte without the lines or records that are dropped.
// They are compressed as they were, in blocks of 2 MiB; WARC records are members of their own. Members of gzip and
// frames of zstd that lose nothing, and whole files, are copied as they are. Nothing writes xz and bzip2, which become
// zstd. Parquet files keep all columns of the remaining rows, in order, with their encodings and compression. Row groups
// and pages that lose nothing are copied as they are; entries of dictionaries go with their last row. A file that is one
// document is copied unchanged, if it remains. So is a file without verdicts: it has no text, is too long, or is damaged
// from its beginning. Hidden files are not copied.
//
// Texts are cut in JSON strings, lines and plain text. Where the text is not a part of the file, as in HTML and
// Parquet, the document stays whole and is counted ([Report].Uncut).
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
