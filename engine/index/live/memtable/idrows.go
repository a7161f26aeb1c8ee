package memtable

// idRows find the row of an ID in a memtable: a hash table with open addressing, which the writer
// alone uses, half full at most.
//
//	slot   high half of the hash | row + 1      0 is empty
type idRows struct {
	slots []uint64 // a power of two of them
	n     int
}

// row returns the row of the ID with that hash; is reports whether a row has that ID.
func (t *idRows) row(hash uint64, is func(row int) bool) (row int, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	at := t.find(hash, is)
	return int(uint32(t.slots[at])) - 1, t.slots[at] != 0
}

// find returns the slot of an ID, or the empty one where it would be.
func (t *idRows) find(hash uint64, is func(row int) bool) uint64 {
	mask := uint64(len(t.slots) - 1)
	for at := hash >> 32 & mask; ; at = (at + 1) & mask {
		s := t.slots[at]
		if s == 0 || s>>32 == hash>>32 && is(int(uint32(s))-1) {
			return at
		}
	}
}

// put gives an ID a row, in place of the one that it has.
func (t *idRows) put(hash uint64, row int, is func(row int) bool) {
	if 2*(t.n+1) > len(t.slots) {
		t.grow()
	}
	at := t.find(hash, is)
	if t.slots[at] == 0 {
		t.n++
	}
	t.slots[at] = hash>>32<<32 | uint64(row+1)
}

func (t *idRows) grow() {
	old := t.slots
	t.slots = make([]uint64, max(64, 2*len(old)))
	none := func(int) bool { return false } // all are different
	for _, s := range old {
		if s != 0 {
			t.slots[t.find(s, none)] = s
		}
	}
}

// bytes returns how much memory it takes.
func (t *idRows) bytes() uint64 { return 8 * uint64(len(t.slots)) }
