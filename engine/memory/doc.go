// Package memory holds large arrays of integers outside the Go heap, and says
// whether they will fit.
//
// A [Buffer] is an anonymous mapping: the garbage collector neither scans nor
// counts nor moves it, and its memory goes back to the system at Free, not at
// some later collection. It is asked to be of huge pages, which random access
// needs (one entry of the translation cache for 2 MiB instead of 512), and is
// populated when it is made: memory that is not there is an error then, not a
// fault in the middle of a sort.
//
//	Make --mmap--> 2 MiB aligned --MADV_HUGEPAGE--> --MADV_POPULATE_WRITE--> Data
//
// Where the system refuses huge pages, or knows no populating, or is not
// Linux, the buffer is made of what there is; it then is slower, or an error
// comes later, but nothing fails for it.
//
// Populating is not enough in a container: beyond a control group's limit the
// kernel kills instead of refusing. So whoever makes buffers whose size depends
// on the input asks a [Machine] first what is available, and refuses with a
// [TooLargeError] that names both numbers. GOMEMLIMIT does not count this
// memory.
//
// Cost: populating zeroes pages, about 0.1-0.4 ns a byte and thread, once for
// a buffer; one system call to free it. A Buffer is for as many goroutines as
// its Data is; Free it when none uses it.
package memory
