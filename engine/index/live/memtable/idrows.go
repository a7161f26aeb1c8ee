package memtable

// idRows finds the row of an ID: a hash table with open addressing, at most half full. Only the writer uses it.
//
//	slot   high half of the hash | row + 1      0 is empty
type idRows struct {
	slots []uint64 // their number is a power of two
	n     int
}

// row returns the row of an ID with that hash. equal reports whether a row has the ID.
func (t *idRows) row(hash uint64, equal func(row int) bool) (row int, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	slot := t.find(hash, equal)
	return int(uint32(t.slots[slot])) - 1, t.slots[slot] != 0
}

// find returns the slot of an ID, or the empty slot where it would be stored.
func (t *idRows) find(hash uint64, equal func(row int) bool) uint64 {
	mask := uint64(len(t.slots) - 1)
	for slot := hash >> 32 & mask; ; slot = (slot + 1) & mask {
		s := t.slots[slot]
		if s == 0 || s>>32 == hash>>32 && equal(int(uint32(s))-1) {
			return slot
		}
	}
}

// put sets the row of an ID.
func (t *idRows) put(hash uint64, row int, equal func(row int) bool) {
	if 2*(t.n+1) > len(t.slots) {
		t.grow()
	}
	i := t.find(hash, equal)
	if t.slots[i] == 0 {
		t.n++
	}
	t.slots[i] = hash>>32<<32 | uint64(row+1)
}

func (t *idRows) grow() {
	slots := t.slots
	t.slots = make([]uint64, max(64, 2*len(slots)))
	unequal := func(int) bool { return false } // all are different
	for _, s := range slots {
		if s != 0 {
			t.slots[t.find(s, unequal)] = s
		}
	}
}

// bytes returns the memory of the table.
func (t *idRows) bytes() uint64 { return 8 * uint64(len(t.slots)) }
