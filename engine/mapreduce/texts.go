package mapreduce

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"ndd/engine/copies"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
)

// made is what a worker made of a document.
type made[R any] struct {
	id string
	of R
}

// eachDocument has workers make something of each document of a map's input, and calls emit with it,
// in order.
func eachDocument[R any](ctx context.Context, t *task, o document.Options,
	worker func() (func(*document.Document) R, error), emit func(id string, of R) error) error {
	return t.documents(ctx, o, func(c ingest.Config) (ingest.Report, error) {
		return ingest.Extract(ctx, []string{document.Stdin}, c, ingest.Steps[made[R]]{
			Worker: func() (func(int, *document.Document) (made[R], error), error) {
				of, err := worker()
				return func(_ int, d *document.Document) (made[R], error) { return made[R]{d.ID, of(d)}, nil }, err
			},
			Borrows: true,
			Emit: func(m made[R]) error {
				if noID(m.id) {
					return t.bad(1, "document "+m.id, errNoID)
				}
				return emit(m.id, m.of)
			},
		})
	})
}

// A Signatures is the job that makes signatures of texts for finding copies. It has no reduce.
//
//	in    a JSON object a line
//	out   ID	all distinct signatures, ascending, 11 digits each; or - for a document that has too few
type Signatures struct {
	Document document.Options
	Copies   copies.Options // the method is one, not Auto
}

// noSignatures stands for the signatures of a document with too few.
const noSignatures = "-"

// recipe returns the short form of the recipe of signatures: the method and 8 hexadecimal digits.
func (j *Signatures) recipe() (string, error) {
	data, err := json.Marshal(j.Copies.Recipe())
	return fmt.Sprintf("%s-%08x", j.Copies.Method, uint32(xxhash.Sum64(data))), err
}

func (j Signatures) mapPart(ctx context.Context, t *task) (err error) {
	m := j.Copies.Method
	if m == "" || m == copies.Auto {
		return fmt.Errorf("method %q: signatures are made by one method", m)
	}
	if t.results.recipe, err = j.recipe(); err != nil {
		return err
	}
	least := cmp.Or(j.Copies.MinFeatures, m.MinFeatures())
	var key []byte
	return eachDocument(ctx, t, j.Document, func() (func(*document.Document) []byte, error) {
		s, err := copies.NewSigner(j.Copies)
		return func(d *document.Document) []byte {
			set := s.Sign(d.Text).Own
			if len(set) < least {
				t.counters.add(unmarked, 1)
				return []byte(noSignatures)
			}
			return appendSet(nil, set)
		}, err
	}, func(id string, value []byte) error {
		key = appendEscaped(key[:0], id)
		return t.result(key, value)
	})
}

// appendSet appends signatures as digits.
func appendSet(dst []byte, set []uint64) []byte {
	for _, s := range set {
		dst = appendNumber(dst, s, printDigits)
	}
	return dst
}

// parseSet appends the signatures that appendSet wrote, which ascend; none for noSignatures.
func parseSet(dst []uint64, text []byte) ([]uint64, error) {
	if string(text) == noSignatures {
		return dst, nil
	}
	if len(text) == 0 || len(text)%printDigits != 0 {
		return dst, fmt.Errorf("no signatures: %.40q", text)
	}
	first := len(dst)
	for ; len(text) > 0; text = text[printDigits:] {
		s, ok := number(text[:printDigits])
		if !ok || len(dst) > first && dst[len(dst)-1] >= s {
			return dst, fmt.Errorf("no signatures: %.40q", text)
		}
		dst = append(dst, s)
	}
	return dst, nil
}
