package passages

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"unsafe"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/token"
)

// asString returns bytes as a string, without copying them.
func asString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// The place of a mark is an atom above the least and the most distance of the windows that selected it.
const (
	distanceBits = 12
	distanceMax  = 1<<distanceBits - 1
)

func markPlace(atom uint64, least, most int) uint64 {
	return atom<<(2*distanceBits) | uint64(least)<<distanceBits | uint64(most)
}

// selected returns how many bytes a mark of windows of length bytes has.
func selected(length int) int { return max(2*length/5, length-distanceMax) }

func (r *Result) findStrings(ctx context.Context, cfg ingest.Config) (ingest.Report, error) {
	marks := newSorter[mark](&r.o, "marks", 1)
	defer marks.Close()
	list := marks.Writer()
	if cfg.Work != nil { // for the copies
		if err := cfg.Work.Begin(ctx, r.inputs, &cfg); err != nil {
			return ingest.Report{}, err
		}
	}
	report, err := ingest.Extract(ctx, r.inputs, cfg, ingest.Steps[prepared]{
		Worker: func() (func(int, *document.Document) (prepared, error), error) {
			m := newMarker(r.length())
			scanner, err := token.NewScanner(token.Options{})
			return func(_ int, doc *document.Document) (prepared, error) {
				p := prepare(doc, countChars(doc.Text))
				if p.text = doc.Text; r.o.Unit.Kind == Words {
					p.words(scanner, doc.Text)
				}
				p.atoms, p.strings = len(p.text), m.marks(p.text)
				return p, nil
			}, err
		},
		Emit: func(p prepared) (err error) {
			r.marks += len(p.strings)
			for _, m := range p.strings {
				m[1] += markPlace(r.spool.atoms, 0, 0)
				if err = list.Add(m); err != nil {
					return err
				}
			}
			return r.spool.add(&p)
		},
	})
	if err == nil {
		err = r.spool.end()
	}
	if err != nil {
		return report, err
	}
	list.Close()
	r.repeats, err = groups(ctx, &r.o, marks, 1, "repeated marks", func() func([]mark, func(repeat) error) error {
		return newStringGroup(&r.o, r.length(), r.spool).find
	})
	return report, err
}

// length returns how many bytes of the spool's text a window of strings has, or the atoms of units.
func (r *Result) length() int { return r.o.Unit.Length * r.o.Unit.width() }

var wordKey = token.NewKey([32]byte(unitKey))

// words sets the text to the hashes of the words of another, and the points to where they begin.
func (p *prepared) words(scanner *token.Scanner, text string) {
	var hashes []byte
	var at point
	scanner.Scan(text, func(tokens []token.Token) {
		for i := range tokens {
			t := &tokens[i]
			hashes = binary.LittleEndian.AppendUint64(hashes, wordKey.Hash(scanner, t))
			if start := uint64(t.Start); start > at[0] { // parts of one character begin in one place
				at[1] += uint64(countChars(text[at[0]:start]))
				at[0] = start
			}
			p.points = append(p.points, at)
		}
	})
	p.text = asString(hashes)
}

// byteHash has a number for each byte, of which rolling hashes are made.
var byteHash = func() (t [256]uint64) {
	for i := range t {
		t[i] = token.Mix(uint64(i))
	}
	return t
}()

// A roller keeps the hash of the last bytes: the sum of byteHash[b[i]] * [token.Base]^(n-1-i).
type roller struct {
	n   int
	top uint64 // token.Base^(n-1)
}

func newRoller(n int) roller { return roller{n, token.Power(n - 1)} }

// hash returns the hash of the first n bytes.
func (r *roller) hash(b string) (h uint64) {
	for i := range r.n {
		h = h*token.Base + byteHash[b[i]]
	}
	return h
}

// roll returns the hash one byte later.
func (r *roller) roll(h uint64, out, in byte) uint64 {
	return (h-byteHash[out]*r.top)*token.Base + byteHash[in]
}

