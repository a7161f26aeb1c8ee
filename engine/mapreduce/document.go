package mapreduce

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
)

// A document is a document of the jobs pairs and dedup.
type document struct {
	text        []byte // hash of the text, in hashDigits digits
	name        []byte // see [appendPlace]
	rank        uint64 // the document with the lower rank is preferred; if ranks are equal, the smaller name
	state       byte
	fingerprint uint64
	sketch      []byte // sketchDigits digits, or noSketch
	bytes       uint64 // length of the text; known in results of the job fingerprint
	isRaw       bool   // only a fingerprint and an ID are known
}

// The states of a document.
const (
	fresh     = 'n' // state of results of the job fingerprint
	undecided = 'u'
	shared    = 's' // undecided, and other documents have its text
	waiting   = 'w' // it is dropped, but perhaps for a nearer, undecided document
	kept      = 'k' // it is kept, and others may be dropped for it
	equal     = 'e' // it has the same text as a preferred, undecided document
	dropped   = 'd'
)

// Other records of the job pairs begin with one of these letters.
const (
	pairMark     = 'p' // pair of a document and a preferred one that confirms it
	followedMark = 'f' // the preferred document of a pair
)

const (
	hashDigits   = 2 * printDigits
	sketchDigits = sketch.Words * printDigits
	noSketch     = "-"
	sameText     = "same" // the similarity of texts that are too short for a fingerprint, and equal
	noPrint      = "-"    // fingerprint of a document that is too short to have one
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

// appendPlace appends the file and the row (6 digits) of a document. The name of a document is its ID, or, if a job
// knows where documents are, place and ID. '!' separates the parts and is in no escaped text, so names are in order
// of files and rows.
func appendPlace(dst []byte, file string, row int64) []byte {
	return appendNumber(append(appendEscaped(dst, file), '!'), uint64(row), rowDigits)
}

// A place holds the parts of a document's name.
type place struct {
	file, id string
	row      uint64 // 0 if the name is the ID alone
}

// parseName returns the parts of a name.
func parseName(name []byte) (p place, err error) {
	if parts := bytes.Split(name, []byte{'!'}); len(parts) == 3 && len(parts[1]) == rowDigits {
		p.row, _ = number(parts[1])
		if p.file, err = unescape(parts[0]); err != nil {
			return p, err
		}
		name = parts[2]
	}
	p.id, err = unescape(name)
	return p, err
}

// parseDocument returns the document of a result of the job fingerprint, or of a result of the job dedup with a
// fingerprint.
func parseDocument(r record) (d document, err error) {
	fields := bytes.Split(r.value, []byte(" "))
	if len(r.key) == len(unmarkedKey) {
		return parseFresh(r.key, fields)
	}
	head := fields[0]
	if len(r.key) != hashDigits || len(fields) != 3 || len(head) <= 1+rowDigits {
		return d, fmt.Errorf("%.80q is no document: give results of the job fingerprint or dedup", r.key)
	}
	rank, ok := number(head[1 : 1+rowDigits])
	fingerprint, isPrint := number(fields[1])
	if !ok || !isPrint {
		return d, fmt.Errorf("%.80q is no document", r.value)
	}
	return document{text: r.key, name: head[1+rowDigits:], rank: rank, state: head[0], fingerprint: fingerprint, sketch: fields[2]}, nil
}

// parseFresh parses a result of the job fingerprint, or a line with a fingerprint and an ID alone.
func parseFresh(key []byte, fields [][]byte) (d document, err error) {
	d = document{state: fresh, sketch: []byte(noSketch), name: fields[0]}
	if len(d.name) == 0 {
		d.name = []byte(`\e`)
	}
	if string(key) != unmarkedKey {
		f, err := simhash.Parse(string(key))
		if err != nil {
			return d, err
		}
		d.fingerprint = uint64(f)
	}
	if d.isRaw = len(fields) < 4; d.isRaw {
		h := record{key: d.name}.hash()
		d.text = appendNumber(appendNumber(nil, 0, printDigits), h, printDigits)
		return d, nil
	}
	d.text, d.sketch = fields[2], fields[3]
	k := readKey(d.text)
	k.number(printDigits)
	k.number(printDigits)
	_, errSketch := parseSketch(d.sketch)
	d.bytes, err = strconv.ParseUint(string(fields[1]), 10, 64)
	if len(fields) > 4 {
		d.name = append(append(bytes.Clone(fields[4]), '!'), d.name...)
	}
	return d, cmp.Or(err, k.err("hash of a text", 0), errSketch)
}
