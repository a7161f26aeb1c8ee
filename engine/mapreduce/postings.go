package mapreduce

import "context"

const (
	sizeDigits = 4
	sizeMax    = 1<<(6*sizeDigits) - 1
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

// A posting is a document that has a signature.
type posting struct {
	signature, id []byte
	size          uint64
}

// postings calls each with every posting of a reduce's input, in order, once.
func (t *task) postings(ctx context.Context, each func(p posting) error) error {
	return t.distinct(ctx, func(key []byte) error {
		k := readKey(key)
		k.number(printDigits)
		size := k.number(sizeDigits)
		if err := k.err("posting", 1); err != nil {
			return err
		}
		return each(posting{key[:printDigits], k.rest, size})
	})
}
