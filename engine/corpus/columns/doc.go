// Package columns reads the columns of Parquet files, whatever is in them, in bounded memory.
//
// A Parquet file claims the size of everything in it: lists of its footer, pages before and after
// decompression, runs of equal values, dictionaries. The library that decodes pages allocates these
// sizes, and a file of a hundred bytes may claim gigabytes. So this package checks each claim
// before the library sees it:
//
//	file ──► footer ────► lists bounded ──► parquet.File
//	         open.go      thrift.go
//	    ──► page ──► decompressed ──► runs counted ──► parquet.Pages
//	        pages.go codec.go         runs.go
//
// The library gets decompressed pages, one after the other. A text that is longer than the limit of
// a value is cut while its page is decompressed: it is never in memory as a whole. An error of a file
// that is refused is [ErrCorrupt] and names the claim. Panics of the library are such errors, too.
//
// [File.Values] reads a column row by row, and [File.RowGroup] whole rows, with lists and maps.
// A [File] and its pages belong to one goroutine.
package columns
