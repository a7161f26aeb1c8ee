// Package result writes tables and rows of hits, for every command and for the server.
//
// [TableWriter] writes a table with named columns, as TSV with a header, JSON lines or Parquet.
//
// [Writer] writes hits, one row for each document within the distance of a query. TSV has no
// header, so that parts of a result can be concatenated:
//
//	TSV      7	00000000000000ff	3	http://example.org/?a=1&b=2
//	         query row, fingerprint as 16 hexadecimal digits, distance, ID; tab, line end and
//	         backslash in an ID are written \t, \n, \r and \\
//	         and in a verified result the estimated similarity, 0.9123, or nothing
//	JSON     {"query":7,"fingerprint":"00000000000000ff","distance":3,"id":"http://example.org/?a=1&b=2"}
//	         one object per line; U+FFFD replaces bytes of an ID that are not UTF-8
//	Binary   query row, fingerprint, distance, number of the document
//	         as four little-endian 64-bit integers; 32 bytes per row
//	Parquet  the columns query, fingerprint, distance and id
//
// The query column has the text of a query ([Row.Text]) if queries are not rows of a file, such as documents.
//
// [Tally] counts rows and adds up a checksum that does not depend on their order, so that two results can be compared
// without sorting.
//
// Writing takes about 50 ns per row and does not allocate, except for looking up the ID. Values of this package are
// used by one goroutine. Functions are safe for concurrent use.
package result
