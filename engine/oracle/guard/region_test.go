//go:build unix

package guard

import (
	"runtime/debug"
	"testing"
	"unsafe"
)

// faults reports whether touch dies of a memory fault.
func faults(touch func()) (died bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { died = recover() != nil }()
	touch()
	return false
}

var sink uint64

func TestGuardPages(t *testing.T) {
	for _, n := range []int{1, 2, 511, 512, 513, 1024} {
		r := New(t, n*8)
		head, tail := Head[uint64](r, n), Tail[uint64](r, n)
		before := (*uint64)(unsafe.Add(unsafe.Pointer(&head[0]), -8))
		after := (*uint64)(unsafe.Add(unsafe.Pointer(&tail[n-1]), 8))
		for name, touch := range map[string]func(){
			"read before":  func() { sink = *before },
			"write before": func() { *before = 1 },
			"read after":   func() { sink = *after },
			"write after":  func() { *after = 1 },
		} {
			if !faults(touch) {
				t.Errorf("n=%d: %s did not fault", n, name)
			}
		}
		if faults(func() { head[0], head[n-1], tail[0], tail[n-1] = 1, 2, 3, 4 }) {
			t.Errorf("n=%d: memory inside faults", n)
		}
	}
}

func TestSeal(t *testing.T) {
	r := New(t, 64)
	s := Head[byte](r, 64)
	s[5] = 7
	r.Seal()
	if !faults(func() { s[5] = 8 }) {
		t.Error("sealed memory can be written")
	}
	if s[5] != 7 {
		t.Errorf("sealed memory holds %d, want 7", s[5])
	}
	r.Unseal()
	s[5] = 9
}
