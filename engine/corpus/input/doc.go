// Package input finds the files that the inputs of a command name, and opens them.
//
//	input   a name from the user: a file, a folder, a pattern, an object, or - for standard input
//	file    one file to read, by its path and the folder that the input named
//	source  an open file, pipe or object, which is read without decompression
//	skip    a file, or a part of one, that did not become a document, with its place and the reason
//
//	inputs ──► Files ─────────────────► File ──► Open ──► Source
//	           sorted by path, links             counted by a Meter,
//	           followed, each file once          ended by the context
//	           (walk.go, links.go)               (source.go, pipe.go)
//
// A [Share] divides the files among several processes.
//
// The command of the Hadoop client reads hdfs:// inputs (hdfs.go).
//
// # Bad input
//
// An input that matches no file is an error. Anything in a folder that is no file is a [Skip], which [Files] yields in
// its place. Package format yields skips of smaller parts. A [Tally] counts them, and a skip that loses data
// appears in the exit status of a command.
//
// # Concurrency
//
// A [Meter] is safe for concurrent use. A [Source] belongs to one goroutine, but several may use its ReadAt.
package input
