// Package memory counts the memory that the parts of a program use, and compares it with limits of the system. It also
// provides large arrays of integers outside the Go heap.
//
// # Reservations
//
// A [Machine] reads the available memory. A [Budget] is the memory for all tasks of a program. A [Reservation] is the
// part of one task. There is no other count:
//
//	Machine.Limit --control groups, ulimit, MemAvailable--> Limit --NewBudget--> Budget
//	Budget.Reserve("merging 5,000 documents", NeedBytes(...)) --> Reservation --Release--> Budget
//	                                                        `--> TooLargeError: what, need, limit, advice
//
// A package whose memory depends on its input, and is not in an [Arena], has a function NeedBytes. It returns the peak
// memory of a task, which is reserved before the task starts. [Program] covers the program itself. A limit is read
// once, when the budget is created. It stays fixed even if other processes allocate memory later.
//
// # Buffers
//
// A [Buffer] is an anonymous mapping. The garbage collector neither scans, counts nor moves it, and Free returns its
// memory to the system at once. It requests huge pages, because random access needs them: one TLB entry for 2 MiB
// instead of 512 entries. If the system is not Linux, or refuses huge pages, access is slower.
//
// A page takes memory when it is first written. Beyond the limit of a control group the kernel kills the process
// instead of refusing the memory. So buffers whose size depends on the input must be reserved first. GOMEMLIMIT does
// not count this memory. An [Arena] reserves the memory of each buffer when it is made. When the budget is used up,
// further buffers can be in temporary files (spill.Memory).
//
// Cost: one system call to create a buffer, one to free it, and zeroing its pages. Several goroutines may use Data.
// Free must be called when none of them uses it.
package memory
