// Package result writes tables and rows of hits. Every command and the server write their rows with
// it.
//
// [TableWriter] writes a table with named columns, as TSV with a header, JSON lines or Parquet.
//
// [Writer] writes hits, one row for each document within the distance of a query. TSV has no
// header, so that parts of a result can be concatenated:
//
//	TSV      7	00000000000000ff	3	http://example.org/?a=1&b=2
//	         query row, fingerprint as 16 hexadecimal digits, distance, ID; tab, line end and
//	         backslash in an ID are written \t, \n, \r and \\
//	JSON     {"query":7,"fingerprint":"00000000000000ff","distance":3,"id":"http://example.org/?a=1&b=2"}
//	         one object a line; U+FFFD replaces bytes of an ID that are not UTF-8
//	Binary   query row, fingerprint, distance, number of the document
//	         as four little-endian 64-bit integers; 32 bytes a row
//	Parquet  the columns query, fingerprint, distance and id
//
// [Writer.WriteNamed] writes the text of a query that is no row of a file, such as a document, in
// the column of the query.
//
// [Tally] counts rows and adds up their order-independent checksum, so that two results can be
// compared without sorting them.
//
// Writing takes about 50 ns a row and no allocation, besides looking up the ID. Values of this
// package belong to one goroutine; functions may be called from many.
package result
