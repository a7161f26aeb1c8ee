package cluster

import "ndd/engine/memory"

// arena is the memory of one search, outside of the Go heap: of huge pages,
// which its random accesses need and which save a million faults for 100 million
// documents, and gone at once when the search is over.
type arena []interface{ Free() }

// arrayOf returns an array of n elements that is freed with the arena.
func arrayOf[T memory.Plain](a *arena, n int) ([]T, error) {
	b, err := memory.Make[T](n)
	if err != nil {
		return nil, err
	}
	*a = append(*a, b)
	return b.Data, nil
}

func (a *arena) free() {
	for _, b := range *a {
		b.Free()
	}
	*a = nil
}
