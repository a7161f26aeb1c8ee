// Package work keeps in a folder the results of the first reading of input files: fingerprints, IDs,
// lengths, hashes of lines, and all else that becomes of a document; and finished copies, until all
// are there. A job that was stopped at any moment, or that has new files, then reads only the files
// that no run has finished.
//
//	version        of the folder
//	lock           one process at a time
//	000001.work    entries of one or more input files, and a list of these
//	000002.work    ...
//	copies         a list of finished copies, a line each
//	000001.copy    a finished copy: another name of a file in the folder that is being made
//
// A work file is a file of package store: it is there whole, with checksums, or not at all. Entries
// are written as they come in the order of the inputs. A work file is completed at the end of an
// input file, once it is about 1 MiB of input or 64 files; so at most the files that were being read
// are read again, of which small ones count together. Finished files are completed by
// [Folder.Close], too.
//
// # Identity
//
// An input file is taken over if its path, size, time of modification, inode and the inode's time of change
// (or the ETag of an object) and all options that its entries depend on are the same. A file that changed while it was read is
// not kept, nor is one that could not be read.
//
// A copy is taken over if the decision is the same, too: what of the file is left out.
//
// # Concurrency
//
// A Folder belongs to one run of package ingest at a time, which reads entries with several
// goroutines.
package work
