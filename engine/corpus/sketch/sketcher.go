package sketch

import (
	"math/bits"
	"slices"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/token"
)

// A Sketcher makes sketches of texts from their tokens. It reuses its memory: 6 KiB and a batch of units. It belongs
// to one goroutine.
type Sketcher struct {
	key   token.Key
	ascii [utf8.RuneSelf]uint64 // hashes of the ASCII characters

	bins   bins
	first  [setMax + 1]uint64 // the first distinct shingles
	firsts int

	// The current run: a sequence of units of one kind.
	kind  token.Kind
	units []uint64 // last units: all units before the first shingle, then at least the units of the last shingle
	last  uint64   // last shingle before it is mixed, if full
	full  bool     // the run has a shingle

	wordsSince int    // words since the last character, at most Near
	text       []byte // bytes of a word that is replaced by its characters
}

// New returns a Sketcher for hashes by a key.
func New(key token.Key) *Sketcher {
	s := &Sketcher{key: key}
	for c := range s.ascii {
		s.ascii[c] = key.Sum([]byte{byte(c)})
	}
	return s
}

// Begin begins a text.
func (s *Sketcher) Begin() {
	clear(s.bins[:])
	s.firsts, s.units, s.full, s.wordsSince = 0, s.units[:0], false, Near
}

// Take takes the next tokens of the text with their hashes. It must be called during the call of the scanner's yield.
func (s *Sketcher) Take(scanner *token.Scanner, tokens []token.Token, hashes []uint64) {
	for start, end := 0, 0; start < len(tokens); start = end {
		t := &tokens[start]
		for end++; end < len(tokens) && tokens[end].Kind == t.Kind && tokens[end].Stop == t.Stop; end++ {
		}
		switch {
		case t.Stop:
			continue
		case t.Kind == token.Char:
			s.wordsSince = 0
		default:
			start += s.spell(scanner, tokens[start:end])
		}
		if start < end {
			s.enter(t.Kind)
			s.units = append(s.units, hashes[start:end]...)
		}
	}
	s.shingles()
}

// spell takes the characters of the first words as units while a character is near. It returns the number of these
// words.
func (s *Sketcher) spell(scanner *token.Scanner, words []token.Token) (n int) {
	for ; s.wordsSince < Near && n < len(words); n++ {
		s.wordsSince++
		s.enter(token.Char)
		s.text = scanner.AppendText(s.text[:0], &words[n])
		for i := 0; i < len(s.text); {
			if c := s.text[i]; c < utf8.RuneSelf {
				s.units = append(s.units, s.ascii[c])
				i++
				continue
			}
			_, size := utf8.DecodeRune(s.text[i:])
			s.units = append(s.units, s.key.Sum(s.text[i:i+size]))
			i += size
		}
	}
	return n
}

// enter begins a run of a kind unless the current run has this kind.
func (s *Sketcher) enter(kind token.Kind) {
	if s.kind != kind {
		s.shingles()
		s.endRun()
		s.kind = kind
	}
}

// endRun ends the current run. A run that is too short for a shingle is one shingle.
func (s *Sketcher) endRun() {
	if len(s.units) > 0 && !s.full {
		s.add(Shingle(s.units))
	}
	s.units, s.full = s.units[:0], false
}

// shingles adds the shingles that end with the units since the last call, and keeps only the units of the last
// shingle.
func (s *Sketcher) shingles() {
	width := Width(s.kind)
	if len(s.units) < width {
		return
	}
	if !s.full {
		s.full, s.last = true, joinUnits(s.units[:width])
		s.add(mixed(s.last))
	}
	join, oldest := s.last, s.units[:len(s.units)-width]
	for i, unit := range s.units[width:] {
		join = bits.RotateLeft64(join, turn) ^ unit ^ bits.RotateLeft64(oldest[i], turn*width)
		shingle := mixed(join) // same as add, which is not inlined
		s.bins.add(shingle)
		if s.firsts <= setMax {
			s.remember(shingle)
		}
	}
	s.last = join
	s.units = s.units[:copy(s.units, s.units[len(oldest):])]
}

// turn is the number of bits by which the earlier units are rotated for each unit. It is odd, and small enough that
// five units have different rotations.
const turn = 11

// Shingle returns the hash of the shingle of some units.
func Shingle(units []uint64) uint64 { return mixed(joinUnits(units)) }

// joinUnits returns the shingle of some units before it is mixed.
func joinUnits(units []uint64) (join uint64) {
	for _, unit := range units {
		join = bits.RotateLeft64(join, turn) ^ unit
	}
	return join
}

// mixed returns the final hash of a joined shingle.
func mixed(join uint64) (shingle uint64) { return token.Fold(join, 0) }

// add adds a shingle.
func (s *Sketcher) add(shingle uint64) {
	s.bins.add(shingle)
	if s.firsts <= setMax {
		s.remember(shingle)
	}
}

// remember keeps the first distinct shingles in s.first.
func (s *Sketcher) remember(shingle uint64) {
	if !slices.Contains(s.first[:s.firsts], shingle) {
		s.first[s.firsts] = shingle
		s.firsts++
	}
}

// Sketch ends the text and returns its sketch.
func (s *Sketcher) Sketch() Sketch {
	s.endRun()
	if s.firsts <= setMax {
		set := s.first[:s.firsts]
		slices.Sort(set)
		return ofSet(set)
	}
	return s.bins.minHash()
}
