// Package work keeps the results of the first reading of input files in a folder: fingerprints, IDs, lengths,
// hashes of lines and skips. It also keeps finished copies of input files until all copies are complete.
// A job that was stopped at any moment, or that has new files, reads only files that no run has finished.
//
//	lock           one process at a time
//	000001.work    entries of one or more input files, and a list of these files
//	000002.work    ...
//	*.copy         finished copies: second names of files in the folder that a command is making
//
// A work file is a file of package store: it is complete and has checksums, or it does not exist. Entries
// are written in the order of the inputs. A work file is completed at the end of an input file, after about
// 1 MiB of input or 64 files. So a stopped job reads at most the unfinished files and 1 MiB of small files
// again. [Folder.Close] completes the finished files, too.
//
// # Identity
//
// An input file is taken over if its path, size, time of modification, inode and the inode's time of change
// (for an object its ETag) and all options that its entries depend on are the same. A file that changed while
// it was read is not kept, nor is one that could not be read.
//
// A copy is taken over if the decision about it is the same, too. The decision says what the copy leaves out.
//
// # Concurrency
//
// A Folder belongs to one run of package ingest at a time, which reads entries with several goroutines.
package work
