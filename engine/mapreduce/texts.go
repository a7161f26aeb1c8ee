package mapreduce

import (
	"bytes"
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

// docRecords holds the records that a worker made from a document.
type docRecords struct {
	id      string
	records []keyedRecord
}

// A keyedRecord is a record without its partition, and the hash that selects the partition.
type keyedRecord struct {
	hash       uint64
	key, value []byte
}

// A write function receives a record of a document.
type write = func(hash uint64, key, value []byte)

// eachDocument lets workers make records from each document of a map's input, and writes the records in order. If the
// job has no reduce, they are results.
func (t *task) eachDocument(ctx context.Context, o format.Options,
	worker func(context.Context) (func(*format.Document, write), error)) error {
	return t.documents(ctx, o, func(c ingest.Config) (ingest.Report, error) {
		return ingest.Extract(ctx, []string{input.Stdin}, c, ingest.Steps[docRecords]{
			Worker: func(ctx context.Context) (func(int, *format.Document) (docRecords, error), error) {
				of, err := worker(ctx)
				return func(_ int, d *format.Document) (docRecords, error) {
					m := docRecords{id: d.ID}
					of(d, func(hash uint64, key, value []byte) { m.records = append(m.records, keyedRecord{hash, key, value}) })
					return m, nil
				}, err
			},
			Borrows: true,
			Emit: func(m docRecords) (err error) {
				if noID(m.id) {
					return t.bad(1, "document "+m.id, errNoID)
				}
				for _, r := range m.records {
					if t.results.parts > 0 {
						err = t.result(r.key, r.value)
					} else {
						err = t.send(t.partition(r.hash), r.key, r.value)
					}
					if err != nil {
						return err
					}
				}
				return nil
			},
		})
	})
}

// A Signatures is the job that makes signatures of texts for finding copies. It has no reduce.
//
//	in    a JSON object a line
//	out   ID	all distinct signatures, ascending, 11 digits each, or - for a document that has too few; and its
//	      site (11 digits) if it has one
type Signatures struct {
	Document format.Options
	Copies   copies.Options                // the method is one, not Auto
	SiteOf   func(*format.Document) uint64 // 0: unknown; nil: no document has one
}

// noSignatures is the field of a document with too few signatures.
const noSignatures = "-"

func (j Signatures) mapPart(ctx context.Context, t *task) error {
	m := j.Copies.Method
	if m == "" || m == copies.Auto {
		return fmt.Errorf("method %q: signatures are made by one method", m)
	}
	t.results.parts, t.results.recipe = 1, signatureRecipe(&j.Copies)
	least := cmp.Or(j.Copies.MinFeatures, m.MinFeatures())
	return t.eachDocument(ctx, j.Document, func(ctx context.Context) (func(*format.Document, write), error) {
		s, err := copies.NewSigner(ctx, j.Copies)
		return func(d *format.Document, write write) {
			set, value := s.Sign(d.Text).Own, []byte(nil)
			for _, x := range set {
				value = appendNumber(value, x, printDigits)
			}
			if len(set) < least {
				t.counters.add(unmarked, 1)
				value = []byte(noSignatures)
			}
			if j.SiteOf != nil {
				if site := j.SiteOf(d); site != 0 {
					value = appendNumber(append(value, ' '), site, printDigits)
				} else {
					t.counters.add(siteless, 1)
				}
			}
			write(0, appendEscaped(nil, d.ID), value)
		}, err
	})
}

// signatureRecipe returns the name of the recipe of signatures.
func signatureRecipe(o *copies.Options) string {
	data, err := json.Marshal(o.Recipe())
	if err != nil {
		panic(err) // it has numbers and words
	}
	return fmt.Sprintf("%s-%08x", o.Method, uint32(xxhash.Sum64(data)))
}

// setOf returns the signatures of a result, without the site.
func setOf(value []byte) []byte {
	set, _, _ := bytes.Cut(value, []byte(" "))
	return set
}

// hashOfSet returns a hash of the signatures of a result. It identifies documents with equal signatures.
func hashOfSet(value []byte) uint64 { return xxhash.Sum64(setOf(value)) }

// parseSet appends the signatures of a result in ascending order. It appends nothing for noSignatures.
func parseSet(dst []uint64, value []byte) ([]uint64, error) {
	text := setOf(value)
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
