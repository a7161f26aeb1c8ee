package scan

import (
	"ndd/asm"
	"ndd/engine/memory"
	"ndd/engine/parallel"
)

// A match is a distinct query and a row of F within distance k of each other.
type match struct {
	Query       uint32 // number of the distinct query, in their order
	Distance    uint32
	Fingerprint uint64
	Row         uint64 // of F
}

const (
	// partPrints fingerprints pass by one table after the other, so that they are
	// read from memory once: 14 MiB of the outer cache. Unless they are skewed, no
	// partition is full before all are scattered, so that each part of a table is read once.
	partPrints = 7 << (scatterBits - 3)
	// permutedKeys are permuted at a time, where there are no partitions.
	permutedKeys = 2048
	// pairsMax is how many pairs are verified together.
	pairsMax = 512
	// filteredWords are filtered at a time.
	filteredWords = 4096
	// matchesMax is how many matches are handed on at a time.
	matchesMax = 4096
)

// A mapper finds the matches of chunks of F. It belongs to one goroutine.
type mapper struct {
	tables *tables
	emit   func([]match) error

	keys       []uint64
	pairs      []asm.JoinPair
	longLanes  []uint32
	partitions []*keyPartitions // of each table; all in the same memory, which is empty between them
	words      *memory.Buffer[uint64]
	matches    []match

	// of a prefilter
	halves     *halfPartitions
	halfWords  *memory.Buffer[uint64]
	passed     []uint64 // words that the map of a half lets pass
	candidates keyRange // of a half, to be joined
	half       int      // of the candidates

	// of pairs that are verified
	rows  []uint32 // of the part
	lanes []uint32
	diffs []uint64
}

// A keyRange is fingerprints that are joined with the tables of a group.
type keyRange struct {
	keys   []uint64 // what is joined: the fingerprints, or what words have of those that are candidates
	rows   []uint32 // which of prints the keys stand for; nil: one after the other
	prints []uint64
	first  uint64 // row of F of the first of prints
}

// newMapper returns a mapper, which hands matches, in no order, to emit; they are
// good until that returns. Close it when done.
func (t *tables) newMapper(emit func([]match) error) (*mapper, error) {
	m := &mapper{
		tables:     t,
		emit:       emit,
		keys:       make([]uint64, permutedKeys),
		pairs:      make([]asm.JoinPair, pairsMax),
		longLanes:  make([]uint32, pairsMax),
		partitions: make([]*keyPartitions, len(t.tables)),
		matches:    make([]match, 0, matchesMax),
		rows:       make([]uint32, pairsMax),
		lanes:      make([]uint32, pairsMax),
		diffs:      make([]uint64, pairsMax),
	}
	if err := m.makePartitions(); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// makePartitions makes partitions for the tables that have them, and for the halves.
func (m *mapper) makePartitions() (err error) {
	t, most := m.tables, 0
	for i := range t.tables {
		most = max(most, t.tables[i].layout.partitionWords())
	}
	if m.words, err = memory.Make[uint64](most); err != nil {
		return err
	}
	for i := range t.tables {
		q := &t.tables[i]
		if n := q.layout.partitionWords(); n > 0 {
			m.partitions[i] = newKeyPartitions(m.words.Data[:n], q.perm.Mask(), q.layout.partitionBits, q.layout.keptBits())
		}
	}
	if t.prefilter == nil {
		return nil
	}
	l := t.strategy.halves()
	if m.halfWords, err = memory.Make[uint64](l.words()); err != nil {
		return err
	}
	m.halves = newHalfPartitions(m.halfWords.Data, l)
	m.passed = make([]uint64, filteredWords)
	m.candidates = keyRange{keys: make([]uint64, 0, 1<<candidateBits), rows: make([]uint32, 0, 1<<candidateBits)}
	return nil
}

// Close frees the mapper's memory.
func (m *mapper) Close() {
	m.words.Free()
	m.halfWords.Free()
}

// Map finds every match of a chunk of F whose first row is first. It ends with the
// first error of emit.
func (m *mapper) Map(chunk []uint64, first uint64) error {
	if m.tables.queries == 0 {
		return nil
	}
	defer parallel.EndStage()
	for len(chunk) > 0 {
		n := min(len(chunk), m.tables.strategy.part)
		r := keyRange{keys: chunk[:n], prints: chunk[:n], first: first}
		var err error
		if m.halves != nil {
			err = m.joinFiltered(&r)
		} else {
			err = m.joinGroup(0, &r)
		}
		if err != nil {
			return err
		}
		chunk = chunk[n:]
		first += uint64(n)
	}
	return m.flush()
}

// joinFiltered scatters a part by halves and joins what the maps let pass.
func (m *mapper) joinFiltered(part *keyRange) error {
	m.candidates.prints, m.candidates.first = part.prints, part.first
	for at := 0; at < len(part.keys); {
		parallel.StagePermute.Begin()
		done, full := asm.ScatterHalves(&m.halves.HalfPartitions, part.keys[at:], uint64(at))
		at += done
		if full >= 0 {
			if err := m.filter(full); err != nil {
				return err
			}
		}
	}
	for i := range 2 * m.halves.count() {
		if err := m.filter(i); err != nil {
			return err
		}
	}
	return m.joinCandidates()
}

// filter empties partition i of both halves', adds to the candidates what the map of its half lets pass, and joins
// those when they are many.
func (m *mapper) filter(i int) error {
	parallel.StageScan.Begin()
	half, words := i/m.halves.count(), m.halves.take(i)
	for len(words) > 0 {
		if half != m.half || len(m.candidates.keys)+filteredWords > cap(m.candidates.keys) {
			if err := m.joinCandidates(); err != nil {
				return err
			}
			m.half = half
		}
		part := words[:min(len(words), filteredWords)]
		words = words[len(part):]
		passed := m.passed[:asm.Filter(m.passed, part, m.tables.prefilter[half])]
		c, n := &m.candidates, len(m.candidates.keys)
		c.keys, c.rows = c.keys[:n+len(passed)], c.rows[:n+len(passed)]
		keys, rows := c.keys[n:], c.rows[n:]
		for i, w := range passed {
			keys[i], rows[i] = w<<halfRowBits, uint32(w>>(64-halfRowBits))
		}
	}
	return nil
}

// joinCandidates joins the candidates with the tables of their half.
func (m *mapper) joinCandidates() error {
	err := m.joinGroup(m.half, &m.candidates)
	m.candidates.keys, m.candidates.rows = m.candidates.keys[:0], m.candidates.rows[:0]
	return err
}

// flush hands on the matches that have come together.
func (m *mapper) flush() error {
	if len(m.matches) == 0 {
		return nil
	}
	matches := m.matches
	m.matches = m.matches[:0]
	return m.emit(matches)
}
