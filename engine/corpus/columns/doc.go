// Package columns reads the columns of Parquet files, whatever is in them, in bounded memory.
//
// A Parquet file says how large everything in it is: lists of its footer, pages before and after decompression, runs of equal
// values, dictionaries. The library that decodes pages takes the file's word for it, and a file of a hundred bytes may ask for
// gigabytes. So what the file says is checked here before the library sees it:
//
//	file ──► footer ────► parquet.File        its structure walked, then decoded
//	         open.go
//	    ──► page ──► decompressed ──► runs counted ──► parquet.Pages
//	        pages.go codec.go         runs.go
//
// The library is handed pages that are not compressed any more, one after the other. What is refused is an error that is
// [ErrCorrupt] and says what the file claims.
//
// Texts and IDs are columns without repetition, of which [File.Pages] gives the values one by one; whole rows, with lists and
// maps, are those of [File.RowGroup]. A [File] and its pages belong to one goroutine.
package columns