// A marker finds the marks of texts. It belongs to one goroutine.
type marker struct {
	length int      // of a window
	roller roller   // of a mark
	window int      // marks of a window
	hashes []uint64 // the last, by place modulo a power of two
}

func newMarker(length int) *marker {
	n := selected(length)
	window := length - n + 1
	return &marker{length: length, roller: newRoller(n), window: window,
		hashes: make([]uint64, 1<<bits.Len(uint(window)))}
}

// marks returns the marks of a text, in order, with places in it.
func (m *marker) marks(text string) (all []mark) {
	if len(text) < m.length {
		return nil
	}
	n, window, mask := m.roller.n, m.window, len(m.hashes)-1
	hashes := m.hashes
	rolling := m.roller.hash(text)
	least, from := 0, 0 // the selected mark, and the first window that selected it
	hashes[0] = token.Fold(0, rolling)
	for i := 1; i <= len(text)-n; i++ {
		rolling = m.roller.roll(rolling, text[i-1], text[i+n-1])
		h := token.Fold(0, rolling)
		hashes[i&mask] = h
		p := i - window + 1 // the window that ends with this mark
		next := least
		if h <= hashes[least&mask] {
			next = i
		} else if least < p {
			next = p
			for j := p + 1; j <= i; j++ {
				if hashes[j&mask] <= hashes[next&mask] {
					next = j
				}
			}
		}
		if next != least {
			if p > from { // the windows from .. p-1 selected the last one
				all = append(all, mark{hashes[least&mask], markPlace(uint64(least), least-(p-1), least-from)})
				from = p
			}
			least = next
		}
	}
	last := len(text) - m.length
	return append(all, mark{hashes[least&mask], markPlace(uint64(least), least-last, least-from)})
}

// A class is marks of one group that have the same surroundings, byte by byte.
type class struct {
	hash        uint64 // of the surroundings
	at          uint64 // the first mark
	least, most int    // distances of the windows that selected them
	count       uint64
	doc         int  // the row of the first, if only what stands in several documents counts
	several     bool // they are in several documents

	rolling  uint64 // of the window at the distance at work
	leader   int32  // the first class with an equal window
	previous int32  // leader of the window before, or -1

	// Of the window at work, of a leader.
	places uint64 // at which it stands
	across bool   // in several documents

	runs int32 // the last run of the class, or -1
}

// A run is windows of a class that follow each other, at distances from most down to least, which have the
// same leader and the same number of places.
type run struct {
	most, least int
	leader      int32
	places      uint64
	before      int32 // the run before of the class, or -1
}

// A stringGroup finds the repeats of the marks of groups. It belongs to one goroutine.
type stringGroup struct {
	o       *Options
	spool   *spool
	length  int
	roller  roller
	seed    maphash.Seed
	classes []class
	of      []int32 // the class of each mark
	runs    []run
	slots   []slot // a table of classes by hash
	round   uint32 // of the table: older slots are empty
}

// A slot has a class, if it is of the round at work.
type slot struct {
	round uint32
	class int32
}

func newStringGroup(o *Options, length int, s *spool) *stringGroup {
	return &stringGroup{o: o, spool: s, length: length, roller: newRoller(length), seed: maphash.MakeSeed()}
}

// find emits the repeats of a group of marks, which ascend by their places.
func (g *stringGroup) find(group []mark, emit func(repeat) error) error {
	g.classify(group)
	g.runs = g.runs[:0]
	most, least := 0, distanceMax
	for i := range g.classes {
		c := &g.classes[i]
		c.runs, c.previous = -1, -1
		most, least = max(most, c.most), min(least, c.least)
	}
	if c := &g.classes[0]; len(g.classes) > 1 {
		for d := most; d >= least; d-- {
			g.compare(d)
		}
	} else if g.isRepeated(c.count, c.several) {
		c.runs = 0
		g.runs = append(g.runs, run{c.most, c.least, 0, c.count, -1})
	}
	for i, m := range group {
		at := m[1] >> (2 * distanceBits)
		for n := g.classes[g.of[i]].runs; n >= 0; n = g.runs[n].before {
			run := &g.runs[n]
			first := g.classes[run.leader].at
			d := uint64(run.most)
			if err := emit(newRepeat(at-d, first-d, run.most-run.least+1, run.places)); err != nil {
				return err
			}
		}
	}
	return nil
}

