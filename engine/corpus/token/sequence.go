package token

import (
	"bytes"
	"hash/maphash"
	"unicode/utf8"
)

// A form is the normal form of a sequence of characters.
type form struct{ sequence, normal []byte }

// formCount is the number of forms that a normaliser remembers. A language needs the slow path for some hundreds of
// sequences. A sequence has one character that starts it and at most rowMax others. No language writes that many marks
// on a letter.
const (
	formCount = 1 << 10
	rowMax    = 8
)

// formSeed makes the slots of forms differ from process to process, so that no text can choose them.
var formSeed = maphash.MakeSeed()

// remembered appends the normal form of a sequence on its own, as normalForm does. It takes a thirtieth of the time
// if the sequence is one character of the rune table, or a sequence that occurred before.
func (n *normaliser) remembered(dst, sequence []byte) []byte {
	if len(sequence) <= 3 {
		if r, size := utf8.DecodeRune(sequence); size == len(sequence) && n.table.form[r] > 0 {
			return append(dst, n.table.forms[n.table.form[r]]...)
		}
	}
	if n.forms == nil {
		n.forms = make([]form, formCount)
	}
	f := &n.forms[maphash.Bytes(formSeed, sequence)%formCount]
	if !bytes.Equal(f.sequence, sequence) {
		f.sequence = append(f.sequence[:0], sequence...)
		var ok bool
		if f.normal, ok = n.table.compose(f.normal[:0], sequence); !ok {
			f.normal = n.normalForm(f.normal, sequence)
		}
	}
	return append(dst, f.normal...)
}

// run appends the normal form of the characters from start on, sequence by sequence. It leaves out the characters
// after the first rowMax of a sequence that start no sequence. Only the character before i, if any, has an entry in
// the rune table. run returns the end, which is the next such character, an ASCII byte or the end of s.
func (n *normaliser) run(dst, s []byte, start, i int) (result []byte, end int) {
	keptEnd, row := i, 0 // end of the kept part of the sequence, and number of its characters that start no sequence
	for i < len(s) && s[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError || n.table.simple(r) != 0 {
			break
		}
		if row++; n.table.isStart(r) {
			if start < i {
				dst = n.remembered(dst, s[start:keptEnd])
			}
			start, row = i, 0
		}
		if i += size; row <= rowMax {
			keptEnd = i
		}
	}
	return n.remembered(dst, s[start:keptEnd]), i
}
