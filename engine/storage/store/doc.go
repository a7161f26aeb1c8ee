// Package store keeps sections of bytes in checksummed files.
//
// Every file that ndd writes (fingerprint files, segments, manifests) is one
// of these: a header, sections, the checksums of the sections' blocks, a
// footer that names the sections, and a trailer that finds the footer.
//
//	+--------+-----------+-----------+-----+------+--------+---------+
//	| header | section 0 | section 1 | ... | sums | footer | trailer |
//	| 4 KiB  | pages     | pages     |     |      |        | 64 B    |
//	+--------+-----------+-----------+-----+------+--------+---------+
//
// Sections start on a 4 KiB page, so that a mapped file can be used as it is:
// a table's arrays are the file's bytes. Each 64 KiB block of a section,
// padding included, has a HighwayHash-64 keyed with the file's identity, its
// generation, the section's number and the block's number: a block that was
// flipped, swapped, or replayed from another file or generation does not
// verify. Every other byte is covered too: see FORMAT.md beside this file for
// the fields, a worked example and measured sizes.
//
// A file is written under a temporary name and published by [Writer.Commit]:
// write, fsync, rename, fsync of the directory. It appears whole or not at
// all. Nothing in a file is trusted before it is checked: [Open] checks the
// header, the trailer, the footer, the length and the digests of the block
// checksums, which are 1/8192 of the file: 1.6 ms for a segment of 1.3 GB.
// [File.VerifySmall] adds the blocks of small sections, [File.Verify] those of
// all, at 5.3 GB/s a core with AVX2 (BenchmarkVerify).
//
// [Open] maps a file, in huge pages where the page cache has them (see [Writer]); [Load]
// reads it into memory of huge pages. A mapped file can be truncated while it is read, which
// [CatchFault] turns into an error. Sections are also kept without a file, on the heap
// ([Memory]).
//
// A [File] may be used from many goroutines; a [Writer] from one.
package store
