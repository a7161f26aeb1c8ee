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
	getcpu    func() (cpu, node int, err error)

	firstThread func() bool // is the calling thread the process's first?
}

// failing is c with errors where inject gives one. The names are those of the
// system calls, and madvise's of its advice.
func (c calls) failing(inject func(call string) error) calls {
	fails := c
	fails.mmap = func(bytes int) ([]byte, error) {
		if err := inject("mmap"); err != nil {
			return nil, err
		}
		return c.mmap(bytes)
	}
	fails.mbind = func(b []byte, node int) error {
		if err := inject("mbind"); err != nil {
			return err
		}
		return c.mbind(b, node)
	}
	fails.hugepage = func(b []byte) error {
		if err := inject("madvise hugepage"); err != nil {
			return err
		}
		return c.hugepage(b)
	}
	fails.movePages = func(pages []uintptr, on []int32) error {
		if err := inject("move_pages"); err != nil {
			return err
		}
		return c.movePages(pages, on)
	}
	fails.affinity = func(cpus []int) error {
		if err := inject("sched_setaffinity"); err != nil {
			return err
		}
		return c.affinity(cpus)
	}
	fails.getcpu = func() (int, int, error) {
		if err := inject("getcpu"); err != nil {
			return 0, 0, err
		}
		return c.getcpu()
	}
	return fails
}

// Injectable lists the names of the calls in whose place [Options.Inject] can
// put an error.
func Injectable() []string {
	return []string{"mmap", "mbind", "madvise hugepage", "move_pages", "sched_setaffinity", "getcpu"}
}
