package scan

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/engine/memory"
)

// A match is a distinct query and a row of F within distance k of each other.
type match struct {
	Query       uint32 // number of the distinct query
	Distance    uint32
	Fingerprint uint64
	Row         uint64 // row of F
}

const (
	// partPrints is the number of fingerprints that are joined with one table after another. They are read from memory
	// once, and fill 14 MiB of the outer cache.
	partPrints = 7 << 18
	// permutedKeys is the number of keys that are permuted at a time.
	permutedKeys = 2048
	// pairsMax is the maximum number of pairs that are verified together.
	pairsMax = 512
	// filteredWords is the number of words that are filtered at a time.
	filteredWords = 4096
	// matchesMax is the number of matches that emit gets at a time.
	matchesMax = 4096
)

// A mapper finds the matches of chunks of F. It belongs to one goroutine.
type mapper struct {
	tables *tables
	emit   func([]match) error

	keys      []uint64
	pairs     []asm.JoinPair
	longLanes []uint32
	matches   []match

	// With a prefilter:
	halves     *asm.HalfPartitions
	halfWords  *memory.Buffer[uint64]
	passed     []uint64 // words that passed the map of a half
	candidates keyRange // candidates of a half that are not joined yet
	half       int      // half of the candidates

	// Pairs that are verified:
	rows  []uint32 // rows of the part
	lanes []uint32
	diffs []uint64
}

// A keyRange is a list of fingerprints that are joined with the tables of a group.
type keyRange struct {
	keys         []uint64 // keys to join: the fingerprints, or the leading bits of a half of the candidates
	rows         []uint32 // index in fingerprints of each key; nil: keys and fingerprints have the same order
	fingerprints []uint64 // fingerprints of the part
	first        uint64   // row of F of prints[0]
}

// newMapper returns a mapper that passes matches to emit, in no order. They are valid until emit returns. The caller
// closes the mapper.
func (t *tables) newMapper(emit func([]match) error) (*mapper, error) {
	m := &mapper{
		tables:    t,
		emit:      emit,
		keys:      make([]uint64, permutedKeys),
		pairs:     make([]asm.JoinPair, pairsMax),
		longLanes: make([]uint32, pairsMax),
		matches:   make([]match, 0, matchesMax),
		rows:      make([]uint32, pairsMax),
		lanes:     make([]uint32, pairsMax),
		diffs:     make([]uint64, pairsMax),
	}
	if t.prefilter == nil {
		return m, nil
	}
	m.halves = t.strategy.halves()
	words, err := memory.Make[uint64](m.halves.Size())
	if err != nil {
		return nil, err
	}
	m.halfWords, m.halves.Words = words, words.Data
	m.passed = make([]uint64, filteredWords)
	m.candidates = keyRange{keys: make([]uint64, 0, 1<<candidateBits), rows: make([]uint32, 0, 1<<candidateBits)}
	return m, nil
}

// Close frees the mapper's memory.
func (m *mapper) Close() { m.halfWords.Free() }

