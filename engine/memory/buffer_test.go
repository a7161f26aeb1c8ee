package memory

import (
	"runtime"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 511, 512, hugeBytes / 8, hugeBytes/8 + 1, 3*hugeBytes/8 + 7} {
		b, err := Make[uint64](n)
		must.Do(t, err)
		if len(b.Data) != n || cap(b.Data) != n {
			t.Fatalf("%d elements, want %d", len(b.Data), n)
		}
		for i := range b.Data {
			if b.Data[i] != 0 {
				t.Fatalf("element %d of %d is not zero", i, n)
			}
			b.Data[i] = ^uint64(i)
		}
		for i, v := range b.Data {
			if v != ^uint64(i) {
				t.Fatalf("element %d of %d", i, n)
			}
		}
		b.Free()
		b.Free()
		if b.Data != nil {
			t.Error("data after Free")
		}
	}
	var none *Buffer[uint8]
	none.Free()
}

func TestTrim(t *testing.T) {
	for _, keep := range []int{0, 1, 5000, 1 << 20} {
		b, err := Make[uint32](1 << 20)
		must.Do(t, err)
		for i := range b.Data {
			b.Data[i] = uint32(i)
		}
		b.Trim(keep)
		if len(b.Data) != keep || cap(b.Data) != keep {
			t.Fatalf("%d elements, want %d", len(b.Data), keep)
		}
		for i, v := range b.Data {
			if v != uint32(i) {
				t.Fatalf("element %d is %d", i, v)
			}
		}
		b.Free()
	}
}

func TestMakeTooLarge(t *testing.T) {
	if b, err := Make[[2]uint64](sizeMax/16 + 1); err == nil {
		b.Free()
		t.Fatal("more than an address space was given")
	}
	if b, err := Make[uint64](int(^uint(0) >> 1)); err == nil {
		b.Free()
		t.Fatal("a size that overflows was given")
	}
}

// TestHeapIsUntouched checks that a buffer does not count as memory of the Go heap.
func TestHeapIsUntouched(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // the fallback may be the heap
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b, err := Make[uint64](8 << 20)
	must.Do(t, err)
	defer b.Free()
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 1<<20 {
		t.Errorf("64 MiB off the heap took %d bytes of it", grown)
	}
}
