package store

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestArena holds the two memories against each other.
func TestArena(t *testing.T) {
	var a Arena
	var m Memory
	rng := rand.New(rand.NewPCG(4, 4))
	names := []string{"empty", "small", "large", "last"}
	for i, name := range names {
		a.Section(name)
		m.Section(name)
		for range []int{0, 3, 60, 1}[i] {
			p := make([]byte, rng.IntN(50_000))
			for j := range p {
				p[j] = byte(rng.Uint32())
			}
			for _, sink := range []Sink{&a, &m} {
				if n, err := sink.Write(p); n != len(p) || err != nil {
					t.Fatal(n, err)
				}
			}
		}
	}
	from, err := a.Source()
	if err != nil {
		t.Fatal(err)
	}
	want := m.Source()
	for _, name := range names {
		x, err := from.Section(name)
		if err != nil {
			t.Fatal(err)
		}
		y, err := want.Section(name)
		if err != nil || !bytes.Equal(x.Data, y.Data) {
			t.Errorf("section %s differs, %v", name, err)
		}
	}
	if _, err := from.Section("none"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v", err)
	}
	a.Free()
	a.Section("small") // empty and ready
	a.Free()
}

// TestArenaIsOffTheHeap writes 32 MiB that the heap does not see.
func TestArenaIsOffTheHeap(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // the fallback may be the heap
	}
	var a Arena
	defer a.Free()
	p := make([]byte, 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a.Section("large")
	for range 32 {
		if _, err := a.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes of the heap", n)
	}
}
