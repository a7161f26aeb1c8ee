package main

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"strconv"

	"ndd/engine/corpus/simhash"
)

// A row is a line of a batch's answer: a document within the distance of a
// query.
type row struct {
	query       int
	fingerprint simhash.Fingerprint
	distance    int
	doc         uint64
}

// rowWriter writes a row.
type rowWriter func(row) error

// rowWriters make the writers of each format.
var rowWriters = map[string]func(w io.Writer, name func(doc uint64) (string, error)) rowWriter{
	"tsv": func(w io.Writer, name func(uint64) (string, error)) rowWriter {
		var line []byte
		return func(r row) error {
			id, err := name(r.doc)
			if err != nil {
				return err
			}
			line = strconv.AppendInt(line[:0], int64(r.query), 10)
			line = append(line, '\t')
			line = append(line, r.fingerprint.String()...)
			line = append(line, '\t')
			line = strconv.AppendInt(line, int64(r.distance), 10)
			line = append(line, '\t')
			line = append(line, plain(id)...)
			_, err = w.Write(append(line, '\n'))
			return err
		}
	},
	"json": func(w io.Writer, name func(uint64) (string, error)) rowWriter {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return func(r row) error {
			id, err := name(r.doc)
			if err != nil {
				return err
			}
			return enc.Encode(struct {
				Query       int                 `json:"query"`
				Fingerprint simhash.Fingerprint `json:"fingerprint"`
				Distance    int                 `json:"distance"`
				ID          string              `json:"id"`
			}{r.query, r.fingerprint, r.distance, id})
		}
	},
	"bin": func(w io.Writer, _ func(uint64) (string, error)) rowWriter {
		var record [32]byte
		return func(r row) error {
			for i, v := range [4]uint64{uint64(r.query), uint64(r.fingerprint), uint64(r.distance), r.doc} {
				binary.LittleEndian.PutUint64(record[8*i:], v)
			}
			_, err := w.Write(record[:])
			return err
		}
	},
}
