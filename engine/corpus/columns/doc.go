// Package columns reads the columns of Parquet files in bounded memory, also of hostile files.
//
// A Parquet file states the sizes of its parts: the lists of its footer, pages before and after
// decompression, runs of equal values, dictionaries. The library that decodes pages allocates these
// sizes, and a file of a hundred bytes may state gigabytes. So this package checks each size
// before the library sees it:
//
//	file ──► footer ────► lists bounded ──► schema
//	         open.go      thrift.go         open.go
//	    ──► page ──► decompressed ──► runs counted ──► values
//	        pages.go page.go codec.go runs.go          values.go, drop.go
//
// The library decodes levels and values of a page that is checked. A text that is longer than the limit of a value
// is cut while its page is decompressed, so it is never in memory as a whole. A refused file has an error that
// wraps [ErrCorrupt] and names the wrong size. A panic of the library becomes such an error, too.
//
// [File.Values] reads a column row by row. [File.Pages] drops rows from the pages of a column.
// A [File] and its pages belong to one goroutine.
package columns
