package simhash

// counter counts the features of one document. It is an open-addressing table over the feature hashes,
// which are already random, so their top bits choose the slot.
//
// The table starts each document small, so that a short one stays in the L1 cache whatever came before it,
// and doubles when half full. Nothing is cleared between documents: a slot counts only if it carries the
// current generation.
type counter struct {
	slots      []counterSlot
	shift      uint // 64 - log2 of the slots in use
	generation uint32
	hashes     []uint64 // distinct features in order of first appearance
	times      []uint32 // how often each occurred, saturating
	last       uint32   // index of the feature that was added last
}

type counterSlot struct {
	hash       uint64
	generation uint32
	index      uint32 // into hashes and times
}

const (
	counterBitsMin  = 9       // 512 slots, 8 KiB
	counterSlotsMax = 1 << 20 // a table that a huge document made larger is given back after it: 16 MiB
)

// reset forgets the last document.
func (c *counter) reset() {
	if len(c.slots) > counterSlotsMax {
		*c = counter{}
	}
	if c.slots == nil {
		c.slots = make([]counterSlot, 1<<counterBitsMin)
	}
	c.shift = 64 - counterBitsMin
	c.hashes, c.times = c.hashes[:0], c.times[:0]
	c.nextGeneration()
}

// add counts one occurrence of a feature.
func (c *counter) add(hash uint64) {
	mask := uint64(1)<<(64-c.shift) - 1
	for i := hash >> c.shift; ; i = (i + 1) & mask {
		s := &c.slots[i]
		if s.generation != c.generation {
			c.last = uint32(len(c.hashes))
			*s = counterSlot{hash, c.generation, c.last}
			c.hashes = append(c.hashes, hash)
			c.times = append(c.times, 1)
			if uint64(len(c.hashes))*2 > mask {
				c.grow()
			}
			return
		}
		if s.hash == hash {
			c.last = s.index
			c.again(s.index)
			return
		}
	}
}

// again counts one more occurrence of the feature with that index.
func (c *counter) again(index uint32) {
	if t := &c.times[index]; *t != ^uint32(0) {
		*t++
	}
}

// grow doubles the slots in use and puts the features seen so far in their new places.
func (c *counter) grow() {
	c.shift--
	size := 1 << (64 - c.shift)
	if len(c.slots) < size {
		c.slots = make([]counterSlot, size)
	}
	c.nextGeneration()
	mask := uint64(size) - 1
	for index, hash := range c.hashes {
		i := hash >> c.shift
		for c.slots[i].generation == c.generation {
			i = (i + 1) & mask
		}
		c.slots[i] = counterSlot{hash, c.generation, uint32(index)}
	}
}

// nextGeneration makes every slot free. After 2^32 generations the stamps would repeat, so they are cleared.
func (c *counter) nextGeneration() {
	c.generation++
	if c.generation == 0 {
		clear(c.slots)
		c.generation = 1
	}
}
