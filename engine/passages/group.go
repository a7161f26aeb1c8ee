package passages

import (
	"bytes"
	"context"
	"hash/maphash"
	"math/bits"

	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/storage/spill"
)

// A class is a set of marks of one group whose surroundings are equal, byte by byte.
type class struct {
	hash    uint64 // hash of the surroundings
	atom    uint64 // atom of the first mark
	count   uint64
	doc     int    // row of the first mark, if only text that occurs in several documents counts
	rolling uint64 // rolling hash of the window at the current distance
	places  uint64 // number of occurrences of that window, if the class is its leader

	leader   int32 // first class with an equal window
	previous int32 // leader of the previous window, or -1
	runs     int32 // index of the last run of the class, or -1

	minDistance, maxDistance uint16 // smallest and largest distance of the windows that selected the marks
	isShared                 bool   // the marks are in several documents
	isWindowShared           bool   // the current window is in several documents, if the class is its leader
}

// A run is a range of consecutive windows of a class, at the distances from maxDistance down to minDistance. They have
// the same leader and the same number of occurrences.
type run struct {
	places                   uint64
	leader                   int32
	previous                 int32 // previous run of the class, or -1
	maxDistance, minDistance uint16
}

// classBytes is the memory of a class, including its share of the table and of the runs while these grow.
const classBytes = 256

// A stringGroup finds the repeats of the marks of groups. It belongs to one goroutine.
type stringGroup struct {
	*Result
	ctx         context.Context
	length      int
	roller      roller
	seed        maphash.Seed
	classes     []class
	classesMax  int
	markClasses []uint32 // class of each mark
	runs        []run
	slots       []slot // hash table of classes
	round       uint32 // current round; slots of earlier rounds are empty
}

// A slot holds a class if its round is the current one.
type slot struct {
	round uint32
	class int32
}

func newStringGroup(ctx context.Context, r *Result) *stringGroup {
	return &stringGroup{Result: r, ctx: ctx, length: r.length(), roller: newRoller(r.length()), seed: maphash.MakeSeed(),
		classesMax: max(int(r.o.MemoryBytes)/max(r.o.Threads, 1)/classBytes, classesMin)}
}

// classesMin is the lower limit of classesMax, the number of classes of a group to hold in memory.
const classesMin = 16

// find emits the repeats of a group of marks. The marks are in the order of their places.
func (g *stringGroup) find(group []mark, emit func(repeat) error) error {
	// Find the class of each mark.
	column := spill.NewColumn[uint32](g.o.Disk, "", "classes", 1<<20)
	defer column.Close()
	column.All = g.markClasses[:0]
	ok := g.classify(group, &column)
	if err := column.End(); err != nil {
		return err
	}
	if !column.IsSpilled() {
		g.markClasses = column.All
	}
	if !ok {
		return g.findWindows(group, emit)
	}
	// Find the range of the distances of all classes.
	g.runs = g.runs[:0]
	longest, shortest := uint16(0), uint16(distanceMax)
	for i := range g.classes {
		c := &g.classes[i]
		c.runs, c.previous = -1, -1
		longest, shortest = max(longest, c.maxDistance), min(shortest, c.minDistance)
	}
	// Compare the windows of the classes at each distance. A single class needs no comparison.
	if c := &g.classes[0]; len(g.classes) > 1 {
		for d := int(longest); d >= int(shortest); d-- {
			g.compare(uint16(d))
		}
	} else if g.isRepeated(c.count, c.isShared) {
		c.runs = 0
		g.runs = append(g.runs, run{c.count, 0, -1, c.maxDistance, c.minDistance})
	}
	// Each mark repeats the runs of its class.
	for i, m := range group {
		start := m[1] >> (2 * distanceBits)
		for n := g.classes[column.All[i]].runs; n >= 0; n = g.runs[n].previous {
			run := &g.runs[n]
			first := g.classes[run.leader].atom
			d := uint64(run.maxDistance)
			if err := emit(newRepeat(start-d, first-d, int(run.maxDistance-run.minDistance)+1, run.places)); err != nil {
				return err
			}
		}
	}
	return nil
}

// table empties the hash table and makes space for n classes.
func (g *stringGroup) table(n int) {
	if want := 1 << bits.Len(uint(2*n)); len(g.slots) < want {
		g.slots, g.round = make([]slot, want), 0
	}
	if g.round++; g.round == 0 {
		clear(g.slots)
		g.round = 1
	}
}

// look searches the table from the slot of a hash on, and returns the first class that equal accepts. If there is
// none, it stores c and returns it.
func (g *stringGroup) look(hash uint64, c int32, equal func(other int32) bool) int32 {
	mask := uint64(len(g.slots) - 1)
	for i := (hash * token.Base) >> 32; ; i++ {
		s := &g.slots[i&mask]
		if s.round != g.round {
			*s = slot{g.round, c}
			return c
		}
		if equal(s.class) {
			return s.class
		}
	}
}

