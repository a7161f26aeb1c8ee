package numa

import "unsafe"

// call makes a system call, unless a test injects an error. On systems without these calls each of them is an error.
func (h *Host) call(name string, do func() error) error {
	if h.inject != nil {
		if err := h.inject(name); err != nil {
			return err
		}
	}
	return do()
}

// Injectable returns the names of the calls that [Options.Inject] can replace by an error: the system calls, and
// madvise with its advice.
func Injectable() []string {
	return []string{"mmap", "mbind", "madvise hugepage", "move_pages", "sched_setaffinity"}
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
