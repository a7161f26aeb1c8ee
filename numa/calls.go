package numa

// calls are the system calls that place memory and threads. Where the system
// has none of them each is an error. Tests put others in their places.
type calls struct {
	mmap      func(bytes int) ([]byte, error)
	munmap    func(b []byte) error
	mbind     func(b []byte, node int) error          // to that node only
	hugepage  func(b []byte) error                    // of huge pages, where there are some
	movePages func(pages []uintptr, on []int32) error // where is each: a node, or an error number below 0
	affinity  func(cpus []int) error                  // of the calling thread

	firstThread func() bool // is the calling thread the process's first?
}

// fails returns the error that a test puts in the place of a system call.
func (h *Host) fails(call string) error {
	if h.inject == nil {
		return nil
	}
	return h.inject(call)
}

// Injectable lists the names of the calls in whose place [Options.Inject] can
// put an error: those of the system calls, and madvise's of its advice.
func Injectable() []string {
	return []string{"mmap", "mbind", "madvise hugepage", "move_pages", "sched_setaffinity"}
}
