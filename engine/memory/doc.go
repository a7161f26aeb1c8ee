// Package memory counts the memory that the parts of a program take, against limits
// that it reads from the system, and holds large arrays of integers outside the Go heap.
//
// # Reservations
//
// A [Machine] tells what there is, a [Budget] is what of that the tasks of a program may take
// together, a [Reservation] what one of them has taken. There is no other count:
//
//	Machine.Limit --control groups, ulimit, MemAvailable--> Limit --NewBudget--> Budget
//	Budget.Reserve("merging 5,000 documents", NeedBytes(...)) --> Reservation --Release--> Budget
//	                                                        `--> TooLargeError: what, need, limit, advice
//
// Each package that takes memory which depends on its input has a function NeedBytes that tells
// the most that a task will take, and reserves that before it begins. [Program] is for the
// program itself, in one place. Limits are read once, when the budget is made,
// and kept, whatever other processes take later.
//
// # Buffers
//
// A [Buffer] is an anonymous mapping: the garbage collector neither scans nor
// counts nor moves it, and its memory goes back to the system at Free, not at
// some later collection. It is asked to be of huge pages, which random access
// needs (one entry of the translation cache for 2 MiB instead of 512). Where the
// system refuses them, or is not Linux, the buffer is slower.
//
// A page takes memory when it is written to first. Beyond a control group's limit the
// kernel then kills instead of refusing, so whoever makes buffers whose size depends
// on the input reserves them first. GOMEMLIMIT does not count this memory.
//
// Cost: one system call to make a buffer and one to free it, and the zeroing of its pages.
// A Buffer is for as many goroutines as its Data is; Free it when none uses it.
package memory
