package mapreduce

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
)

// A Signatures is the job that makes signatures of texts for finding copies. It has no reduce.
//
//	in    a JSON object a line
//	out   ID	all distinct signatures, ascending, 11 digits each, or - for a document that has too few
type Signatures struct {
	Document format.Options
	Copies   copies.Options // the method must not be Auto
}

// noSignatures is the field of a document with too few signatures.
const noSignatures = "-"

func (j Signatures) mapPart(ctx context.Context, t *task) error {
	m := j.Copies.Method
	if m == "" || m == copies.Auto {
		return fmt.Errorf("method %q: signatures are made by one method", m)
	}
	t.results.Parts, t.results.Recipe = 1, signatureRecipe(&j.Copies)
	type signedDocument struct {
		id    string
		value []byte
	}
	return t.documents(ctx, j.Document, func(c ingest.Config) (ingest.Report, error) {
		return ingest.Extract(ctx, []string{input.Stdin}, c, ingest.Steps[signedDocument]{
			Worker: func(ctx context.Context) (func(int, *format.Document) (signedDocument, error), error) {
				s, err := copies.NewSigner(ctx, j.Copies)
				return func(_ int, d *format.Document) (signedDocument, error) {
					return signedDocument{d.ID, j.sign(t, s, d)}, nil
				}, err
			},
			Borrows: true,
			Emit: func(d signedDocument) error {
				if noID(d.id) {
					return t.bad(1, "document "+d.id, errNoID)
				}
				return t.result(appendEscaped(nil, d.id), d.value)
			},
		})
	})
}

// sign returns the value of the result of a document: its signatures.
func (j Signatures) sign(t *task, s *copies.Signer, d *format.Document) (value []byte) {
	set := s.Sign(d.Text).Own
	for _, x := range set {
		value = appendNumber(value, x, printDigits)
	}
	if len(set) < cmp.Or(j.Copies.MinFeatures, j.Copies.Method.MinFeatures()) {
		t.counters.add(unmarked, 1)
		value = []byte(noSignatures)
	}
	return value
}

// signatureRecipe returns the name of the recipe of signatures.
func signatureRecipe(o *copies.Options) string {
	data, err := json.Marshal(o.Recipe())
	if err != nil {
		panic(err) // it has numbers and words
	}
	return fmt.Sprintf("%s-%08x", o.Method, uint32(xxhash.Sum64(data)))
}

// hashOfSet returns a hash of the signatures of a result. It identifies documents with equal signatures.
func hashOfSet(value []byte) uint64 { return xxhash.Sum64(value) }

// parseSet appends the signatures of a result in ascending order. It appends nothing for noSignatures.
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
