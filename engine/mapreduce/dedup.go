package mapreduce

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
)

// A Keep is a policy that selects which of several documents is kept.
type Keep string

// The policies. If documents are equal by a policy, the document with the smallest name is kept.
const (
	FirstID  Keep = "first"
	Longest  Keep = "longest"
	Shortest Keep = "shortest"
)

// rankMax is the largest length that ranks distinguish.
const rankMax = 1<<(6*rowDigits) - 1

// rank returns the rank of a text of length bytes.
func (k Keep) rank(length uint64) uint64 {
	switch k {
	case Longest:
		return rankMax - min(length, rankMax)
	case Shortest:
		return min(length, rankMax)
	}
	return 0
}

// A Dedup is a round of the job that decides which documents are dropped, as package dedup does: documents are taken in
// order of preference, and a document is dropped if a kept one is near and confirmed. Documents with equal texts
// count as one, the preferred one.
//
//	in      results of the job fingerprint; in later rounds results of the round before, and of the job pairs about them
//	shuffle hash of the text, 0, pair                    similarity
//	        hash of the text, 1                          for a document that others need
//	        hash of the text, 2, rank, name, state       the rest
//	out     hash of the text	state, rank, name, and by the state:
//	        u undecided, s undecided and others have its text, w waiting, k kept and others need it: fingerprint, sketch
//	        e equal to an undecided one
//	        d dropped: distance, similarity, name of the kept document
//
// A round decides a document as follows:
//
//	a preferred kept document confirms it       it is dropped: for the nearest one, once no undecided one may be nearer
//	only preferred undecided ones confirm it    it stays undecided
//	otherwise                                   it is kept, and leaves the results unless other documents need it
//
// The rounds end when no document is undecided or waiting. The end records hold the number of these documents, and of
// the round, so that no round is left out or taken twice. The results do not depend on the order of records. A reduce
// holds one record at a time.
type Dedup struct{ Keep Keep }

// The kinds of records of a text in the shuffle, in order.
const (
	pairKind     = '0'
	followedKind = '1'
	documentKind = '2'
)

func (j Dedup) mapPart(ctx context.Context, t *task) error {
	var key, value []byte
	return t.records(ctx, func(r record) error {
		// The key begins with the hash of the text.
		head, fields, _ := bytes.Cut(r.value, []byte(" "))
		if len(head) == 0 {
			return badf("%.80q has no value", r.key)
		}
		key = append(key[:0], r.key...)
		switch {
		// The record is a result of the job fingerprint.
		case len(r.key) == len(unmarkedKey):
			d, err := parseFresh(r.key, bytes.Split(r.value, []byte(" ")))
			if err == nil && d.isRaw {
				err = fmt.Errorf("%.80q has no hash of a text: give results of the job fingerprint", r.value)
			}
			if err != nil {
				return badf("%w", err)
			}
			if d.bytes == 0 {
				return nil // empty documents are kept
			}
			key = append(append(key[:0], d.text...), documentKind)
			key = append(append(appendNumber(key, j.Keep.rank(d.bytes), rowDigits), d.name...), ' ', fresh)
			if string(r.key) == unmarkedKey {
				value = append(value[:0], noPrint...)
			} else {
				value = appendNumber(value[:0], d.fingerprint, printDigits)
			}
			value = append(append(value, ' '), d.sketch...)
		// Other keys are hashes of texts. The first letter of the value is the kind of the record.
		case len(r.key) != hashDigits:
			return badf("%.80q is no hash of a text", r.key)
		case head[0] == pairMark:
			key = append(append(key, pairKind), head[1:]...)
			similarity, _, _ := bytes.Cut(fields, []byte(" "))
			value = append(value[:0], similarity...)
		case head[0] == followedMark:
			key, value = append(key, followedKind), value[:0]
		// The record is a document of the round before.
		default:
			key = append(append(append(key, documentKind), head[1:]...), ' ', head[0])
			value = append(value[:0], fields...)
		}
		// All records of a text go to one partition.
		hash, ok := number(key[:printDigits])
		if !ok {
			return badf("%.80q begins with no hash of a text", key)
		}
		return t.send(t.partition(hash), key, value)
	})
}

func (j Dedup) reduce(ctx context.Context, t *task) error {
	d := decider{t: t}
	if err := cmp.Or(t.distinct(ctx, d.add), d.flush()); err != nil {
		return err
	}
	if a := t.arrived[0]; a != nil {
		if a.end.Documents != a.end.Pairs {
			return fmt.Errorf("%w: the inputs have documents of round %d, and pairs of round %d: give what the job dedup wrote last, and "+
				"what the job pairs made of it", ErrLost, a.end.Documents, a.end.Pairs)
		}
		t.results.Documents = a.end.Documents + 1
	}
	return nil
}

