package dedup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
)

// A Removal says which documents of a file another program is to remove.
type Removal struct {
	Name      string // of the file of numbers
	File      string
	Documents int64 // with a text
	Removed   int64
}

// Removals writes the documents that are dropped as datatrove's MinhashDedupFilter reads them: of each
// file of the inputs, in order of their paths, the numbers of its documents, from 0, as 32-bit integers
// that ascend, little-endian. It counts what datatrove's readers pass on: documents with a text, and
// those that were too long here. create is called by one goroutine.
func (r *Result) Removals(ctx context.Context, create Create) (list []Removal, err error) {
	c := r.corpus
	if c.from.inputs == nil {
		return nil, errors.New("fingerprint files do not say which documents a file has: give the documents")
	}
	files := map[string]int{}
	for f, err := range document.Files(ctx, c.from.inputs) {
		if err == nil {
			files[f.Path] = 0
		}
	}
	for i, path := range slices.Sorted(maps.Keys(files)) {
		files[path] = i
		list = append(list, Removal{Name: fmt.Sprintf("%06d.remove", i), File: path})
	}
	numbers := make([][]byte, len(list))
	unread := maps.Clone(c.from.unread)
	dropped := r.droppedRows()
	for row, rec := range c.records.all {
		i, known := files[rec.place.File]
		if !known {
			return nil, ingest.Changed(strings.Clone(rec.place.File))
		}
		of := &list[i]
		for left := unread[of.File]; len(left) > 0 && left[0] < rec.place.Row; left = unread[of.File] {
			unread[of.File] = left[1:]
			of.Documents++
		}
		if rec.length == 0 {
			continue
		}
		if !rec.short && dropped.has(int(row)) {
			if of.Documents > math.MaxUint32 {
				return nil, fmt.Errorf("%s: more documents than a number of 32 bits has", of.File)
			}
			numbers[i] = binary.LittleEndian.AppendUint32(numbers[i], uint32(of.Documents))
			of.Removed++
		}
		of.Documents++
	}
	for i, of := range list {
		if err := create(of.Name, func(w io.Writer) error { _, err := w.Write(numbers[i]); return err }); err != nil {
			return nil, err
		}
	}
	return list, ctx.Err()
}
