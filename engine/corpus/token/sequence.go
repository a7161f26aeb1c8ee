package token

import (
	"bytes"
	"hash/maphash"
	"unicode/utf8"
)

// A form is the normal form of a sequence of characters.
type form struct{ sequence, normal []byte }

// The number of forms is that of sequences that languages take the slow way for, some hundreds. A few of
// them are for sequences of more than formBytes. These are up to a chunk of text, such as one of nothing but
// combining marks, which is the same again and again.
const (
	formCount = 1 << 10
	longCount = 8
	formBytes = 64
)

// formSeed makes the slots of forms differ from process to process, so that no text can choose them.
var formSeed = maphash.MakeSeed()

// remembered is normalForm of a sequence on its own, about 30 times as fast where the sequence is
// known.
func (n *normaliser) remembered(dst, sequence []byte) []byte {
	if n.forms == nil {
		n.forms = make([]form, formCount)
	}
	slots := n.forms[longCount:]
	if len(sequence) > formBytes {
		slots = n.forms[:longCount]
	}
	f := &slots[maphash.Bytes(formSeed, sequence)%uint64(len(slots))]
	if !bytes.Equal(f.sequence, sequence) {
		f.sequence = append(f.sequence[:0], sequence...)
		f.normal = n.normalForm(f.normal[:0], sequence)
	}
	return append(dst, f.normal...)
}

// run appends the normal form of the characters from start on, of which only the one at i, or none,
// has an entry in the rune table before the end, which it returns. It takes one sequence after the
// other. Of invisible characters in a row only the first one has an effect.
func (n *normaliser) run(dst, s []byte, start, i int) (result []byte, end int) {
	n.c = append(n.c[:0], s[start:i]...)
	hidden := false
	for i < len(s) && s[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError || n.table.simple(r) != 0 {
			break
		}
		if len(n.c) > 0 && n.table.isStart(r) {
			dst, n.c = n.remembered(dst, n.c), n.c[:0]
		}
		last := hidden
		if hidden = invisible(r); !hidden || !last {
			n.c = append(n.c, s[i:i+size]...)
		}
		i += size
	}
	return n.remembered(dst, n.c), i
}
