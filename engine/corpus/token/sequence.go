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

// remembered is normalForm of a sequence on its own. That takes a thirtieth of the time where the sequence is known: as one
// character of the rune table, or as a sequence that came before.
func (n *normaliser) remembered(dst, sequence []byte) []byte {
	if len(sequence) <= 3 {
		if r, size := utf8.DecodeRune(sequence); size == len(sequence) && n.table.form[r] > 0 {
			return append(dst, n.table.forms[n.table.form[r]]...)
		}
	}
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

// run appends the normal form of the characters from start on, sequence by sequence. Only the one before i, if
// any, has an entry in the rune table before the end, which run returns.
func (n *normaliser) run(dst, s []byte, start, i int) (result []byte, end int) {
	for i < len(s) && s[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError || n.table.simple(r) != 0 {
			break
		}
		if start < i && n.table.isStart(r) {
			dst, start = n.remembered(dst, s[start:i]), i
		}
		i += size
	}
	return n.remembered(dst, s[start:i]), i
}