// Map finds every match of a chunk of F. It maps the chunk in parts, so that it notices a cancelled context within
// milliseconds, and calls progress with the size of each part. An error of emit ends it.
func (m *mapper) Map(ctx context.Context, c Chunk, progress func(int)) error {
	for part := range slices.Chunk(c.Fingerprints, m.tables.strategy.part) {
		r := keyRange{keys: part, fingerprints: part, first: c.First}
		var err error
		switch {
		case m.tables.queries == 0:
		case m.halves != nil:
			err = m.joinFiltered(&r)
		default:
			err = m.joinGroup(0, &r)
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		c.First += uint64(len(part))
		progress(len(part))
	}
	return m.flush()
}

// joinFiltered scatters a part by halves and joins the fingerprints that pass the maps.
func (m *mapper) joinFiltered(part *keyRange) error {
	m.candidates.fingerprints, m.candidates.first = part.fingerprints, part.first
	for start := 0; start < len(part.keys); {
		done, full := asm.ScatterHalves(m.halves, part.keys[start:], uint64(start))
		start += done
		if full >= 0 {
			if err := m.filter(full); err != nil {
				return err
			}
		}
	}
	for i := range m.halves.Next {
		if err := m.filter(i); err != nil {
			return err
		}
	}
	return m.joinCandidates()
}

// filter empties partition i, and adds the words that pass the map of its half to the candidates. It joins candidates
// when there are many. Partitions of the upper half have the lower numbers.
func (m *mapper) filter(i int) error {
	half, words := i>>m.halves.Bits, m.halves.Take(i)
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

// flush passes the collected matches to emit.
func (m *mapper) flush() error {
	if len(m.matches) == 0 {
		return nil
	}
	matches := m.matches
	m.matches = m.matches[:0]
	return m.emit(matches)
}

func (m *mapper) joinGroup(group int, r *keyRange) error {
	for i := range m.tables.tables {
		if m.tables.tables[i].group != group {
			continue
		}
		for start := 0; start < len(r.keys); start += permutedKeys {
			if err := m.join(i, start, r.keys[start:min(start+permutedKeys, len(r.keys))], r); err != nil {
				return err
			}
		}
	}
	return nil
}

// join joins keys of a range with a table. first is the index of the first key in the range.
func (m *mapper) join(table, first int, keys []uint64, r *keyRange) error {
	q := &m.tables.tables[table]
	words := m.keys[:len(keys)]
	asm.Permute(words, keys, q.perm.Mask())
	if drop := q.layout.dropBits; drop > 0 {
		for i := range words {
			words[i] >>= drop
		}
	}
	for done := 0; done < len(words); {
		n, ready := asm.Join(m.pairs, words[done:], &q.buckets, m.tables.k)
		for i, p := range m.pairs[:n] {
			m.rows[i], m.lanes[i] = uint32(first+done)+p.Word, p.Lane
		}
		if err := m.verify(table, n, r); err != nil {
			return err
		}
		if done += ready; done == len(words) {
			break
		}
		from, to, long := q.buckets.Bucket(words[done])
		if !long {
			continue // the list of pairs was full
		}
		if err := m.joinLong(table, from, to, uint32(words[done]), uint32(first+done), r); err != nil {
			return err
		}
		done++
	}
	return nil
}

// joinLong compares one fingerprint with the lanes [from, to) of a long bucket.
func (m *mapper) joinLong(table int, from, to, low, row uint32, r *keyRange) error {
	lows := m.tables.tables[table].buckets.Lows
	for from < to {
		n, scanned := asm.Within32(m.longLanes, lows[from:to], low, m.tables.k)
		for i, index := range m.longLanes[:n] {
			m.rows[i], m.lanes[i] = row, from+index
		}
		if err := m.verify(table, n, r); err != nil {
			return err
		}
		from += uint32(scanned)
	}
	return nil
}

// verify makes a match of each of n pairs of a lane and a row of the part, if the pair is within distance k and no
// earlier table finds it. It has one loop for each level of memory, without branches, so that cache misses overlap.
func (m *mapper) verify(table, n int, r *keyRange) error {
	t := m.tables
	q := &t.tables[table]
	rows, lanes, diffs := m.rows[:n], m.lanes[:n], m.diffs[:n]
	for i, lane := range lanes {
		lanes[i] = q.ids[lane]
		if r.rows != nil {
			rows[i] = r.rows[rows[i]]
		}
		diffs[i] = r.fingerprints[rows[i]]
	}
	for i, id := range lanes {
		// Padding lanes have no query: any query serves here, and the next loop skips them.
		diffs[i] ^= t.distinct[min(id, uint32(len(t.distinct)-1))]
	}
	for i, diff := range diffs {
		distance := bits.OnesCount64(diff)
		if distance > t.k || lanes[i] == noQuery || t.first(diff) != table {
			continue
		}
		m.matches = append(m.matches, match{lanes[i], uint32(distance), r.fingerprints[rows[i]], r.first + uint64(rows[i])})
		if len(m.matches) == matchesMax {
			if err := m.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}
