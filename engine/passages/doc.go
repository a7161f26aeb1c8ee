// Package passages finds the parts of documents that are repeated: lines, paragraphs and sentences
// (units), or strings of a least number of bytes, wherever they begin. It finds all of them and
// nothing else, and returns each with the place where the same stands first.
//
//	inputs ─► ingest ─► cut into atoms, hash ─► marks ─► radix sort, spill, merge ─► marks that share a hash
//	             │                                                                        │
//	             └─► spool: heads, texts (mapped)  ─────────────────► compare ────────────┤
//	                                                                                      ▼
//	             Result: spans of a document ◄──────── repeats by place (mapped) ◄─ sort, spill, merge
//
// # Words
//
//	atom     the smallest part that is counted: a line, a paragraph, a sentence, a byte, or a word
//	window   a number of atoms that follow each other in a document, such as 3 sentences or 100 bytes
//	mark     a hash and the place where it was made
//	repeat   windows that follow each other, and stand first somewhere in the same order
//	span     a repeat as bytes of a text
//
// # Units
//
// A unit is a window of normalised text ([Options.Ignore]), hashed by HighwayHash-128. Units are equal
// where their hashes are: of 10^12 units, two different ones have the same with a chance of 10^-15.
//
//   - A line includes its line end, a paragraph the blank lines behind it, a sentence the white space
//     behind it. All atoms of a document in a row are its text.
//   - A sentence ends behind . ! ? … before white space, behind 。 ！ ？ ； (package ccdet) anywhere, with
//     closing quotes and brackets behind it, and at the end of a line.
//   - A document of fewer sentences than a window has none.
//
// # Strings
//
// A window is L bytes. Of the hashes of r bytes in it, r = 2L/5, the least one is marked, of equal ones
// the last (winnowing): equal windows have their mark at the same distance d from their beginning. A
// mark is kept with the windows that selected it, a range of d, so each window belongs to one mark:
//
//	windows that selected it   |<- d most ->|
//	          first            [...........(mark r)......]
//	          last                   [.....(mark r)............]
//	                                 |<-d->| least
//
// Marks with a hash that no other has need nothing more. The others are brought together by sorting
// and are taken a group at a time: marks whose whole surroundings are equal, byte by byte, become one
// class, so that a thousand copies of a page cost what one costs; then, for each d, the windows of the
// classes are brought together by a rolling hash and compared byte by byte. Each window is looked at
// once, so time is linear in the text, whatever is repeated. Runs of d with one first place are repeats.
// A group of more classes than there is memory for is not compared. All its windows are sorted by a hash of
// 128 bits instead, as units are, and written to temporary files.
//
// Strings of words are found the same way in a text of hashes, 8 bytes for each word of package token;
// of each run, whole words are taken. Different words have the same hash with a chance of 2^-64. A
// word as a part of the text goes up to the next word.
//
// # Cost
//
// Units: 24 bytes a unit in runs and 16 in the spool. Reading, cutting and hashing take 5 ns a byte of
// JSON with lines of 45 bytes; a repeat in the table takes 500 ns.
//
// Strings: 2 of w + 1 places are marked, w = L - r + 1; for 100 bytes 3.2 %, 16 bytes each, 0.5 a byte of
// text, on disk if it exceeds the memory; the text itself lies in a temporary file, mapped. Repeats have
// 24 bytes each, for strings about one for each repeated mark. In text with a period of a few bytes each
// place is marked. Finding marks takes 4 ns a byte, each window in a group about 20.
//
// # Concurrency
//
// Find works on all threads, and gives the same for any number of them and any memory. A Result may be
// read by many goroutines.
package passages
