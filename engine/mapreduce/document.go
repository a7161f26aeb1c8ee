package mapreduce

import (
	"bytes"
	"fmt"
	"strconv"

	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/sketch"
)

// A document is a document as the jobs pairs and dedup see it.
type document struct {
	text   []byte // hash of its text, hashDigits
	name   []byte // see [placed]
	rank   uint64 // lower ones are preferred; of equal ones the one with the smaller name
	state  byte
	print  uint64
	sketch []byte // sketchDigits, or noSketch
	bytes  uint64 // of the text, in results of the job fingerprint
	isRaw  bool   // it is a fingerprint and an ID alone
}

// The states of a document.
const (
	fresh     = 'n' // in results of the job fingerprint
	undecided = 'u'
	shared    = 's' // undecided, and others have its text
	waiting   = 'w' // it is dropped, and a nearer document may still be kept
	kept      = 'k' // and other documents may be dropped for it
	equal     = 'e' // it has the text of a preferred one, which is undecided
	dropped   = 'd'
)

// Other records of the job pairs begin with one of these letters.
const (
	pairMark     = 'p' // a document, and a preferred one that confirms it
	followedMark = 'f' // a document that other documents have as a preferred one
)

const (
	hashDigits   = 2 * printDigits
	sketchDigits = sketch.Words * printDigits
	noSketch     = "-"
	sameText     = "same" // the similarity of texts that are too short for a fingerprint, and equal
	noPrint      = "-"    // of a document that is too short to have a fingerprint
)

// appendSketch appends a sketch as a field.
func appendSketch(dst []byte, s *sketch.Sketch) []byte {
	for _, word := range s {
		dst = appendNumber(dst, word, printDigits)
	}
	return dst
}

// parseSketch returns the sketch of a field, the zero sketch if there is none.
func parseSketch(field []byte) (s sketch.Sketch, err error) {
	if string(field) == noSketch {
		return s, nil
	}
	k := readKey(field)
	for i := range s {
		s[i] = k.number(printDigits)
	}
	return s, k.err("sketch", 0)
}

// placed returns the name of a document: its ID, or, if a job knows where documents are, the file, the row (6 digits) and
// the ID, separated by '!', which is in no escaped text. So names are in order of files and rows.
func placed(place, id []byte) []byte {
	if len(place) == 0 {
		return id
	}
	return append(append(append([]byte(nil), place...), '!'), id...)
}

// appendPlace appends the place of a document.
func appendPlace(dst []byte, file string, row int64) []byte {
	return appendNumber(append(appendEscaped(dst, file), '!'), uint64(row), rowDigits)
}

// A place is the parts of a name.
type place struct {
	file, id string
	row      uint64 // 0 if the name is the ID alone
}

// parseName returns the parts of a name.
func parseName(name []byte) (p place, err error) {
	parts := bytes.Split(name, []byte{'!'})
	id := parts[len(parts)-1]
	if len(parts) == 3 {
		row, ok := number(parts[1])
		if p.file, err = unescape(parts[0]); err != nil || !ok {
			return p, fmt.Errorf("%.80q is no name of a document", name)
		}
		p.row = row
	} else if len(parts) != 1 {
		return p, fmt.Errorf("%.80q is no name of a document", name)
	}
	p.id, err = unescape(id)
	return p, err
}

// parseDocument returns the document of a result of the job fingerprint, or of the job dedup that is not dropped.
func parseDocument(r record) (d document, err error) {
	fields := bytes.Split(r.value, []byte(" "))
	if len(r.key) == len(unmarkedKey) {
		return parseFresh(r.key, fields)
	}
	if len(r.key) != hashDigits {
		return d, fmt.Errorf("%.80q is no fingerprint and no hash of a text: give results of the job fingerprint or dedup", r.key)
	}
	d.text = r.key
	if d.rank, d.name, d.state, err = parseHead(fields[0]); err != nil {
		return d, err
	}
	if len(fields) != 3 {
		return d, fmt.Errorf("%.80q is no document", r.value)
	}
	d.sketch = fields[2]
	print, ok := number(fields[1])
	if !ok {
		return d, fmt.Errorf("%.40q is no fingerprint", fields[1])
	}
	d.print = print
	return d, nil
}

// parseHead parses the first field of a document in results of the job dedup.
func parseHead(head []byte) (rank uint64, name []byte, state byte, err error) {
	if len(head) <= 1+rowDigits {
		return 0, nil, 0, fmt.Errorf("%.80q is no document", head)
	}
	rank, ok := number(head[1 : 1+rowDigits])
	if !ok {
		return 0, nil, 0, fmt.Errorf("%.80q is no document", head)
	}
	return rank, head[1+rowDigits:], head[0], nil
}

// parseFresh parses a result of the job fingerprint, or a line with a fingerprint and an ID alone.
func parseFresh(key []byte, fields [][]byte) (d document, err error) {
	d.state, d.sketch, d.name = fresh, []byte(noSketch), fields[0]
	if len(d.name) == 0 {
		d.name = []byte(`\e`)
	}
	if string(key) != unmarkedKey {
		f, err := simhash.Parse(string(key))
		if err != nil {
			return d, err
		}
		d.print = uint64(f)
	}
	if len(fields) < 4 {
		h := record{key: d.name}.hash()
		d.isRaw, d.text = true, appendNumber(appendNumber(nil, 0, printDigits), h, printDigits)
		return d, nil
	}
	d.text, d.sketch = fields[2], fields[3]
	if len(d.text) != hashDigits {
		return d, fmt.Errorf("%.40q is no hash of a text", d.text)
	}
	if d.bytes, err = strconv.ParseUint(string(fields[1]), 10, 64); err != nil {
		return d, fmt.Errorf("%.40q is no length of a text", fields[1])
	}
	if len(fields) > 4 {
		d.name = placed(fields[4], d.name)
	}
	return d, nil
}
