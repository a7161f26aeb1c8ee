package numa

import "unsafe"

// call makes a system call, unless a test puts an error in its place. Where the system has none of
// them each is an error.
func (h *Host) call(name string, do func() error) error {
	if h.inject != nil {
		if err := h.inject(name); err != nil {
			return err
		}
	}
	return do()
}

// Injectable lists the names of the calls in whose place [Options.Inject] can
// put an error: those of the system calls, and madvise's of its advice.
func Injectable() []string {
	return []string{"mmap", "mbind", "madvise hugepage", "move_pages", "sched_setaffinity"}
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
