package spill

import "unsafe"

// A merger yields the records of several sources in order, without duplicates.
type merger[R Record] struct {
	heads []*head[R] // a heap, ordered by next
}

// A head is a sorted source of records: a run or a list in memory.
type head[R Record] struct {
	next    R
	records []R // following records in memory

	run    *Run[R] // source of further records; nil for a list in memory
	index  int     // index in run of the first record that is not in memory
	buffer []R
}

// advance moves to the next record. It returns false at the end.
func (h *head[R]) advance() (bool, error) {
	if len(h.records) == 0 {
		if err := h.fill(); err != nil || len(h.records) == 0 {
			return false, err
		}
	}
	h.next, h.records = h.records[0], h.records[1:]
	return true, nil
}

// fill reads the next records of the run.
func (h *head[R]) fill() error {
	if h.run == nil {
		return nil
	}
	h.records = h.buffer[:min(len(h.buffer), h.run.count-h.index)]
	err := h.run.ReadAt(h.records, h.index)
	h.index += len(h.records)
	return err
}

// merge flushes the runs and returns a merger of the runs and of lists in memory. It reads each run in pieces of
// bufferBytes.
func merge[R Record](runs []*Run[R], bufferBytes int, lists [][]R) (*merger[R], error) {
	var m merger[R]
	for _, r := range runs {
		if err := r.Flush(); err != nil {
			return nil, err
		}
		m.heads = append(m.heads, &head[R]{run: r, buffer: make([]R, max(bufferBytes/int(unsafe.Sizeof(r.last)), 1))})
	}
	for _, l := range lists {
		m.heads = append(m.heads, &head[R]{records: l})
	}
	heads := m.heads[:0]
	for _, h := range m.heads {
		ok, err := h.advance()
		if err != nil {
			return nil, err
		}
		if ok {
			heads = append(heads, h)
		}
	}
	m.heads = heads
	for i := len(m.heads)/2 - 1; i >= 0; i-- {
		m.siftDown(i)
	}
	return &m, nil
}

// siftDown restores the heap order of head i and the heads below it.
func (m *merger[R]) siftDown(i int) {
	h := m.heads
	for {
		first := 2*i + 1
		if first >= len(h) {
			return
		}
		if second := first + 1; second < len(h) && less(&h[second].next, &h[first].next) {
			first = second
		}
		if !less(&h[first].next, &h[i].next) {
			return
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}

// each calls yield with every distinct record until yield returns false.
func (m *merger[R]) each(yield func(R) bool) error {
	var last R
	for started := false; len(m.heads) > 0; {
		next := m.heads[0].next
		if !started || next != last {
			if !yield(next) {
				return nil
			}
			started, last = true, next
		}
		ok, err := m.heads[0].advance()
		if err != nil {
			return err
		}
		if !ok {
			m.heads[0] = m.heads[len(m.heads)-1]
			m.heads = m.heads[:len(m.heads)-1]
		}
		m.siftDown(0)
	}
	return nil
}
