package token

import (
	"bytes"
	"hash/maphash"
	"unicode/utf8"
)

// A form is the normal form of a sequence of characters.
type form struct{ sequence, normal []byte }

// The number of forms is that of sequences that languages take the slow way for, some hundreds. A sequence has one
// character that starts it and rowMax others: no language writes as many marks on a letter.
const (
	formCount = 1 << 10
	rowMax    = 8
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

// run appends the normal form of the characters from start on, sequence by sequence, without those after rowMax that
// start no sequence. Only the one before i, if any, has an entry in the rune table before the end, which run returns.
func (n *normaliser) run(dst, s []byte, start, i int) (result []byte, end int) {
	kept, row := i, 0 // the end of what is kept of the sequence, and how many characters of it start none
	for i < len(s) && s[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError || n.table.simple(r) != 0 {
			break
		}
		if row++; n.table.isStart(r) {
			if start < i {
				dst = n.remembered(dst, s[start:kept])
			}
			start, row = i, 0
		}
		if i += size; row <= rowMax {
			kept = i
		}
	}
	return n.remembered(dst, s[start:kept]), i
}
