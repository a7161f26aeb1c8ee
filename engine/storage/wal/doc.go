// Package wal is a write-ahead log: records that are on disk before what they say is acknowledged.
//
//	callers    Append   Append   Append        each copies its record to memory, in order
//	              \        |       /
//	batch       | head | r1 | r2 | r3 |
//	                       |
//	            Sync: the first caller writes the batch as one frame and syncs it for all;
//	                  records appended meanwhile are the next batch
//	                       v
//	00000007.wal  | header | frame | frame | frame |        the present file
//	00000006.wal  | header | frame ... | frame |            whole; Remove takes it when its
//	                                                        records are durable elsewhere
//
// # Use
//
// The owner appends a record under its own lock, in the order in which it changes its memory, lets
// go of the lock, and acknowledges when [Log.Sync] has returned. When the memory is to become a
// file of its own, [Log.Rotate] under the same lock begins a new log file; when that file is
// durable and the owner's manifest says so, [Log.Remove] takes the log files before. The [Mark]
// that Rotate returned belongs in the manifest, and into [Options.From] of the next [Open]: a
// removed file that comes back after a power cut is not read. What [Log.Begin] returned belongs
// there, too, and into
// [Options.Holds]: a last file that is missing, or was emptied, is noticed.
//
// # Format
//
// All numbers are little-endian. A file NUMBER.wal, of eight decimal digits or more, is a header
// and frames, each of which begins at a multiple of 8:
//
//	header                                     frame
//	 0  magic "nddlog\r\n"           8          0  checksum of the rest             8
//	 8  version                      4          8  length of the records            4
//	12  zero                         4         12  how many                         4
//	16  log: the owner's ID         16         16  position of the first            8
//	32  identity of the file        16         24  synced: bytes of the file that   8
//	48  number of the file           8             were durable when this was written
//	56  position of the first record 8         32  records: length (4), content
//	64  checksum of 0 to 63          8             zeros up to a multiple of 8
//
// Checksums are HighwayHash-64, as in the files of package store, and not CRC-32C, since it takes a
// key: the file's random identity, its number, and the offset that the data stands at. So a frame
// that was moved within its file, or comes from another file, another log or an older file of the
// same name, does not verify, without a byte for that in the frame. It takes about 60 ns for a
// small frame and is computed once for a batch, outside every lock.
//
// A frame without records ends the last file of a log that was closed. Its position is that of
// the next record.
//
// An example: the records "one" and "two" appended together as the first of a log, and closed.
//
//	00000000  6e 64 64 6c 6f 67 0d 0a  01 00 00 00 00 00 00 00  magic, version 1
//	00000010  4c 4c 4c 4c 4c 4c 4c 4c  4c 4c 4c 4c 4c 4c 4c 4c  log
//	00000020  46 46 46 46 46 46 46 46  46 46 46 46 46 46 46 46  identity
//	00000030  01 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00  file 1, its first record is 1
//	00000040  SUM                      SUM                      checksum; the frame's
//	00000050  0e 00 00 00 02 00 00 00  01 00 00 00 00 00 00 00  14 bytes, 2 records, from 1
//	00000060  48 00 00 00 00 00 00 00  03 00 00 00 6f 6e 65 03  72 bytes were durable; "one"
//	00000070  00 00 00 74 77 6f 00 00  SUM                      "two", padding; the last frame's
//	00000080  00 00 00 00 00 00 00 00  03 00 00 00 00 00 00 00  no records, 3 would be next
//	00000090  78 00 00 00 00 00 00 00                           120 bytes were durable
//
// A record costs 4 bytes, and 32 more a batch.
//
// # Crashes and damage
//
// Only the end of the last file may be unfinished after a crash: a file is durable before the next
// one is created, and its header and name before its first frame is written. [Open] cuts the end
// off at the first frame that does not verify, and makes the cut durable; new records go to a new
// file, so that no byte of a file is written twice and nothing that was cut off can come back.
//
// Damage is told from a crash by the field synced: when a frame verifies that was written after the
// bytes of a bad one had become durable, no crash made it bad. That, and everything wrong in any
// other place, is an error that wraps [store.ErrCorrupt] with the file and the offset. What cannot
// be told from a crash is damage to the last frame before a kill, and with a policy other than
// [Always] to the frames since the last sync.
//
// After a write or a sync that failed the log returns that error from every call until it is opened
// again: nobody knows what the system has of those pages, and a second sync may succeed without
// having written them. A write that failed, on a full disk, is no such loss: the owner takes the
// unwritten records back with [Log.Withdraw], and goes on with [Log.Resume].
//
// # Lock order
//
// The owner's lock, then Log.mu, which is held for the copy of a record and never during a call to
// the system. The present file belongs to the goroutine that has made Log.writing.
package wal
