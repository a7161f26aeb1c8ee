// Package text turns the bytes of a document into UTF-8 text. It finds the encoding, and takes the text of a page
// out of its markup.
//
//	bytes ──► encoding ──────────────► UTF-8 ──────────────► text
//	          charset.go guess.go      transcode.go          html.go tags.go zones.go
//	          by mark, declaration,    invalid bytes become  of a page: without markup,
//	          or frequent letters      U+FFFD and count      all of it or its main part
//
// [Decoder.Decode] does all of it. The package needs no file, no format and no network: a program that only
// fingerprints pages links no reader of archives or tables.
//
// # Encodings
//
// A byte order mark decides. HTML may declare its encoding in a meta element. Bytes that are valid
// UTF-8 are read as UTF-8 whatever they declare. A declared encoding is used, unless another one is far
// likelier. Without a declaration, frequent letters show the encoding (guess.go). Otherwise it is
// Windows-1252, and Result.Charset says so. Invalid bytes are replaced and counted.
//
// # Cost
//
// Valid UTF-8 is checked at memory speed and not copied. A page takes one pass of a tokenizer. Every step takes
// linear time, whatever the bytes are.
//
// # Concurrency
//
// A [Decoder] belongs to one goroutine. The functions are safe for concurrent use.
package text
