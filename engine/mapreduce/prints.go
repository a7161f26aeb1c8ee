package mapreduce

import (
	"bytes"
	"context"

	"ndd/engine/corpus/simhash"
)

// A batch is fingerprints of a map's input, in order, with their IDs as fields.
type batch struct {
	prints []uint64
	ids    []byte
	ends   []uint32 // of the IDs
}

const (
	// batchPrints is the most fingerprints that are handed on at a time.
	batchPrints = 1 << 20
	// batchBytes is the memory of a batch, with IDs of moderate length and while it grows.
	batchBytes = batchPrints * (8 + 8 + 2*64)
	// unmarkedKey stands for the fingerprint of a document that is too short to have one.
	unmarkedKey = "----------------"
)

func (b *batch) reset() { b.prints, b.ids, b.ends = b.prints[:0], b.ids[:0], b.ends[:0] }

func (b *batch) full() bool { return len(b.prints) >= batchPrints || len(b.ids) >= batchPrints*64 }

// id returns the ID of fingerprint i.
func (b *batch) id(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.ids[from:b.ends[i]]
}

// batches calls each with all fingerprints of a map's input, which are results of the job fingerprint. A batch is
// valid until each returns.
func (t *task) batches(ctx context.Context, each func(b *batch) error) error {
	var b batch
	flush := func() error {
		defer b.reset()
		if len(b.prints) == 0 {
			return nil
		}
		return each(&b)
	}
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
		b.prints, b.ids = append(b.prints, uint64(f)), append(b.ids, id...)
		if b.ends = append(b.ends, uint32(len(b.ids))); b.full() {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}
