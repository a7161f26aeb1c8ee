package numa

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Of linux/mempolicy.h.
const mpolBind = 2

func mmap(bytes int) ([]byte, error) {
	return unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
}

func munmap(b []byte) error { return unix.Munmap(b) }

// mbind binds memory to that node only.
func mbind(b []byte, node int) error {
	const wordBits = 8 * unsafe.Sizeof(uintptr(0))
	mask := make([]uintptr, node/int(wordBits)+1)
	mask[node/int(wordBits)] = 1 << (node % int(wordBits))
	// The kernel takes one bit less than it is told of.
	_, _, e := unix.Syscall6(unix.SYS_MBIND, address(b), uintptr(len(b)), mpolBind,
		uintptr(unsafe.Pointer(&mask[0])), uintptr(len(mask))*wordBits+1, 0)
	return failed(e)
}

func hugepage(b []byte) error { return unix.Madvise(b, unix.MADV_HUGEPAGE) }

// movePages says where each of the pages is: a node, or an error number below 0.
func movePages(pages []uintptr, on []int32) error {
	// Of this process; without a list of nodes nothing is moved.
	_, _, e := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(len(pages)),
		uintptr(unsafe.Pointer(&pages[0])), 0, uintptr(unsafe.Pointer(&on[0])), 0)
	return failed(e)
}

// setAffinity pins the calling thread.
func setAffinity(cpus []int) error {
	set := unix.NewCPUSet(cpus[len(cpus)-1] + 1)
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	return unix.SchedSetaffinityDynamic(0, set)
}

// firstThread reports whether the calling thread is the process's first.
func firstThread() bool { return unix.Gettid() == unix.Getpid() }

func failed(e unix.Errno) error {
	if e != 0 {
		return e
	}
	return nil
}
