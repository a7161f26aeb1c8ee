// Package store keeps sections of bytes in files with checksums.
//
// Every file that ndd writes and reads back (fingerprint files, segments, manifests) has this format: a header,
// sections, the checksums of the sections' blocks, a footer with the names of the sections, and a trailer with the
// offset of the footer.
//
//	+--------+-----------+-----------+-----+------+--------+---------+
//	| header | section 0 | section 1 | ... | sums | footer | trailer |
//	| 4 KiB  | pages     | pages     |     |      |        | 64 B    |
//	+--------+-----------+-----------+-----+------+--------+---------+
//
// Sections start on a 4 KiB page, so that the arrays of a table can be used in a mapped file without a copy. Each 64
// KiB block of a section, with its padding, has a HighwayHash-64. Its key is the file's identity, its generation, the
// section's number and the block's number. So a checksum does not match if the block was damaged, moved, or replayed
// from another file or generation. Checksums cover all other bytes, too. FORMAT.md in this folder has the fields, an
// example and measured sizes.
//
// [Writer.Commit] writes, syncs, renames, and syncs the directory. The file appears completely or not at all. Every
// part of a file is checked before it is used. [Open] checks the header, the trailer, the footer, the length and the
// digests of the block checksums. These checksums are 1/8192 of the file: 1.6 ms for a segment of 1.3 GB.
// [File.VerifySmall] also checks the blocks of small sections. [File.Verify] checks all blocks, at 5.3 GB/s per core
// with AVX2 (BenchmarkVerify).
//
// [Open] maps a file, in huge pages if the page cache has them (see [Writer]). [Load] reads it into memory with huge
// pages. A mapped file can be truncated while it is read: [EndFaults] turns this into an error.
//
// A [File] is safe for concurrent use. A [Writer] is used by one goroutine.
package store
