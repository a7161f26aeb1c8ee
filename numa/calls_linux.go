package numa

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mpolBind is MPOL_BIND of linux/mempolicy.h.
const mpolBind = 2

func mmap(bytes int) ([]byte, error) {
	return unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
}

func munmap(b []byte) error { return unix.Munmap(b) }

// mbind binds memory to one node.
func mbind(b []byte, node int) error {
	const wordBits = 8 * unsafe.Sizeof(uintptr(0))
	mask := make([]uintptr, node/int(wordBits)+1)
	mask[node/int(wordBits)] = 1 << (node % int(wordBits))
	// The kernel reads one bit less than the given number.
	_, _, e := unix.Syscall6(unix.SYS_MBIND, address(b), uintptr(len(b)), mpolBind,
		uintptr(unsafe.Pointer(&mask[0])), uintptr(len(mask))*wordBits+1, 0)
	return errnoError(e)
}

func hugepage(b []byte) error { return unix.Madvise(b, unix.MADV_HUGEPAGE) }

// movePages writes the node of each page to nodes, or a negative error number.
func movePages(pages []uintptr, nodes []int32) error {
	// 0 means this process. Without a list of target nodes, nothing is moved.
	_, _, e := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(len(pages)),
		uintptr(unsafe.Pointer(&pages[0])), 0, uintptr(unsafe.Pointer(&nodes[0])), 0)
	return errnoError(e)
}

// setAffinity pins the calling thread.
func setAffinity(cpus []int) error {
	set := unix.NewCPUSet(cpus[len(cpus)-1] + 1)
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	return unix.SchedSetaffinityDynamic(0, set)
}

// firstThread reports whether the calling thread is the first thread of the process.
func firstThread() bool { return unix.Gettid() == unix.Getpid() }

func errnoError(e unix.Errno) error {
	if e != 0 {
		return e
	}
	return nil
}
