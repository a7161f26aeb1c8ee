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

// A made is the result for one document.
type made struct {
	id    string
	value []byte
}

// eachText writes the value that a worker makes of each text, after the document's ID.
func (t *task) eachText(ctx context.Context, o document.Options,
	worker func() (func(text string) []byte, error)) error {
	var key []byte
	steps := ingest.Steps[made]{
		Worker: func() (func(int, *document.Document) (made, error), error) {
			of, err := worker()
			if err != nil {
				return nil, err
			}
			return func(_ int, d *document.Document) (made, error) { return made{d.ID, of(d.Text)}, nil }, nil
		},
		Emit: func(m made) error {
			if noID(m.id) {
				return t.bad(1, "document "+m.id, errNoID)
			}
			key = appendEscaped(key[:0], m.id)
			return t.result(key, m.value)
		},
	}
	return t.documents(ctx, o, func(c ingest.Config) (ingest.Report, error) {
		return ingest.Extract(ctx, []string{document.Stdin}, c, steps)
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
	return t.eachText(ctx, j.Document, func() (func(string) []byte, error) {
		s, err := copies.NewSigner(j.Copies)
		if err != nil {
			return nil, err
		}
		return func(text string) []byte {
			set := s.Sign(text).Own
			if len(set) < least {
				t.counters.add(unmarked, 1)
				return []byte(noSignatures)
			}
			return appendSet(nil, set)
		}, nil
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