// A decider decides about the documents of one text after the other. The records of a text come in this order:
//
//	pairs with kept documents, the nearest first
//	pairs with undecided documents
//	documents, the preferred one first
type decider struct {
	t    *task
	text []byte

	best, similarity []byte // distance, rank and name of the nearest kept document, and its similarity; nil for none
	isBlocked        bool   // an undecided document confirms it, perhaps a nearer one
	isFollowed       bool

	first    []byte // rank and name of the preferred document of the text; nil before it came
	state    byte   // its new state
	content  []byte // its fingerprint and sketch
	isShared bool   // it is undecided, and others have its text
	line     []byte
}

func (d *decider) add(key, value []byte) error {
	if len(key) <= hashDigits {
		return fmt.Errorf("%.80q is no record of a text", key)
	}
	text, kind, fields := key[:hashDigits], key[hashDigits], key[hashDigits+1:]
	if !bytes.Equal(text, d.text) {
		if err := d.flush(); err != nil {
			return err
		}
		*d = decider{t: d.t, text: append(d.text[:0], text...), line: d.line}
	}
	switch {
	case kind == pairKind && len(fields) > 2+rowDigits:
		if fields[0] == '0' && d.best == nil {
			d.best, d.similarity = bytes.Clone(fields[1:]), bytes.Clone(value)
		}
		d.isBlocked = d.isBlocked || fields[0] == '1'
		return nil
	case kind == followedKind:
		d.isFollowed = true
		return nil
	case kind == documentKind && len(fields) > rowDigits+2:
		return d.document(fields[len(fields)-1], fields[:len(fields)-2], value)
	}
	return fmt.Errorf("%.80q is no record of a text", key)
}

// document decides about the next document of the text.
func (d *decider) document(state byte, head, fields []byte) error {
	switch {
	case state == dropped:
		return d.write(d.text, dropped, head, fields)
	case d.first == nil:
		return d.decide(state, head, fields)
	case state != fresh && state != equal:
		return fmt.Errorf("%w: two documents of one text: the inputs are of several rounds", ErrLost)
	case d.state == undecided:
		d.isShared = true
		return d.write(d.text, equal, head, []byte("- -"))
	case d.state == kept:
		similarity := "1"
		switch {
		case bytes.HasPrefix(d.content, []byte(noPrint+" ")):
			similarity = sameText
		case bytes.HasSuffix(d.content, []byte(" "+noSketch)):
			similarity = unverified
		}
		return d.write(d.text, dropped, head, fmt.Appendf(nil, "0 %s %s", similarity, d.first[rowDigits:]))
	}
	// This document is dropped, too, perhaps because of a nearer document that is less preferred than the first one of
	// the text. So it is compared separately, under its own key.
	name := appendNumber(make([]byte, 0, hashDigits), record{d.text, head}.hash(), printDigits)
	return d.wait(append(name, d.text[printDigits:]...), waiting, head, d.content)
}

// decide decides about the preferred document of the text.
func (d *decider) decide(state byte, head, fields []byte) error {
	d.first, d.state, d.content = bytes.Clone(head), state, bytes.Clone(fields)
	switch {
	case state == fresh && bytes.HasPrefix(fields, []byte(noPrint+" ")):
		d.state = kept // only its text is compared
	case state == fresh:
		d.state = undecided
	case state == equal || state == waiting && d.best == nil:
		return fmt.Errorf("%w: the kept document of %.80q is missing", ErrLost, d.first)
	case state == kept:
	case d.best == nil && !d.isBlocked:
		d.state = kept
	case d.best != nil && !d.isBlocked:
		d.state = dropped
	case d.best != nil:
		d.state = waiting
	case state == shared:
		d.state = undecided
	}
	switch {
	case d.state == undecided: // until all documents of the text came
	case d.state == waiting:
		return d.wait(d.text, waiting, head, fields)
	case d.state == dropped:
		distance, _ := number(d.best[:1])
		return d.write(d.text, dropped, head, fmt.Appendf(nil, "%d %s %s", distance, d.similarity, d.best[1+rowDigits:]))
	case d.isFollowed:
		return d.write(d.text, kept, head, fields)
	}
	return nil
}

// flush writes the preferred document of the text if it is undecided.
func (d *decider) flush() error {
	switch {
	case d.state != undecided:
		return nil
	case d.isShared:
		return d.wait(d.text, shared, d.first, d.content)
	}
	return d.wait(d.text, undecided, d.first, d.content)
}

// wait writes a document that another round decides about.
func (d *decider) wait(text []byte, state byte, head, fields []byte) error {
	d.t.results.Undecided++
	d.t.counters.add(undecidedDocuments, 1)
	return d.write(text, state, head, fields)
}

// write writes a document as a result.
func (d *decider) write(text []byte, state byte, head, fields []byte) error {
	d.line = append(append(append(append(d.line[:0], state), head...), ' '), fields...)
	return d.t.result(text, d.line)
}
