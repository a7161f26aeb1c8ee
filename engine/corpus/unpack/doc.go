// Package unpack reads the content of compressed files: gzip, zstd, xz and bzip2, which it recognizes by their first
// bytes, and files that are not compressed. It also undoes the content codings of HTTP.
//
//	file ──► trail ──────────► pieces ─────────────► gzip, zstd, ... ──► Reader
//	         remembers the     whole gzip members,   in place, where     buffered content,
//	         last bytes        decompressed ahead    there is no piece   its offset, a copy
//	         (trail.go)        (pieces.go)                               (reader.go)
//
// # Damage
//
// The error of damaged content wraps [ErrDamaged], names the compression and says what may have happened to the file.
// A gzip file consists of members. The next intact member after a damaged one can be read if the caller knows how its
// content begins: see [Reader.Resume].
//
// # Memory
//
// A zstd window has at most 256 MiB, and an xz dictionary at most 64 MiB. A file that needs more is refused.
// [Decoders] limit the memory of content that is decompressed ahead.
//
// # Concurrency
//
// A [Reader] belongs to one goroutine. [Decoders] are safe for concurrent use, and all files of a run share them.
package unpack
