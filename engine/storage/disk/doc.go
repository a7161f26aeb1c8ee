// Package disk creates files and folders that appear completely or not at all. It also creates temporary files that
// disappear when the program ends, even if it is killed.
//
//	Create, CreateFolder     .NAME.tmp-ndd123   incomplete, in the folder of NAME
//	Write ...                     |
//	Commit: sync, close, sync of the new folder
//	        rename                v
//	                             NAME        complete and durable
//	        sync of the parent folder
//
//	Temp                     no name at all, if the system allows that
//
// An error before the rename removes the incomplete file or folder. A power cut or a kill leaves at most the
// incomplete one. [Sweep] removes it later: the process that creates it holds a lock on it until the rename. The call
// after the rename makes the name durable. If it fails, the error says that the file or folder is complete.
//
// All files of ndd are written by this package: files of package store, indexes, outputs and data that exceeds the
// memory limit. So tests can make each call fail ([WithFailures]), or record it with its data ([Hooked]) to simulate a
// power cut.
//
// A [Disk] is safe for concurrent use. Its files and folders belong to one goroutine each, except for reads through
// [Temp.File].
package disk
