// Package passages finds all repeated parts of documents, and nothing else. The parts are lines, paragraphs and
// sentences (units), or strings of a minimum length that may begin anywhere. It returns each part with the place of
// its first occurrence.
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
//	repeat   consecutive windows whose first occurrences are consecutive, too
//	span     a repeat as a range of bytes of a text
//
// # Units
//
// A unit is a window of normalised text ([Options.Ignore]), hashed by HighwayHash-128. Two units are equal if
// their hashes are equal. The chance that any two different ones of 10^12 units have the same hash is 10^-15.
//
//   - A line includes its line end. A paragraph includes the blank lines after it, and a sentence the white
//     space after it. The atoms of a document together are its text.
//   - A sentence ends after . ! ? … if white space follows, and after 。 ！ ？ ； (package ccdet) in any case.
//     It includes closing quotes and brackets. It also ends at the end of a line.
//   - A document with fewer sentences than a window has no unit.
//
// # Strings
//
// A window is L bytes. Each r bytes in it have a hash, r = 2L/5. The window selects the smallest hash as its mark,
// the last one if several are equal (winnowing). So equal windows have their mark at the same distance d from
// their beginning. A mark is stored with the range of d of the windows that selected it, so each window belongs to
// one mark:
//
//	windows that selected it   |<- largest d ->|
//	          first            [...............(mark r)......]
//	          last                   [.........(mark r)............]
//	                                 |<-  d  ->| smallest
//
// A mark whose hash occurs once needs no more work. The others are sorted by hash and handled one group at a time.
// First, marks whose whole surroundings are equal, byte by byte, become one class. So a thousand copies of a page
// cost as much as one. Then, for each d, a rolling hash groups the windows of the classes, and equal hashes are
// compared byte by byte. Each window is examined once, so the time is linear in the length of the text, even if all
// of it is repeated. Windows at successive d are one repeat if their first occurrences follow each other, too. If a
// group has too many classes for the memory, its windows are sorted by a 128-bit hash instead, like units, and
// written to temporary files.
//
// Strings of words are found in the same way, in a text of hashes: 8 bytes for each word of package token. Only
// windows of whole words count. The chance that two different words have the same hash is 2^-64. In the original
// text, a word extends to the next word.
//
// # Cost
//
// Units: 24 bytes a unit in runs and 16 in the spool. Reading, cutting and hashing take 5 ns a byte of JSON with lines
// of 45 bytes; a repeat in the table takes 500 ns. A copy without the repeats takes another 4 ns a byte.
//
// Strings: 2 of w + 1 positions are marked, w = L - r + 1. With 100 bytes that is 3.2 %. A mark has 16 bytes, so the
// marks need 0.5 bytes for each byte of text. They are on disk if they exceed the memory. The text itself is in a
// temporary file, which is mapped. A repeat has 24 bytes, and there is about one for each repeated mark. In text
// with a period of a few bytes, each position is marked. Finding marks takes 4 ns a byte, and each window in a group
// about 20 ns.
//
// # Concurrency
//
// Find uses all threads. Its result is the same for any number of threads and any amount of memory. Many goroutines
// may read a Result.
package passages
