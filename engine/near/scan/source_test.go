package scan

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// TestAhead: chunks are read before they are asked for, so many and no more; they come in order, with the error behind them; and what is not
// asked for does not keep the goroutine.
func TestAhead(t *testing.T) {
	base, broken := sets.Uniform(1000, 1), errors.New("broken")
	asked := make(chan int, 100)
	counted := func(yield func(Chunk) bool) error {
		for at := range 10 {
			asked <- at
			if !yield(Chunk{Fingerprints: base[100*at : 100*at+100], First: uint64(100 * at)}) {
				return nil
			}
		}
		return broken
	}
	f, end := Ahead(counted, 2)
	for want := range 3 { // two that wait, and one that has no room
		if got := <-asked; got != want {
			t.Fatalf("chunk %d is read, want %d", got, want)
		}
	}
	if len(asked) > 0 {
		t.Fatal("it has read more than two chunks and one")
	}
	var got []uint64
	err := f(func(c Chunk) bool {
		if c.First != uint64(len(got)) {
			t.Errorf("row %d, want %d", c.First, len(got))
		}
		got = append(got, c.Fingerprints...)
		return true
	})
	if end(); !errors.Is(err, broken) || !slices.Equal(got, base) {
		t.Fatalf("%d fingerprints and error %v, want %d and %v", len(got), err, len(base), broken)
	}
	endless := Reader(io.MultiReader(bytes.NewReader(store.Bytes64(base)), zeros{}), 10)
	f, end = Ahead(endless, 3)
	if err := f(func(Chunk) bool { return false }); err != nil {
		t.Fatal(err)
	}
	end()
}

// zeros are so without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestRelease: a chunk that is given back is filled again.
func TestRelease(t *testing.T) {
	arrays := map[*uint64]bool{}
	err := Reader(bytes.NewReader(store.Bytes64(sets.Uniform(1000, 1))), 10)(func(c Chunk) bool {
		arrays[&c.Fingerprints[0]] = true
		c.Release()
		return true
	})
	if err != nil || len(arrays) != 1 {
		t.Fatalf("%v: %d arrays for 100 chunks that are given back", err, len(arrays))
	}
}
