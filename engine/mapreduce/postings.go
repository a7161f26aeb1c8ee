package mapreduce

import (
	"bytes"
	"context"
	"strconv"
)

// An Index is the job that inverts signatures: the lists of an index split by terms.
//
//	in      results of the job signatures
//	shuffle signature (11 digits), number of the document's signatures (4), ID
//	out     signature (11 digits)	some of its documents: ID, number of signatures, ID, ...
//
// A list of more than 1,024 documents has several lines. Documents are in order of the number of
// their signatures.
type Index struct{}

const (
	sizeDigits  = 4
	sizeMax     = 1<<(6*sizeDigits) - 1
	postingsMax = 1024 // of a line
)

// sendPostings sends each signature of the documents of a map's input, followed by the number of
// them and the ID.
func (t *task) sendPostings(ctx context.Context) error {
	var key []byte
	var set []uint64
	return t.records(ctx, func(r record) (err error) {
		if set, err = parseSet(set[:0], r.value); err != nil {
			return badf("%w", err)
		}
		if len(r.key) == 0 || len(set) > sizeMax {
			return badf("%.40q has %d signatures: at most %d, and an ID", r.key, len(set), sizeMax)
		}
		for _, s := range set {
			key = appendNumber(appendNumber(key[:0], s, printDigits), uint64(len(set)), sizeDigits)
			if err := t.send(t.partition(s), append(key, r.key...), nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func (j Index) mapPart(ctx context.Context, t *task) error { return t.sendPostings(ctx) }

// A posting is a document that has a signature.
type posting struct {
	signature, id []byte
	size          uint64
}

// postings calls each with every posting of a reduce's input, in order, once.
func (t *task) postings(ctx context.Context, each func(p posting) error) error {
	return t.distinct(ctx, func(_ int, key []byte) error {
		k := readKey(key)
		k.number(printDigits)
		size := k.number(sizeDigits)
		if err := k.err("posting", 1); err != nil {
			return err
		}
		return each(posting{key[:printDigits], k.rest, size})
	})
}

func (j Index) reduce(ctx context.Context, t *task) error {
	var signature, list []byte
	n := 0
	flush := func() error {
		if n == 0 {
			return nil
		}
		n = 0
		return t.result(signature, list)
	}
	err := t.postings(ctx, func(p posting) error {
		if n == postingsMax || !bytes.Equal(p.signature, signature) {
			if err := flush(); err != nil {
				return err
			}
			signature, list = append(signature[:0], p.signature...), list[:0]
		} else {
			list = append(list, ' ')
		}
		n++
		list = strconv.AppendUint(append(append(list, p.id...), ' '), p.size, 10)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}
