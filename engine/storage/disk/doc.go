// Package disk makes files and folders that appear whole or not at all, and
// temporary files that are gone however the program ends.
//
//	Create, CreateFolder     .NAME.tmp-ndd123   beside NAME, unfinished
//	Write ...                     |
//	Commit: sync, close, sync of what holds it
//	        rename                v
//	                             NAME        whole, and durable
//	        sync of its folder
//
//	Temp                     no name at all, where the system allows that
//
// An error before the rename leaves nothing: the unfinished file or folder is removed. A power cut
// or a kill leaves at most the unfinished one, which [Sweep] removes later: its maker holds a lock
// on it until it has its final name. The one call after the rename makes the name durable; if it
// fails the error says that the file or folder is complete.
//
// Everything that ndd writes goes through here: files of package store, indexes, outputs,
// what does not fit in memory. So each call is in one place, where a test makes it fail
// ([Failing]) or records it with its data ([Hooked]), to show what a power cut may leave.
//
// A [Disk] may be used from many goroutines; what it makes from one each, but for
// reading through [Temp.File].
package disk
