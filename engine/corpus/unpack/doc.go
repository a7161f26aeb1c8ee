// Package unpack reads the content of compressed files: gzip, zstd, xz and bzip2, which it recognizes by their first
// bytes, and files that are not compressed. It also undoes the content codings of HTTP.
//
//	file ──► trail ──────────► pieces ─────────────► gzip, zstd, ... ──► Reader
//	         remembers the     whole members or      in place, where     buffered content,
//	         last bytes        frames, decompressed  there is no piece   its offset, a copy
//	         (trail.go)        ahead (pieces.go)                         (reader.go)
//
// # Damage
//
// The error of damaged content wraps [ErrDamaged], names the compression and says what may have happened to the file.
// A gzip file consists of members. The next sound member after a damaged one can be read if the caller knows how its
// content begins: see [Reader.Resume].
//
// # Memory
//
// A file that claims to need more is refused: windows of zstd have at most 256 MiB, dictionaries of xz 64 MiB.
// [Decoders] limit the memory of content that is decompressed ahead.
//
// # Concurrency
//
// A [Reader] belongs to one goroutine. [Decoders] are safe for concurrent use, and all files of a run share them.
package unpack
