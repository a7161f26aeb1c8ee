package passages

import (
	"context"
	"iter"
	"math/bits"
	"slices"
	"unsafe"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/token"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/passages/plain"
)

// asString returns bytes as a string, without copying them.
func asString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// A mark's place has three parts: the atom in the high bits, and in distanceBits each the smallest and the
// largest distance of the windows that selected the mark.
const (
	distanceBits = 12
	distanceMax  = 1<<distanceBits - 1
)

func markPlace(atom uint64, minDistance, maxDistance int) uint64 {
	return atom<<(2*distanceBits) | uint64(minDistance)<<distanceBits | uint64(maxDistance)
}

// selected returns the number of bytes that are hashed for a mark if windows have length bytes.
func selected(length int) int { return max(2*length/5, length-distanceMax) }

func (r *Result) findStrings(ctx context.Context, cfg ingest.Config) (ingest.Report, error) {
	if cfg.Work != nil { // work folder for the copies
		if err := cfg.Work.Begin(ctx, r.inputs, &cfg); err != nil {
			return ingest.Report{}, err
		}
	}
	return findMarks(ctx, r, cfg, ingest.Steps[pendingDocument]{
		Worker: func(ctx context.Context) (func(int, *format.Document) (pendingDocument, error), error) {
			var id string // ID of the document
			var textBytes int
			room := func(listBytes int) error { return r.o.room(id, textBytes, listBytes) }
			m, reader := newMarker(r.length()), plain.NewReader(r.o.plain(), room)
			scanner, err := token.NewScanner(token.Options{})
			scanner.Until(ctx)
			return func(_ int, doc *format.Document) (pendingDocument, error) {
				p := prepare(doc, countChars(doc.Text))
				id, textBytes = doc.ID, len(doc.Text)
				if p.text = doc.Text; r.o.Unit.Kind == Words {
					if err := p.words(scanner, reader, doc.Text, room); err != nil {
						return p, err
					}
				}
				p.atoms, p.strings = len(p.text), m.marks(p.text)
				return p, nil
			}, err
		},
	}, "marks", 1, func(p *pendingDocument, add func(mark) error) error {
		r.marks += len(p.strings)
		for _, run := range p.strings {
			for m := range run.marks() {
				m[1] += markPlace(r.spool.atoms, 0, 0)
				if err := add(m); err != nil {
					return err
				}
			}
		}
		return nil
	}, func(ctx context.Context) func([]mark, func(repeat) error) error { return newStringGroup(ctx, r).find })
}

// length returns the length of a window: in bytes of the spool's text for strings, in atoms for units.
func (r *Result) length() int { return r.o.Unit.Length * r.o.Unit.width() }

var wordKey = token.NewKey([32]byte(unitKey))

// words sets the text to the hashes of the words of the plain form of a text. It sets the points to the beginnings of
// the words in the text.
func (p *pendingDocument) words(scanner *token.Scanner, reader *plain.Reader, text string,
	room func(listBytes int) error) error {
	plain, err := reader.Read(text)
	if err != nil {
		return err
	}
	var hashes []uint64
	var position point
	scanner.Scan(plain, func(tokens []token.Token) {
		for i := range tokens {
			t := &tokens[i]
			if len(hashes) == cap(hashes) && err == nil {
				missing := elementsToAdd(hashes, t.Start, len(plain))
				if err = room((len(hashes)+missing)*24 + reader.JumpBytes()); err == nil {
					hashes, p.points = slices.Grow(hashes, missing), slices.Grow(p.points, missing)
				}
			}
			if err != nil {
				return
			}
			hashes = append(hashes, wordKey.Hash(scanner, t))
			if start := uint64(reader.Start(t.Start)); start > position[0] { // parts of one character begin together
				position[1] += uint64(countChars(text[position[0]:start]))
				position[0] = start
			}
			p.points = append(p.points, position)
		}
	})
	p.text = asString(memory.Cast[byte](hashes))
	return err
}

// byteHash has a pseudo-random number for each byte value. Rolling hashes are weighted sums of these numbers.
var byteHash = func() (t [256]uint64) {
	for i := range t {
		t[i] = token.Mix(uint64(i))
	}
	return t
}()

// A roller computes the hash of the last n bytes: the sum of byteHash[b[i]] * [token.Base]^(n-1-i).
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

// roll returns the hash after moving one byte forward.
func (r *roller) roll(h uint64, out, in byte) uint64 {
	return (h-byteHash[out]*r.top)*token.Base + byteHash[in]
}

// A markRun is a sequence of marks with the same hash and the same distances, at equal intervals. With it, a
// text with a period of a few bytes needs no more memory for its marks than another text.
type markRun struct {
	first mark
	step  uint64 // difference of the places
	n     uint64
}

// marks yields the marks of a run.
func (r *markRun) marks() iter.Seq[mark] {
	return func(yield func(mark) bool) {
		for i := range r.n {
			if !yield(mark{r.first[0], r.first[1] + i*r.step}) {
				return
			}
		}
	}
}

// appendMark adds a mark to the last run, or appends a new run.
func appendMark(all []markRun, m mark) []markRun {
	if len(all) > 0 {
		last := &all[len(all)-1]
		step := m[1] - (last.first[1] + (last.n-1)*last.step)
		if last.first[0] == m[0] && (last.n > 1 && step == last.step || last.n == 1 && step%markPlace(1, 0, 0) == 0) {
			last.step, last.n = step, last.n+1
			return all
		}
	}
	return append(all, markRun{m, 0, 1})
}

// A marker finds the marks of texts. It belongs to one goroutine.
type marker struct {
	length int      // bytes of a window
	roller roller   // hashes the bytes of a mark
	window int      // number of marks in a window
	hashes []uint64 // last hashes, by offset modulo a power of two
}

func newMarker(length int) *marker {
	n := selected(length)
	window := length - n + 1
	return &marker{length: length, roller: newRoller(n), window: window,
		hashes: make([]uint64, 1<<bits.Len(uint(window)))}
}

// marks returns the marks of a text in order. Their atoms count from the beginning of the text.
func (m *marker) marks(text string) (all []markRun) {
	if len(text) < m.length {
		return nil
	}
	// The first mark is at the beginning of the text.
	n, window, mask := m.roller.n, m.window, len(m.hashes)-1
	hashes := m.hashes
	rolling := m.roller.hash(text)
	lowest, from := 0, 0 // the selected mark, and the first window that selected it
	hashes[0] = token.Fold(0, rolling)
	// Move the window. It keeps its mark until a smaller hash enters, or the mark leaves.
	for i := 1; i <= len(text)-n; i++ {
		rolling = m.roller.roll(rolling, text[i-1], text[i+n-1])
		h := token.Fold(0, rolling)
		hashes[i&mask] = h
		p := i - window + 1 // the window that ends with this mark
		next := lowest
		if h <= hashes[lowest&mask] {
			next = i
		} else if lowest < p {
			next = p
			for j := p + 1; j <= i; j++ {
				if hashes[j&mask] <= hashes[next&mask] {
					next = j
				}
			}
		}
		// A new mark completes the windows of the mark before it.
		if next != lowest {
			if p > from { // the windows from .. p-1 selected the last one
				all = appendMark(all, mark{hashes[lowest&mask], markPlace(uint64(lowest), lowest-(p-1), lowest-from)})
				from = p
			}
			lowest = next
		}
	}
	// The last mark has the windows up to the end of the text.
	last := len(text) - m.length
	return appendMark(all, mark{hashes[lowest&mask], markPlace(uint64(lowest), lowest-last, lowest-from)})
}
