package mapreduce

import (
	"bytes"
	"context"

	"example.org/ndd/engine/corpus/simhash"
)

const (
	// batchPrints is the maximum number of fingerprints in a batch.
	batchPrints = 1 << 20
	// batchBytes is the memory of a batch, with IDs of moderate length and while it grows.
	batchBytes = batchPrints * (8 + 8 + 2*64)
	// unmarkedKey is the key of a document that is too short to have a fingerprint.
	unmarkedKey = "----------------"
)

// A batch is fingerprints of lines with their IDs.
type batch struct {
	values []uint64
	ids    []byte
	ends   []uint32
}

// appendID appends the ID of fingerprint i as a field.
func (b *batch) appendID(dst []byte, i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = b.ends[i-1]
	}
	return append(dst, b.ids[from:b.ends[i]]...)
}

// batches calls each with all fingerprints of a map's input: the results of the job fingerprint. A batch is valid
// until each returns.
func (t *task) batches(ctx context.Context, each func(*batch) error) error {
	// A batch is passed on when it is full.
	var b batch
	flush := func() error {
		defer func() { b.values, b.ids, b.ends = b.values[:0], b.ids[:0], b.ends[:0] }()
		if len(b.values) == 0 {
			return nil
		}
		return each(&b)
	}
	// Parse the fingerprint and the ID of each line.
	err := t.records(ctx, func(r record) error {
		if string(r.key) == unmarkedKey {
			t.counters.add(unmarked, 1)
			return nil
		}
		f, err := simhash.Parse(string(r.key))
		if err != nil {
			return badf("%w", err)
		}
		id, _, _ := bytes.Cut(r.value, []byte(" "))
		if len(id) == 0 {
			id = []byte(`\e`)
		}
		t.counters.add(fingerprints, 1)
		b.values, b.ids = append(b.values, uint64(f)), append(b.ids, id...)
		b.ends = append(b.ends, uint32(len(b.ids)))
		if len(b.values) >= batchPrints || len(b.ids) >= batchPrints*64 {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}
