// Package result writes tables, and writes and reads rows of hits: for each document within the
// distance of a query one row. Every command and the server write their rows with it.
//
// [TableWriter] writes any table with named columns, as TSV with a header, JSON lines or Parquet.
//
// [Writer] writes the table of hits, in these formats and as binary records; in TSV without a
// header, so that parts of a result can be put behind each other:
//
//	TSV      7	00000000000000ff	3	http://example.org/?a=1&b=2
//	         query row, fingerprint as 16 hexadecimal digits, distance, ID; tab, line end and
//	         backslash in an ID are written \t, \n, \r and \\
//	JSON     {"query":7,"fingerprint":"00000000000000ff","distance":3,"id":"http://example.org/?a=1&b=2"}
//	         one object a line
//	Binary   query row, fingerprint, distance, number of the document
//	         as four little-endian 64-bit integers; 32 bytes a row
//
//	Parquet  the columns query, fingerprint, distance and id of the others
//
// Queries that are no rows of a file, such as documents, have a text instead of a row number:
// [Writer.WriteNamed] writes it in the column of the query, and [Reader.ReadNamed] reads it.
//
// [Reader] reads back what [Writer] wrote. TSV and Binary give every field that they hold back
// as it was; Parquet is read by many other programs; JSON replaces bytes of an ID that are not UTF-8 by U+FFFD. TSV and JSON hold no
// document number, and Binary holds no ID.
//
// [Tally] counts rows and adds up their order-independent checksum, so that two results can be
// compared without sorting them.
//
// Writing takes about 50 ns a row and no allocation, besides what looking up the ID takes.
// Values of this package belong to one goroutine; functions may be called from many.
package result
