// Package guard provides memory for tests in which an access outside a slice is a fault.
//
//	| no access | Head ............... | ........... | ............... Tail | no access |
//	            ^ first byte                                       last byte ^
//
// A read or a write of one byte past a slice from Tail, or before a slice from
// Head, is a fault that ends the test, also when assembly does it. Seal makes the
// memory in between read-only, so that a kernel that writes to its input faults
// too.
//
// Where the operating system has no such pages (not a Unix), the memory is plain.
package guard

import (
	"testing"
	"unsafe"
)

// Region is memory between two inaccessible pages. Many goroutines may read it. Only the test that owns it calls Seal
// and Unseal.
type Region struct {
	tb  testing.TB
	mem []byte // the accessible bytes, whole pages
}

// New makes a region of at least size bytes, freed when the test ends.
func New(tb testing.TB, size int) *Region {
	tb.Helper()
	r := &Region{tb: tb}
	mem, free, err := mapGuarded(size)
	if err != nil {
		tb.Fatalf("guard: %d bytes: %v", size, err)
	}
	r.mem = mem
	tb.Cleanup(func() {
		if err := free(); err != nil {
			tb.Errorf("guard: %v", err)
		}
	})
	return r
}

// Seal makes the region read-only.
func (r *Region) Seal() { r.protect(true) }

// Unseal makes the region writable again.
func (r *Region) Unseal() { r.protect(false) }

func (r *Region) protect(readOnly bool) {
	r.tb.Helper()
	if err := protect(r.mem, readOnly); err != nil {
		r.tb.Fatalf("guard: %v", err)
	}
}

// Head returns the first n elements of the region: the byte before them faults.
func Head[T any](r *Region, n int) []T {
	r.tb.Helper()
	return view[T](r, 0, n)
}

// Tail returns the last n elements of the region: the byte after them faults.
func Tail[T any](r *Region, n int) []T {
	r.tb.Helper()
	return view[T](r, len(r.mem)-n*sizeOf[T](), n)
}

// Copies returns two copies of s, at the head and at the tail of new sealed
// regions.
func Copies[T any](tb testing.TB, s []T) (head, tail []T) {
	tb.Helper()
	a, b := New(tb, len(s)*sizeOf[T]()), New(tb, len(s)*sizeOf[T]())
	head, tail = Head[T](a, len(s)), Tail[T](b, len(s))
	copy(head, s)
	copy(tail, s)
	a.Seal()
	b.Seal()
	return head, tail
}

func view[T any](r *Region, offset, n int) []T {
	r.tb.Helper()
	if n < 0 || offset < 0 || offset+n*sizeOf[T]() > len(r.mem) {
		r.tb.Fatalf("guard: %d elements of %d bytes do not fit in %d bytes", n, sizeOf[T](), len(r.mem))
	}
	if n == 0 && offset == len(r.mem) {
		// An empty slice whose pointer is the inaccessible page itself.
		return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(r.mem)), offset)), 0)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&r.mem[offset])), n)
}

func sizeOf[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}