// classify finds the classes of a group and appends the class of each mark to a column. It returns false if
// there are too many classes.
func (g *stringGroup) classify(group []mark, column *spill.Column[uint32]) bool {
	g.classes = g.classes[:0]
	room := 8
	g.table(room)
	for _, m := range group {
		// Search the class with the same surroundings.
		c := classOf(m)
		around := g.around(&c)
		c.hash = maphash.Bytes(g.seed, around) ^ uint64(c.minDistance)
		if g.o.AcrossOnly {
			c.doc = g.spool.row(c.atom)
		}
		new := int32(len(g.classes))
		i := g.look(c.hash, new, func(other int32) bool {
			o := &g.classes[other]
			return o.hash == c.hash && o.minDistance == c.minDistance && bytes.Equal(g.around(o), around)
		})
		// Add a new class, or count the mark in the class that exists.
		if i == new {
			if len(g.classes) == g.classesMax {
				return false
			}
			if g.classes = append(g.classes, c); len(g.classes) == room {
				room *= 2
				g.table(room)
				for i := range g.classes {
					g.look(g.classes[i].hash, int32(i), func(int32) bool { return false })
				}
			}
		} else {
			o := &g.classes[i]
			o.count++
			o.isShared = o.doc != c.doc // marks ascend by their documents
		}
		column.Append(uint32(i)) // the column keeps its error
	}
	return true
}

// classOf returns a class with a single mark.
func classOf(m mark) class {
	return class{atom: m[1] >> (2 * distanceBits), minDistance: uint16(m[1] >> distanceBits & distanceMax),
		maxDistance: uint16(m[1] & distanceMax), count: 1}
}

// around returns the bytes of all windows that selected the first mark of a class.
func (g *stringGroup) around(c *class) []byte {
	return g.spool.texts.All[c.atom-uint64(c.maxDistance) : c.atom-uint64(c.minDistance)+uint64(g.length)]
}

func (g *stringGroup) isRepeated(places uint64, isShared bool) bool {
	return places >= uint64(g.o.MinCount) && (isShared || !g.o.AcrossOnly)
}

// compare compares the windows at distance d before the marks. It adds the repeated ones to the runs of their
// classes. Classes without a window at this distance are skipped. It is called for each distance in descending
// order.
func (g *stringGroup) compare(d uint16) {
	g.table(len(g.classes))
	text, length := g.spool.texts.All, uint64(g.length)
	// Group the windows at this distance. The first class of a group is its leader.
	for i := range g.classes {
		c := &g.classes[i]
		if d > c.maxDistance || d < c.minDistance {
			continue
		}
		p := c.atom - uint64(d)
		if d == c.maxDistance {
			c.rolling = g.roller.hash(asString(text[p : p+length]))
		} else {
			c.rolling = g.roller.roll(c.rolling, text[p-1], text[p+length-1])
		}
		leader := g.look(c.rolling, int32(i), func(other int32) bool {
			o := &g.classes[other]
			if o.rolling != c.rolling {
				return false
			}
			q := o.atom - uint64(d)
			if c.previous == other && o.previous == other { // the previous windows are equal, so the hashes tell the last byte
				return true
			}
			return bytes.Equal(text[p:p+length], text[q:q+length])
		})
		c.leader = leader
		if int(leader) == i {
			c.places, c.isWindowShared = c.count, c.isShared
			continue
		}
		l := &g.classes[leader]
		l.places += c.count
		l.isWindowShared = l.isWindowShared || c.isShared || c.doc != l.doc
	}
	for i := range g.classes {
		c := &g.classes[i]
		if d > c.maxDistance || d < c.minDistance {
			continue
		}
		// Extend the last run of a class with a repeated window, or begin a run.
		c.previous = c.leader
		l := &g.classes[c.leader]
		if !g.isRepeated(l.places, l.isWindowShared) {
			continue
		}
		if c.runs >= 0 {
			if last := &g.runs[c.runs]; last.minDistance == d+1 && last.leader == c.leader && last.places == l.places {
				last.minDistance = d
				continue
			}
		}
		g.runs = append(g.runs, run{l.places, c.leader, c.runs, d, d})
		c.runs = int32(len(g.runs) - 1)
	}
}

// findWindows replaces find for a group with too many classes for the memory. It sorts the windows of all
// marks by a 128-bit hash, like units.
func (g *stringGroup) findWindows(group []mark, emit func(repeat) error) (err error) {
	// The sorter has the memory of one thread.
	r := *g.Result
	r.o.MemoryBytes, r.o.Threads = r.o.MemoryBytes/int64(max(r.o.Threads, 1)), 1
	windows := newSorter[[3]uint64](&r.o, "windows", 1)
	defer windows.Close()
	list := windows.Writer()
	// Sort the windows of all marks by their hashes.
	for _, m := range group {
		c := classOf(m)
		for atom := c.atom - uint64(c.maxDistance); atom <= c.atom-uint64(c.minDistance); atom++ {
			h := hash128(asString(g.spool.texts.All[atom : atom+uint64(g.length)]))
			if err := list.Add([3]uint64{h[0], h[1], atom}); err != nil {
				return err
			}
		}
	}
	list.Close()
	// Find the windows that occur several times.
	repeats, err := groups(g.ctx, &r.o, windows, 2, "repeated windows",
		func(context.Context) func([][3]uint64, func(repeat) error) error { return r.unitGroup })
	if err != nil {
		return err
	}
	defer repeats.Close()
	all, err := repeats.Map()
	for i := 0; i < len(all) && err == nil; i++ {
		err = emit(all[i])
	}
	return err
}
