// Package wal is a write-ahead log. Its records are on disk before the caller acknowledges the changes.
//
//	callers    Append   Append   Append        each copies its record to memory, in order
//	              \        |       /
//	batch       | head | r1 | r2 | r3 |
//	                       |
//	            Sync: the first caller writes the batch as one frame and syncs it for all;
//	                  records appended meanwhile are the next batch
//	                       v
//
// 00000007.wal  | header | frame | frame | frame |        the current file
//
//	00000006.wal  | header | frame ... | frame |            complete; Remove deletes it when its
//	                                                        records are durable elsewhere
//
// # Use
//
// The owner appends a record under its own lock, in the order of the changes in memory. It releases the lock, and
// acknowledges the change when [Log.Sync] has returned.
//
// To write its memory to another file, the owner calls [Log.Rotate] under the same lock: later records use a new log
// file. When the other file is durable and named by the owner's manifest, [Log.Remove] deletes the earlier log files.
// The manifest stores the [Mark] of Rotate. The next [Open] gets it as [Options.Start], and so ignores a removed file
// that reappears after a power cut. The manifest also stores the result of [Log.Begin], for [Options.Holds]: Open
// then detects a last file that is missing or empty.
//
// # Format
//
// All numbers are little-endian. A file NUMBER.wal has a decimal number of at least eight digits. It contains a
// header and frames. Each frame begins at a multiple of 8:
//
//	 8  version                      4          8  length of the records            4
//	 0  magic "nddlog\r\n"           8          0  checksum of the rest             8
//	 8  version                      4          8  length of the records            4
//	12  zero                         4         12  number of records                4
//	16  log: the owner's ID         16         16  position of the first            8
//	32  identity of the file        16         24  synced: length of the file that  8
//	48  number of the file           8             was durable before this frame
//	56  position of the first record 8         32  records: length (4), content
//	64  checksum of 0 to 63          8             zeros up to a multiple of 8
//
// Checksums are HighwayHash-64, as in the files of package store. Unlike CRC-32C it takes a key: the random identity
// of the file, its number, and the offset of the data. So the checksum does not match if a frame was moved within its
// file, or comes from another file or log. It also does not match for a frame of an older file with the same name.
// The key takes no byte in the frame. A checksum takes about 60 ns for a small frame, and is computed once per batch,
// outside every lock.
//
// A frame without records ends the last file of a closed log. Its position is the position of the next record.
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
// A record costs 4 bytes in addition to its content. A batch costs 32 bytes.
//
// # Crashes and damage
//
// Only the end of the last file may be incomplete after a crash. A file is durable before the next one is created,
// and its header and name are durable before its first frame is written. [Open] truncates the last file durably at
// the first frame with a wrong checksum. New records use a new file: no byte is written twice, and removed data
// cannot reappear.
//
// The field synced distinguishes damage from a crash. If a later, valid frame says that the bytes of a bad frame were
// durable, no crash explains the bad frame. This, and damage in any other place, is an error that wraps
// [store.ErrCorrupt], with file and offset. Damage to the last frame before a kill looks like a crash. With
// [Options.NoSync], so does damage to the frames since the last sync.
//
// After a failed write or sync, every call returns that error until the log is opened again. The state of those pages
// is unknown: a second sync may succeed without having written them. A failed write on a full disk loses nothing: the
// owner withdraws the unwritten records with [Log.Withdraw], and continues with [Log.Resume].
//
// # Lock order
//
// The owner's lock comes first, then Log.mu. Log.mu is held while a record is copied, but never during a system call.
// The current file belongs to the goroutine that created Log.writing.
package wal