// table makes the table empty, with room for a number of classes.
func (g *stringGroup) table(n int) {
	if want := 1 << bits.Len(uint(2*n)); len(g.slots) < want {
		g.slots, g.round = make([]slot, want), 0
	}
	if g.round++; g.round == 0 {
		clear(g.slots)
		g.round = 1
	}
}

// look returns the class in the table of which equal says so among those with a hash, or puts c there.
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

func (g *stringGroup) classify(group []mark) {
	g.classes, g.of = g.classes[:0], g.of[:0]
	room := 8
	g.table(room)
	for _, m := range group {
		c := class{at: m[1] >> (2 * distanceBits), least: int(m[1] >> distanceBits & distanceMax),
			most: int(m[1] & distanceMax), count: 1}
		around := g.around(&c)
		c.hash = maphash.Bytes(g.seed, around) ^ uint64(c.least)
		if g.o.AcrossOnly {
			c.doc = g.spool.row(c.at)
		}
		new := int32(len(g.classes))
		i := g.look(c.hash, new, func(other int32) bool {
			o := &g.classes[other]
			return o.hash == c.hash && o.least == c.least && bytes.Equal(g.around(o), around)
		})
		if i == new {
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
			o.several = o.several || o.doc != c.doc
		}
		g.of = append(g.of, i)
	}
}

// around returns the bytes of all windows that selected a class's first mark.
func (g *stringGroup) around(c *class) []byte {
	return g.spool.texts.All[c.at-uint64(c.most) : c.at-uint64(c.least)+uint64(g.length)]
}

func (g *stringGroup) isRepeated(places uint64, across bool) bool {
	return places >= uint64(g.o.MinCount) && (across || !g.o.AcrossOnly)
}

// compare compares the windows at a distance before the marks, of all classes that have one, and makes
// them part of runs. It is called for each distance, descending.
func (g *stringGroup) compare(d int) {
	g.table(len(g.classes))
	text, length := g.spool.texts.All, uint64(g.length)
	for i := range g.classes {
		c := &g.classes[i]
		if d > c.most || d < c.least {
			continue
		}
		p := c.at - uint64(d)
		if d == c.most {
			c.rolling = g.roller.hash(asString(text[p : p+length]))
		} else {
			c.rolling = g.roller.roll(c.rolling, text[p-1], text[p+length-1])
		}
		leader := g.look(c.rolling, int32(i), func(other int32) bool {
			o := &g.classes[other]
			if o.rolling != c.rolling {
				return false
			}
			q := o.at - uint64(d)
			if c.previous == other && o.previous == other { // the windows before are equal, so the hashes tell the last byte
				return true
			}
			return bytes.Equal(text[p:p+length], text[q:q+length])
		})
		c.leader = leader
		if int(leader) == i {
			c.places, c.across = c.count, c.several
			continue
		}
		l := &g.classes[leader]
		l.places += c.count
		l.across = l.across || c.several || c.doc != l.doc
	}
	for i := range g.classes {
		c := &g.classes[i]
		if d > c.most || d < c.least {
			continue
		}
		c.previous = c.leader
		l := &g.classes[c.leader]
		if !g.isRepeated(l.places, l.across) {
			continue
		}
		if c.runs >= 0 {
			if last := &g.runs[c.runs]; last.least == d+1 && last.leader == c.leader && last.places == l.places {
				last.least = d
				continue
			}
		}
		g.runs = append(g.runs, run{d, d, c.leader, l.places, c.runs})
		c.runs = int32(len(g.runs) - 1)
	}
}
